# Everything comes from the distribution; scripts/setup installs it.
# Global: who links tandem::systemc in a parent project links these.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
# Protobuf before ONNX, whose targets link it.
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED CONFIG)
find_package(CLI11 REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET GLOBAL systemc)

include(TandemSystemC)
add_library(tandem_systemc INTERFACE)
tandem_systemc_settings(tandem_systemc)

if(NOT DEFINED TANDEM_SYSTEMC_LINKS)
  file(WRITE ${PROJECT_BINARY_DIR}/probe/systemc_probe.cpp
       "#include <systemc>\n#include <tlm>\nint sc_main(int, char**) { sc_core::sc_start(sc_core::SC_ZERO_TIME); return 0; }\n")
  try_compile(TANDEM_SYSTEMC_LINKS ${PROJECT_BINARY_DIR}/probe SOURCES ${PROJECT_BINARY_DIR}/probe/systemc_probe.cpp
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
