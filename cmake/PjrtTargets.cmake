# SPDX-License-Identifier: Apache-2.0
#
# What our own targets have in common: language, warnings, instrumentation, include paths.

# Warnings are for those who work on the library, never for those who build it into something else.
set(PJRT_WARNING_FLAGS "")
if(PJRT_WARNINGS)
  list(APPEND PJRT_WARNING_FLAGS -Wall -Wextra -Wshadow)
endif()
if(PJRT_WERROR)
  list(APPEND PJRT_WARNING_FLAGS -Werror)
endif()

set(PJRT_INSTRUMENT_FLAGS "")
if(PJRT_SANITIZE)
  list(APPEND PJRT_INSTRUMENT_FLAGS "-fsanitize=${PJRT_SANITIZE}" -fno-omit-frame-pointer)
  if(PJRT_SANITIZE MATCHES "undefined")
    # The vptr check needs RTTI, which the library does without. Any finding ends the test.
    list(APPEND PJRT_INSTRUMENT_FLAGS -fno-sanitize=vptr -fno-sanitize-recover=all)
  endif()
  if(PJRT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc warns of the fences in Eigen's thread pool, which ThreadSanitizer does not model.
    list(APPEND PJRT_INSTRUMENT_FLAGS -Wno-tsan)
  endif()
endif()
if(PJRT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PJRT_FUZZ needs clang: libFuzzer is part of it")
  endif()
  list(APPEND PJRT_INSTRUMENT_FLAGS -fsanitize=fuzzer-no-link)
endif()
if(PJRT_COVERAGE)
  list(APPEND PJRT_INSTRUMENT_FLAGS --coverage)
endif()

# Functions begin with a cache line, so that how long one takes does not hang on what is linked before it: on a Zen 4
# the step between two builds, one of which had other functions on bytes, was up to a fourth (5.6 and 7.1 us for a
# covariance), and a tenth in products of small matrices. The library is 2 % larger.
set(PJRT_ALIGNMENT_FLAGS -falign-functions=64)

# gcc begins to look for what it can free at 128 MB, and precompiled headers alone take 100. Without that search a
# source of the library compiles in .85 of the time; the largest source takes 1.2 GB instead of 1.0.
set(PJRT_MEMORY_FLAGS "")
if(PJRT_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND PJRT_MEMORY_FLAGS --param=ggc-min-heapsize=1500000)
endif()

# pjrt_configure_target(<target>): language level, warnings and instrumentation of one target.
function(pjrt_configure_target target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE ${PJRT_WARNING_FLAGS} ${PJRT_INSTRUMENT_FLAGS} ${PJRT_MEMORY_FLAGS})
  target_link_options(${target} PRIVATE ${PJRT_INSTRUMENT_FLAGS})
endfunction()

# Headers of others that most of our sources include: parsing them is half of what compiling a source takes. Off in
# the dev preset, where a forgotten #include has to be seen and ccache does more.
set(PJRT_PRECOMPILED_HEADERS
    <algorithm> <cstdint> <functional> <memory> <optional> <string> <utility> <vector>
    <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h> <absl/functional/any_invocable.h>
    <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/string_view.h>
    <absl/types/span.h>)

# pjrt_precompile_only(<target> <header>...): precompiles the headers given for a target.
function(pjrt_precompile_only target)
  if(PJRT_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# pjrt_precompile(<target> [<header>...]): PJRT_PRECOMPILED_HEADERS, and the ones given.
function(pjrt_precompile target)
  pjrt_precompile_only(${target} ${PJRT_PRECOMPILED_HEADERS} ${ARGN})
endfunction()

# pjrt_precompile_like(<target> <other>): takes what is precompiled for a target of the same flags.
function(pjrt_precompile_like target other)
  if(PJRT_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# pjrt_unite(<target> [SOURCES <file>...]): compiles several sources of a target, all or those, at a time, which takes
# two thirds of the time, so that no two sources of a folder may call different things by one name. Off in the dev
# preset: a change compiles longer.
function(pjrt_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  if(NOT PJRT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  if(arg_SOURCES)
    get_target_property(others ${target} SOURCES)
    list(REMOVE_ITEM others ${arg_SOURCES})
    set_source_files_properties(${others} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# pjrt_add_library(<target> <alias> SOURCES <file>...): one of the installed libraries.
# Builds lib<target>, which users know as pjrt::<alias>.
function(pjrt_add_library target alias)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES")
  if(PJRT_SHARED)
    add_library(${target} SHARED ${arg_SOURCES})
  else()
    add_library(${target} STATIC ${arg_SOURCES})
  endif()
  add_library(pjrt::${alias} ALIAS ${target})
  pjrt_configure_target(${target})
  # Fused multiply-adds change results, so a compiler may not choose them; see docs/architecture.md.
  target_compile_options(${target} PRIVATE -ffp-contract=off ${PJRT_ALIGNMENT_FLAGS})
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${alias}
               POSITION_INDEPENDENT_CODE ON # a static library may end in somebody's plugin
               VERSION ${PROJECT_VERSION}
               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  pjrt_precompile(${target})
  if(PJRT_SHARED AND NOT PJRT_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# pjrt_add_executable(<target> SOURCES <file>... LINK <library>...): a program of the repository.
function(pjrt_add_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${target} ${arg_SOURCES})
  pjrt_configure_target(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
endfunction()
