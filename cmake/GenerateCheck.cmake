# The generated files are committed; a build with stale ones would be a lie, so it stops.
find_program(TANDEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(TANDEM_PYTHON)
  execute_process(COMMAND ${TANDEM_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/generate --check
                  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE message)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "Generated files: ${message}")
  endif()
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/arch/isa.yaml ${PROJECT_SOURCE_DIR}/arch/registers.yaml ${PROJECT_SOURCE_DIR}/scripts/generate)
