# Everything comes from the distribution; scripts/setup installs it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)

# Debian builds SystemC for C++17. Its API check is a symbol whose name holds the standard, so units
# that are compiled as C++20 have to say which one the library was built with.
add_library(tandem_systemc INTERFACE)
target_link_libraries(tandem_systemc INTERFACE PkgConfig::SYSTEMC Threads::Threads)
target_compile_definitions(tandem_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES SC_ALLOW_DEPRECATED_IEEE_API)
foreach(directory IN LISTS SYSTEMC_INCLUDE_DIRS)
  target_include_directories(tandem_systemc SYSTEM INTERFACE ${directory})
endforeach()

if(NOT DEFINED TANDEM_SYSTEMC_LINKS)
  file(WRITE ${CMAKE_BINARY_DIR}/probe/systemc_probe.cpp
       "#include <systemc>\n#include <tlm>\nint sc_main(int, char**) { sc_core::sc_start(sc_core::SC_ZERO_TIME); return 0; }\n")
  try_compile(TANDEM_SYSTEMC_LINKS ${CMAKE_BINARY_DIR}/probe SOURCES ${CMAKE_BINARY_DIR}/probe/systemc_probe.cpp
              CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${SYSTEMC_INCLUDE_DIRS}"
              COMPILE_DEFINITIONS -DSC_CPLUSPLUS=201703L
              LINK_LIBRARIES ${SYSTEMC_LINK_LIBRARIES} Threads::Threads
              CXX_STANDARD 20 OUTPUT_VARIABLE TANDEM_PROBE_OUTPUT)
endif()
if(NOT TANDEM_SYSTEMC_LINKS)
  unset(TANDEM_SYSTEMC_LINKS CACHE)
  message(FATAL_ERROR
    "SystemC was found but does not link with C++20 and SC_CPLUSPLUS=201703L.\n"
    "This happens when SystemC was built for another C++ standard: a missing symbol like\n"
    "sc_api_version_..._cxx201703L below names the one it wants. Use the distribution's libsystemc-dev,\n"
    "or build SystemC with -DCMAKE_CXX_STANDARD=17.\n${TANDEM_PROBE_OUTPUT}")
endif()
