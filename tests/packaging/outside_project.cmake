# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs tests/packaging/outside against the library. WAY is one of
#   install            installs this build to WORK/prefix, which the next two use
#   find_package       as a CMake package of that prefix
#   pkg_config         with the compiler and pkg-config alone
#   add_subdirectory   as part of the outside project's own build

set(prefix ${WORK}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(run_program)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output STREQUAL "6 9 12 15\n")
    message(FATAL_ERROR "the program printed '${output}'")
  endif()
endfunction()

function(build_with_cmake)
  run(${CMAKE_COMMAND} -S ${SOURCE}/tests/packaging/outside -B ${WORK}/${WAY} -G ${GENERATOR}
      -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${WAY} --parallel 2)
  run_program(${WORK}/${WAY}/outside)
endfunction()

if(WAY STREQUAL "install")
  file(REMOVE_RECURSE ${prefix})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

elseif(WAY STREQUAL "find_package")
  file(REMOVE_RECURSE ${WORK}/${WAY})
  build_with_cmake(-DCMAKE_PREFIX_PATH=${prefix})

elseif(WAY STREQUAL "pkg_config")
  find_program(pkg_config pkg-config)
  if(NOT pkg_config)
    message("pkg-config is not installed")
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  execute_process(COMMAND ${pkg_config} --cflags --libs pjrt OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(MAKE_DIRECTORY ${WORK}/${WAY})
  run(${COMPILER} -std=c++17 ${SOURCE}/tests/packaging/outside/main.cc -o ${WORK}/${WAY}/outside ${flags}
      -Wl,-rpath,${prefix}/${LIBDIR})
  run_program(${WORK}/${WAY}/outside)

elseif(WAY STREQUAL "add_subdirectory")
  # This builds the library a second time: one kernel level, and nothing optimised, keep that short. The folder
  # stays, so the next run builds what changed.
  build_with_cmake(-DPJRT_SOURCE=${SOURCE} -DPJRT_SHARED=${SHARED} -DPJRT_KERNEL_LEVELS=baseline
                   -DPJRT_KERNEL_OPTIMIZATION=-O0 -DPJRT_PRECOMPILE=ON -DCMAKE_UNITY_BUILD=ON
                   -DCMAKE_BUILD_TYPE=None)
endif()
