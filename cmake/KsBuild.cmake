# SPDX-License-Identifier: Apache-2.0
#
# Build settings and the helpers every folder uses:
#
#   ks_library(NAME base DEPS fmt::fmt)   one static library ks_<name>, alias ks::<name>, from every .cc below the folder
#   ks_program(NAME kubesched DEPS ...)   the program of main.cc, and a library ks_<name>_parts of every other .cc below the folder
#   ks_test(NAME base DEPS ks::base)      one test binary ks_<name>_test from every *_test.cc below the folder
#
# Sources are globbed (decision 0012): a file in the folder is built or deleted, there is no third state.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")

find_program(KS_CCACHE ccache)
if(KS_CCACHE)
  # Without the directory in the hash, every clone of the same sources shares one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_NOHASHDIR=1
                                  CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${KS_CCACHE})
endif()

# A link takes mold a tenth of the time it takes GNU ld, and there are some 80 programs in three builds.
find_program(KS_MOLD mold)
if(KS_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Nothing but the links of this tree reads the libraries: they name the objects instead of holding a second copy of each.
set(CMAKE_CXX_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
set(CMAKE_CXX_ARCHIVE_APPEND "<CMAKE_AR> qT <TARGET> <LINK_FLAGS> <OBJECTS>")

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(simdjson CONFIG REQUIRED)
find_path(KS_PROTOZERO protozero/pbf_reader.hpp REQUIRED)  # headers alone (libprotozero-dev)
find_path(KS_HIGHWAYHASH highwayhash/sip_hash.h REQUIRED)  # the header of SipHash alone (libhighwayhash-dev)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(cpprestsdk CONFIG REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(Boost 1.74 REQUIRED)
if(KS_UNITY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# Compile options of every target of ours. -ffp-contract=off: scores are IEEE double without fused multiply-add
# (docs/spec/plugins-node.md section 1). -Wno-missing-field-initializers: designated initializers leave fields out on purpose.
# -Wno-restrict: GCC 12 warns of std::string's own assignments where it inlines them (GCC bug 105329).
add_library(ks_options INTERFACE)
target_compile_features(ks_options INTERFACE cxx_std_20)
target_include_directories(ks_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(ks_options INTERFACE _TURN_OFF_PLATFORM_STRING KS_VERSION="${PROJECT_VERSION}")
target_compile_options(ks_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                            -Wno-missing-field-initializers -ffp-contract=off
                                            -fstack-protector-strong
                                            $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# Read-only relocations, resolved at start; position-independent programs.
target_link_options(ks_options INTERFACE -Wl,-z,relro,-z,now)
if(NOT KS_SANITIZE)
  target_link_options(ks_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
# For what is shipped, not for test code, which is not optimized. -ffile-prefix-map: the folder of the sources is no part of the
# programs, so that every folder makes the same bytes (./dev release); debuggers find the sources when they start at the root.
add_library(ks_hardened INTERFACE)
if(NOT KS_SANITIZE)
  target_compile_options(ks_hardened INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
                                                                   -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.>)
endif()
if(KS_WERROR)
  target_compile_options(ks_options INTERFACE -Werror)
  if(KS_UNITY)
    # What is included counts as a header, and sees the names of the source before it: only the other builds can tell.
    target_compile_options(ks_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> -Wno-shadow)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(ks_options INTERFACE -Wthread-safety -Wthread-safety-beta)
endif()
if(KS_LIBFUZZER)
  # Coverage of the libraries under test steers libFuzzer (test/fuzz).
  target_compile_options(ks_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(KS_SANITIZE)
  # Clang (the sanitizer presets' compiler: half of GCC's time) and GCC differ in how a source learns of a sanitizer.
  target_compile_options(ks_options INTERFACE -fsanitize=${KS_SANITIZE} -fno-omit-frame-pointer)
  target_compile_definitions(ks_options INTERFACE KS_SANITIZED)
  target_link_options(ks_options INTERFACE -fsanitize=${KS_SANITIZE})
  if(KS_SANITIZE MATCHES "undefined")
    # cpprest's stream header gives one false vptr report.
    target_compile_options(ks_options INTERFACE -fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
  if(KS_SANITIZE MATCHES "thread")
    target_compile_definitions(ks_options INTERFACE KS_SANITIZED_THREAD)
  endif()
endif()

# With KS_UNITY: compiles several sources of the target at a time (tools/source_groups.py says which). Halves a whole build; an
# incremental one compiles more than has changed.
function(ks_group_sources TARGET)
  if(NOT KS_UNITY)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/source_groups.py ${sources}
                  OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  # The groups follow from what the sources define.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources} ${CMAKE_SOURCE_DIR}/tools/source_groups.py)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  string(REPLACE ";" "," groups "${groups}")
  string(REPLACE "\n" ";" groups "${groups}")
  set(number 0)
  foreach(group ${groups})
    string(REPLACE "," ";" group "${group}")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${group} PROPERTIES UNITY_GROUP ${number})
  endforeach()
endfunction()

function(ks_library)
  cmake_parse_arguments(ARG "" "NAME" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  if(sources)
    add_library(ks_${ARG_NAME} STATIC ${sources})
    target_link_libraries(ks_${ARG_NAME} PUBLIC ks_options ${ARG_DEPS} PRIVATE ks_hardened)
    target_sources(ks_${ARG_NAME} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
    set_target_properties(ks_${ARG_NAME} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    ks_group_sources(ks_${ARG_NAME})
  else()
    add_library(ks_${ARG_NAME} INTERFACE)
    target_link_libraries(ks_${ARG_NAME} INTERFACE ks_options ${ARG_DEPS})
  endif()
  add_library(ks::${ARG_NAME} ALIAS ks_${ARG_NAME})
endfunction()

# Without KS_UNIT_ONLY the program, too.
function(ks_program)
  cmake_parse_arguments(ARG "" "NAME" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/main.cc)
  add_library(ks_${ARG_NAME}_parts STATIC ${sources})
  target_include_directories(ks_${ARG_NAME}_parts PUBLIC ${CMAKE_SOURCE_DIR}/cmd)
  target_link_libraries(ks_${ARG_NAME}_parts PUBLIC ks_options ${ARG_DEPS} PRIVATE ks_hardened)
  ks_group_sources(ks_${ARG_NAME}_parts)
  if(KS_UNIT_ONLY)
    return()
  endif()
  add_executable(${ARG_NAME} main.cc)
  target_link_libraries(${ARG_NAME} PRIVATE ks_${ARG_NAME}_parts ks_hardened)
endfunction()

# LABEL defaults to unit. Unit tests run under sanitizers, which see more than an optimized build does; without KS_UNIT_TESTS only those of
# their sources are built that OPTIMIZED names, because they measure what a sanitizer changes (memory). Under the race detector only those
# that THREADS names, if it does: the others start no thread, and it has nothing to see. Tests of other labels are left out of the sanitizer
# presets. SHARDS: under sanitizers its cases run in so many processes side by side, as tests of their own: for programs that are the last
# to end.
function(ks_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;TIMEOUT;SHARDS" "DEPS;OPTIMIZED;THREADS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(KS_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  if(KS_UNIT_ONLY AND NOT ARG_LABEL STREQUAL unit)
    return()
  endif()
  if(KS_SANITIZE MATCHES "thread" AND ARG_THREADS)
    set(sources ${ARG_THREADS})
  elseif(KS_UNIT_TESTS OR NOT ARG_LABEL STREQUAL unit)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  else()
    set(sources ${ARG_OPTIMIZED})
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(ks_${ARG_NAME}_test ${sources})
  target_include_directories(ks_${ARG_NAME}_test PRIVATE ${CMAKE_SOURCE_DIR}/test)
  # Optimizing test code takes a third of its compile time and gains nothing: the libraries do the work.
  target_compile_options(ks_${ARG_NAME}_test PRIVATE -O0)
  if(KS_SANITIZE MATCHES "undefined")
    # What is under test keeps both; checking gmock's templates for undefined behavior costs a fourth of a test's compile time.
    target_compile_options(ks_${ARG_NAME}_test PRIVATE -fno-sanitize=undefined)
  endif()
  target_link_libraries(ks_${ARG_NAME}_test PRIVATE ks_options ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  ks_group_sources(ks_${ARG_NAME}_test)
  add_test(NAME ${ARG_NAME} COMMAND ks_${ARG_NAME}_test --gtest_brief=1)
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(KS_SANITIZE AND ARG_SHARDS)
    ks_shard_test(${ARG_NAME} ${ARG_SHARDS})
  endif()
endfunction()

# Splits a test into so many, NAME, NAME_1 and so on, each with a part of the cases. Their results lie beside each other.
function(ks_shard_test NAME SHARDS)
  get_test_property(${NAME} LABELS labels)
  get_test_property(${NAME} TIMEOUT timeout)
  set_property(TEST ${NAME} APPEND PROPERTY ENVIRONMENT "GTEST_TOTAL_SHARDS=${SHARDS}" "GTEST_SHARD_INDEX=0")
  set_tests_properties(${NAME} PROPERTIES COST 400)
  math(EXPR last "${SHARDS} - 1")
  foreach(shard RANGE 1 ${last})
    add_test(NAME ${NAME}_${shard} COMMAND ks_${NAME}_test --gtest_brief=1)
    set_tests_properties(${NAME}_${shard} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout} COST 400)
    set_property(TEST ${NAME}_${shard} PROPERTY ENVIRONMENT "GTEST_TOTAL_SHARDS=${SHARDS}" "GTEST_SHARD_INDEX=${shard}"
                 "GTEST_OUTPUT=json:${CMAKE_BINARY_DIR}/test-results/ks_${NAME}_${shard}_test.json")
  endforeach()
endfunction()
