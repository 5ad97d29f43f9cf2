# cpack: one Debian package with all components (scripts/package).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tandem)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Tandem maintainers <maintainers@tandem.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "co-design platform for TPUs: SystemC chip and Verilated MAC array")
set(CPACK_PACKAGE_DESCRIPTION "One description of a chip drives a SystemC model of a tensor processing unit
and Verilated SystemVerilog of its MAC array; one firmware driver runs
networks, int8 and float, on both, and Tandem says where they part.
The command, the library for C and SystemC with its headers, chips, firmware,
RTL and models.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/triggers)
# Linked libraries are found by dpkg-shlibdeps. By hand: what makes arrays at run time (zlib packs their waveforms), and what building on the
# library takes.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "verilator, g++, make, zlib1g-dev, libsystemc-dev, cmake, pkg-config, python3, python3-numpy")
# bf16 arrays run many times faster.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gtkwave, gdb-multiarch, python3-matplotlib")
include(CPack)
