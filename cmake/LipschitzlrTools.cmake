# What makes the build quicker when it is there, and is not missed when it is not: ccache and the linker mold.

find_program(LIPSCHITZLR_CCACHE ccache)
if(LIPSCHITZLR_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LIPSCHITZLR_CCACHE})
endif()

find_program(LIPSCHITZLR_MOLD mold)
if(LIPSCHITZLR_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
