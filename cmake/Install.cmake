# cmake --install: components command, library, data and documents. share/tandem and libexec/tandem are found from where the command or the
# library lies (run/paths.cpp), so an installed tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS tandem RUNTIME COMPONENT command)
install(TARGETS tandem-float-filter RUNTIME DESTINATION libexec/tandem COMPONENT command)

# Data: what chips, programs and arrays are made from, and models to begin with.
set(data share/tandem)
install(DIRECTORY arch/chips DESTINATION ${data}/arch COMPONENT data)
install(DIRECTORY rtl/ DESTINATION ${data}/rtl COMPONENT data
  FILES_MATCHING PATTERN "*.sv" PATTERN "*.f" PATTERN "*.vlt" PATTERN "*.yaml" PATTERN formal EXCLUDE PATTERN mutation EXCLUDE PATTERN coverage EXCLUDE)
install(FILES cosim/array_shim.cpp cosim/array_abi.h cosim/array_trace.h cosim/shim_context.h cosim/unit_shim.cpp cosim/unit_abi.h DESTINATION ${data}/cosim COMPONENT data)
install(DIRECTORY examples/array_c examples/array_systemc examples/array_verilog DESTINATION ${data}/examples COMPONENT data)
install(FILES $<TARGET_PROPERTY:firmware_elf,TANDEM_ELF> DESTINATION ${data}/firmware COMPONENT data)
install(DIRECTORY models/ DESTINATION ${data}/models COMPONENT data)
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.schema.json)
install(FILES ${schemas} DESTINATION ${data}/schemas COMPONENT data)

# Library.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tandem)
install(TARGETS tandem_api EXPORT tandem_targets COMPONENT library)
install(DIRECTORY api/include/ TYPE INCLUDE COMPONENT library)
install(EXPORT tandem_targets NAMESPACE tandem:: FILE tandem-targets.cmake DESTINATION ${package} COMPONENT library)
configure_package_config_file(cmake/package/tandem-config.cmake.in ${PROJECT_BINARY_DIR}/package/tandem-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tandem-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/tandem-config.cmake ${PROJECT_BINARY_DIR}/package/tandem-config-version.cmake
  cmake/TandemSystemC.cmake DESTINATION ${package} COMPONENT library)
file(RELATIVE_PATH TANDEM_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/package/tandem.pc.in ${PROJECT_BINARY_DIR}/package/tandem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tandem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

if(EXISTS ${PROJECT_SOURCE_DIR}/python/tandem)
  install(DIRECTORY python/tandem DESTINATION lib/python3/dist-packages COMPONENT library PATTERN __pycache__ EXCLUDE)
endif()

# Completion and manual pages (tools/CMakeLists.txt).
if(TARGET described)
  install(FILES ${PROJECT_BINARY_DIR}/described/completions/tandem DESTINATION share/bash-completion/completions COMPONENT documents)
  install(FILES ${PROJECT_BINARY_DIR}/described/completions/_tandem DESTINATION share/zsh/vendor-completions COMPONENT documents)
  install(FILES ${PROJECT_BINARY_DIR}/described/completions/tandem.fish DESTINATION share/fish/vendor_completions.d COMPONENT documents)
endif()
if(TANDEM_HELP2MAN)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/described/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT documents)
endif()

# The Python module, where Debian's Python looks.
install(DIRECTORY python/tandem DESTINATION lib/python3/dist-packages COMPONENT library FILES_MATCHING PATTERN "*.py")

# Documents; Debian's changelog is compressed.
configure_file(cmake/package/changelog.in ${PROJECT_BINARY_DIR}/package/changelog @ONLY)
find_program(TANDEM_GZIP gzip REQUIRED)
execute_process(COMMAND ${TANDEM_GZIP} -9nkf ${PROJECT_BINARY_DIR}/package/changelog COMMAND_ERROR_IS_FATAL ANY)
install(FILES README.md CHANGELOG.md cmake/package/copyright ${PROJECT_BINARY_DIR}/package/changelog.gz TYPE DOC COMPONENT documents)
install(FILES cmake/package/lintian-overrides DESTINATION share/lintian/overrides RENAME tandem COMPONENT documents)
if(EXISTS ${PROJECT_SOURCE_DIR}/examples)
  install(DIRECTORY examples TYPE DOC COMPONENT documents PATTERN __pycache__ EXCLUDE)
endif()
