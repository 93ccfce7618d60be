# Install rules and the exported package: find_package(lipschitzlr COMPONENTS core torch), or pkg-config for core.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lipschitzlr)

# ---- the libraries and their headers
set(core_targets)
set(pc_libs)
foreach(folder base data bound rate linear)
  if(TARGET lipschitzlr_${folder})
    list(APPEND core_targets lipschitzlr_${folder})
    list(PREPEND pc_libs -llipschitzlr_${folder})  # a static library stands before those it uses
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lipschitzlr/${folder}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lipschitzlr FILES_MATCHING
            PATTERN "*.hpp"
            # What needs libcurl, libarchive or libpng serves the programs and is no part of the package.
            REGEX "(catalogue/(archive_reader|download|store)|image/(cifar_picture|image_sources|png|png_folder))\\.hpp$" EXCLUDE)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/include/lipschitzlr/core.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lipschitzlr)
install(TARGETS ${core_targets} lipschitzlr_core EXPORT lipschitzlrCore ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT lipschitzlrCore NAMESPACE lipschitzlr:: DESTINATION ${package_dir})

if(LIPSCHITZLR_TORCH)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lipschitzlr/nn ${PROJECT_SOURCE_DIR}/include/lipschitzlr/dist
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lipschitzlr FILES_MATCHING PATTERN "*.hpp")
  install(FILES ${PROJECT_SOURCE_DIR}/include/lipschitzlr/torch.hpp
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lipschitzlr)
  install(TARGETS lipschitzlr_nn lipschitzlr_launch lipschitzlr_dist lipschitzlr_torch EXPORT lipschitzlrTorch
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT lipschitzlrTorch NAMESPACE lipschitzlr:: DESTINATION ${package_dir})
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/LipschitzlrHdf5.cmake DESTINATION ${package_dir})
  install(TARGETS lipschitzlr-torch RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/lipschitzlr)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lipschitzlrConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/lipschitzlrConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lipschitzlrConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lipschitzlrConfig.cmake ${PROJECT_BINARY_DIR}/lipschitzlrConfigVersion.cmake
        DESTINATION ${package_dir})

# ---- pkg-config: paths relative to the file, so that the tree can be moved
list(JOIN pc_libs " " pc_libs)
file(RELATIVE_PATH pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/lipschitzlr.pc.in ${PROJECT_BINARY_DIR}/lipschitzlr.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lipschitzlr.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- the C interface
if(TARGET lipschitzlr_shared)
  install(TARGETS lipschitzlr_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/include/lipschitzlr/c_api.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lipschitzlr)
endif()

# ---- the command line and what belongs to it
if(TARGET lipschitzlr)
  install(TARGETS lipschitzlr RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/get-data-package DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/lipschitzlr)
endif()
function(install_if_there file)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${file})
    install(FILES ${PROJECT_SOURCE_DIR}/${file} ${ARGN})
  endif()
endfunction()
install_if_there(man/lipschitzlr.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install_if_there(completions/lipschitzlr.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
                 RENAME lipschitzlr)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
