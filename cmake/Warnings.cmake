# Every target of the project links this: language level and warnings.
add_library(tandem_warnings INTERFACE)
target_compile_features(tandem_warnings INTERFACE cxx_std_20)
target_compile_options(tandem_warnings INTERFACE -Wall -Wextra -Werror)
target_include_directories(tandem_warnings INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
set(CMAKE_CXX_EXTENSIONS OFF)
