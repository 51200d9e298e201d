# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` installs: libraries, headers, the CMake package and the pkg-config file. The tool adds
# itself.
include(CMakePackageConfigHelpers)

install(
  TARGETS pjrt pjrt_core pjrt_cpu
  EXPORT pjrtTargets
  ARCHIVE
  LIBRARY
  RUNTIME)
install(
  DIRECTORY include/pjrt
  TYPE INCLUDE
  FILES_MATCHING
  REGEX "\\.(h|inc)$")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pjrt)
install(EXPORT pjrtTargets NAMESPACE pjrt:: DESTINATION ${package_dir})
configure_package_config_file(cmake/pjrtConfig.cmake.in pjrtConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(pjrtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pjrtConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/pjrtConfigVersion.cmake
        DESTINATION ${package_dir})

# The same dependencies by the names that pkg-config knows. A static library does not carry its own, so then
# those that only our sources use are needed as well.
set(public_requires "")
foreach(library IN LISTS PJRT_PUBLIC_ABSL)
  list(APPEND public_requires absl_${library})
endforeach()
set(private_requires fmt)
foreach(library IN LISTS PJRT_PRIVATE_ABSL)
  list(APPEND private_requires absl_${library})
endforeach()
set(pc_libs "-lpjrt_cpu -lpjrt_core")
if(NOT PJRT_SHARED)
  list(APPEND public_requires ${private_requires})
  set(private_requires "")
  string(APPEND pc_libs " ${CMAKE_THREAD_LIBS_INIT}")
endif()
list(JOIN public_requires ", " pc_requires)
list(JOIN private_requires ", " pc_requires_private)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_includedir)
# The prefix is found from where the file lies, so that an installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(ABSOLUTE_PATH pc_dir BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_prefix)
file(RELATIVE_PATH pc_prefix ${pc_prefix} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/pjrt.pc.in pjrt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pjrt.pc DESTINATION ${pc_dir})
