# What compiles against SystemC: its library, and the language level that it was built with. Shared by the build and the installed package.
# tandem_systemc_settings(TARGET): TARGET is an interface library.
function(tandem_systemc_settings target)
  # Debian builds SystemC for C++17. Its API check is a symbol whose name holds the standard, so units
  # that are compiled as C++20 have to say which one the library was built with.
  target_compile_definitions(${target} INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES SC_ALLOW_DEPRECATED_IEEE_API)
  target_link_libraries(${target} INTERFACE PkgConfig::SYSTEMC Threads::Threads)
  target_include_directories(${target} SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIRS})
endfunction()
