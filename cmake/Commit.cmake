# Target tandem_commit: before every build, generated/jobs/commit.h says which commit it is of. The file changes with the commit only, and one
# source includes it (tools/version.cpp).
# As a script (cmake -D SOURCE=... -D HEADER=... -P): writes it.
cmake_policy(VERSION 3.25)
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_custom_target(tandem_commit
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D HEADER=${PROJECT_BINARY_DIR}/generated/jobs/commit.h -P ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/jobs/commit.h
    COMMENT "" VERBATIM)
  return()
endif()
set(commit unknown)
find_program(git git)
if(git)
  # The sources may lie in somebody else's repository, whose commit says nothing.
  execute_process(COMMAND ${git} rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE below OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE result ERROR_QUIET)
  if(result EQUAL 0 AND below STREQUAL "")
    execute_process(COMMAND ${git} describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE found
                    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_QUIET)
    if(result EQUAL 0)
      set(commit ${found})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define TANDEM_COMMIT \"@commit@\"\n" @ONLY)
