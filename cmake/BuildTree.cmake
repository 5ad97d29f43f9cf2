# The build tree finds its data as an installed one does (run/paths.cpp): in share/tandem below a common prefix, here as links.
set(data ${PROJECT_BINARY_DIR}/share/tandem)
file(MAKE_DIRECTORY ${data} ${PROJECT_BINARY_DIR}/firmware)
foreach(folder arch benchmarks cosim examples models rtl)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${data}/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ../../firmware ${data}/firmware SYMBOLIC)
file(CREATE_LINK ${TANDEM_ARRAYS} ${data}/arrays SYMBOLIC)
