# Where Verilated arrays are kept: in the user's cache, which clones and build types share (an array's name holds a hash of all that
# it was made from); in the build tree where that is not the user's alone.
if(NOT DEFINED TANDEM_ARRAYS)
  set(directory "$ENV{TANDEM_ARRAY_CACHE}")
  if(NOT directory)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/cache_dir arrays RESULT_VARIABLE result
                    OUTPUT_VARIABLE directory OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_VARIABLE message)
    if(NOT result EQUAL 0)
      message(STATUS "Verilated arrays stay in the build tree: ${message}")
      set(directory ${PROJECT_BINARY_DIR}/arrays)
    endif()
  endif()
  set(TANDEM_ARRAYS ${directory} CACHE PATH "Verilated arrays")
  if(NOT EXISTS ${TANDEM_ARRAYS})
    file(MAKE_DIRECTORY ${TANDEM_ARRAYS})
    file(CHMOD ${TANDEM_ARRAYS} DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endif()
