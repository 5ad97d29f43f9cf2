# Compiles go through ccache where it is installed. Paths below the source tree count as relative ones, so
# that a fresh clone at another place finds what an earlier one compiled.
# No precompiled headers: with GCC 12, <gtest/gtest.h> saves 0.6 to 1 s of 3 to 15 s per test file, <systemc> as much of 3 to 8, CLI11 and
# nlohmann-json 1 to 2 of 9 to 12 (most of it is code generation), a header costs 3 to 8 s per set of flags; and a hit in ccache takes 0.09 s instead
# of 0.01, for the header's 84 MB are hashed. GCC also gives false warnings then (GCC bug 105651).
option(TANDEM_CCACHE "compile through ccache, where it is installed" ON)
if(TANDEM_CCACHE)
  find_program(TANDEM_CCACHE_PROGRAM ccache)
  if(TANDEM_CCACHE_PROGRAM)
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${TANDEM_CCACHE_PROGRAM})
    foreach(language C CXX)
      if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
      endif()
    endforeach()
  endif()
endif()
