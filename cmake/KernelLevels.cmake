# SPDX-License-Identifier: Apache-2.0
#
# Kernels are compiled once per instruction-set level and chosen at run time, so that a binary is fast
# on each machine without flags and runs on all of them.
#
# A kernel source knows its level by three macros:
#   PJRT_KERNEL_LEVEL    the level as an identifier: kernels live in pjrt::cpu::PJRT_KERNEL_LEVEL
#   PJRT_LEVEL_<LEVEL>   1, for code that only one level has
#   Eigen                Eigen_<level>: each level has a copy of Eigen's inline code to itself
#
# The linker keeps one copy of an inline function of that name whatever its instructions, so a level must
# not define any that another level or the rest of the program may also define: nothing inline from
# outside of the two namespaces, the standard library included. tests/packaging/kernel_symbols.sh checks.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(levels baseline avx2 avx512)
  set(PJRT_KERNEL_FLAGS_baseline "")
  set(PJRT_KERNEL_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt)
  set(PJRT_KERNEL_FLAGS_avx512
      ${PJRT_KERNEL_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd
      -mprefer-vector-width=512)
  # gcc's own header leaves the lanes that a full mask does not ask for undefined, and gcc 12 warns. Not by a pragma:
  # precompiled headers lose it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    list(APPEND PJRT_KERNEL_FLAGS_avx512 -Wno-maybe-uninitialized)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(levels neon)
  set(PJRT_KERNEL_FLAGS_neon "")
else()
  set(levels baseline)
  set(PJRT_KERNEL_FLAGS_baseline "")
endif()
set(PJRT_KERNEL_LEVELS ${levels} CACHE STRING "Instruction-set levels to compile kernels for, the lowest first")
set(PJRT_KERNEL_OPTIMIZATION -O3 CACHE STRING "How kernels are optimised, whatever the build type")
mark_as_advanced(PJRT_KERNEL_OPTIMIZATION)

# pjrt_add_kernel_levels(<target> SOURCES <file>...): compiles the sources for each level and adds the
# objects to the library <target>. Other sources of the target see PJRT_HAVE_LEVEL_<LEVEL>=1 for each level.
# Products of real matrices, convolutions, Fourier transforms and linear algebra may fuse multiplications with
# additions; nothing else may, so that a fused loop has the bits of its ops run one at a time.
function(pjrt_add_kernel_levels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "/(gemm_real|linalg_|conv_|fft_)[^/]*$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
    elseif(source MATCHES "/block_(pieces_f64|complex_(atan2|log|power|roots|tanh)_c128)[^/]*$" AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # Elsewhere it gains nothing; erfc of f64 takes 0.74 ns an element instead of 0.80, of c128 the logistic function
      # 1.33 instead of 1.46 and, on another machine, a power 3.7 instead of 4.1.
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-fschedule-insns;-fsched-pressure")
    endif()
  endforeach()
  foreach(level IN LISTS PJRT_KERNEL_LEVELS)
    string(TOUPPER ${level} upper)
    target_compile_definitions(${target} PRIVATE PJRT_HAVE_LEVEL_${upper}=1)
    if(NOT arg_SOURCES)
      continue()
    endif()
    set(objects pjrt_kernels_${level})
    add_library(${objects} OBJECT ${arg_SOURCES})
    set_target_properties(${objects} PROPERTIES UNITY_BUILD OFF) # each has names and flags to itself
    pjrt_configure_target(${objects})
    target_compile_definitions(
      ${objects} PRIVATE PJRT_KERNEL_LEVEL=${level} PJRT_LEVEL_${upper}=1 Eigen=Eigen_${level}
                         NDEBUG EIGEN_NO_DEBUG)
    # Optimised in each build type: a kernel at -O0 is a hundred times slower and tests would crawl.
    target_compile_options(
      ${objects}
      PRIVATE ${PJRT_KERNEL_OPTIMIZATION} ${PJRT_ALIGNMENT_FLAGS} -falign-loops=32 -fno-math-errno -fno-trapping-math
              -ffp-contract=off -fno-exceptions -fno-rtti -U_GLIBCXX_ASSERTIONS ${PJRT_KERNEL_FLAGS_${level}})
    set_target_properties(
      ${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                            VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${objects} PRIVATE Eigen3::Eigen)
    # The compiler's header of vector instructions is all that takes long to parse: 0.9 s of CPU time for each source.
    pjrt_precompile_only(
      ${objects} <cstdint> <type_traits> <utility> ${PROJECT_SOURCE_DIR}/src/cpu_device/kernels/intrinsics-inl.h)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
