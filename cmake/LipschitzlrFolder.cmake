# One folder of src/ is one library: lipschitzlr_folder(bound SOURCES norms.cpp ... USES base) makes the target
# lipschitzlr_bound, known to others as lipschitzlr::bound. A folder links only what USES names. LIGHT: nothing in it takes
# long, so that -O3 would only take the compiler's time, a quarter of it.
# lipschitzlr_test(bound SOURCES norms_test.cpp ...) makes one test program of a folder's tests.

add_library(lipschitzlr_settings INTERFACE)
target_compile_features(lipschitzlr_settings INTERFACE cxx_std_20)
target_compile_options(lipschitzlr_settings INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor
                                                      -Woverloaded-virtual -Wimplicit-fallthrough)
if(NOT LIPSCHITZLR_UNITY)
  # Of sources that are compiled together, it would warn of names that stand in another one.
  target_compile_options(lipschitzlr_settings INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # To g++ they are headers, where a type without a name for the linker would be a mistake.
  target_compile_options(lipschitzlr_settings INTERFACE -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlaps and overflows that are not there in "text" + string; precompiled headers bring more of them to
  # light.
  target_compile_options(lipschitzlr_settings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                        -Wno-stringop-overread)
endif()
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(lipschitzlr_settings INTERFACE -Werror)
endif()
if(LIPSCHITZLR_SANITIZE)
  # A null pointer ends the program without a check of its own too; alignment, a fifth of the compiler's time, is checked
  # where bytes of files become numbers, by the fuzzers.
  target_compile_options(lipschitzlr_settings INTERFACE -fsanitize=${LIPSCHITZLR_SANITIZE} -fno-sanitize=null,alignment
                                                        -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(lipschitzlr_settings INTERFACE -fsanitize=${LIPSCHITZLR_SANITIZE})
endif()

# What is tested has all checks. In the tests themselves those of undefined behaviour take a tenth of the compiler's time,
# and AddressSanitizer finds what matters there. Linked last, because the last option counts.
add_library(lipschitzlr_test_settings INTERFACE)
if(LIPSCHITZLR_SANITIZE)
  target_compile_options(lipschitzlr_test_settings INTERFACE -fno-sanitize=undefined)
endif()

# Nearly every source includes Eigen, fmt, nlohmann-json and the same dozen standard headers, which cost more than the
# source itself: they are precompiled once, in base/, for all folders with the same flags (PRECOMPILED says otherwise:
# "own" headers of its own target, "none").
set(LIPSCHITZLR_COMMON_HEADERS <algorithm> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <sstream>
                               <string> <vector> <Eigen/Core> <Eigen/SparseCore> <fmt/format.h> <fmt/ranges.h>
                               ${PROJECT_SOURCE_DIR}/src/base/json.hpp)

function(lipschitzlr_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "LIGHT" "PRECOMPILED" "SOURCES;USES;LINKS")
  set(target lipschitzlr_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(lipschitzlr::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  foreach(used ${ARG_USES})
    target_link_libraries(${target} PUBLIC lipschitzlr_${used})
  endforeach()
  # fmt and nlohmann-json stay inside our sources: a user of the library needs neither.
  target_link_libraries(${target} PUBLIC Eigen3::Eigen ${ARG_LINKS}
                        PRIVATE $<BUILD_INTERFACE:lipschitzlr_settings> $<BUILD_INTERFACE:lipschitzlr_fmt>
                                $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  if(ARG_LIGHT)
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(LIPSCHITZLR_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  if(ARG_PRECOMPILED STREQUAL own OR name STREQUAL base)
    target_precompile_headers(${target} PRIVATE ${LIPSCHITZLR_COMMON_HEADERS})
  elseif(NOT ARG_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM lipschitzlr_base)
  endif()
endfunction()

# Kernels are one source compiled once per instruction set; which one runs is decided at run time. Sets kernels to the
# sources of the folder. (-Wno-psabi: vectors wider than the processor's never leave such a source, so their calling
# convention is no matter.)
macro(lipschitzlr_kernels folder)
  set(kernels ${folder}/base.cpp ${folder}/select.cpp)
  set_source_files_properties(${folder}/base.cpp PROPERTIES COMPILE_OPTIONS "-Wno-psabi")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND kernels ${folder}/avx2.cpp ${folder}/avx512.cpp)
    set_source_files_properties(${folder}/avx2.cpp PROPERTIES COMPILE_OPTIONS "-Wno-psabi;-mavx2;-mfma")
    set_source_files_properties(
      ${folder}/avx512.cpp
      PROPERTIES COMPILE_OPTIONS
                 "-Wno-psabi;-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mprefer-vector-width=512")
  endif()
  set_source_files_properties(${kernels} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endmacro()

function(lipschitzlr_test name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "OWN_FLAGS" "" "SOURCES;LINKS")
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE lipschitzlr_${name} ${ARG_LINKS} lipschitzlr_settings lipschitzlr_fmt
                                             nlohmann_json::nlohmann_json GTest::gtest_main lipschitzlr_test_settings)
  target_compile_definitions(${name}_test PRIVATE LIPSCHITZLR_TEST_DIR="${PROJECT_SOURCE_DIR}/tests")
  if(NOT ARG_OWN_FLAGS)
    # What takes long is in the libraries: for the tests themselves -O3 would only take the compiler's time.
    target_compile_options(${name}_test PRIVATE -O1)
  endif()
  if(LIPSCHITZLR_UNITY)
    set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
  if(name STREQUAL base)
    target_precompile_headers(base_test PRIVATE ${LIPSCHITZLR_COMMON_HEADERS} <gtest/gtest.h>)
  elseif(NOT ARG_OWN_FLAGS)
    target_precompile_headers(${name}_test REUSE_FROM base_test)
  endif()
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
