# Every target of the project links this: language level and warnings.
add_library(tandem_warnings INTERFACE)
target_compile_features(tandem_warnings INTERFACE cxx_std_20)
target_compile_options(tandem_warnings INTERFACE -Wall -Wextra $<$<BOOL:${TANDEM_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports overlapping copies inside std::string's operator+ (GCC bug 105651).
  target_compile_options(tandem_warnings INTERFACE -Wno-restrict)
endif()
# Numerics are defined operation by operation: no fused multiply-add may be formed from a*b+c.
target_compile_options(tandem_warnings INTERFACE -ffp-contract=off)
target_include_directories(tandem_warnings INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
set(CMAKE_CXX_EXTENSIONS OFF)
