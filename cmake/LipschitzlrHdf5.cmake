# lipschitzlr_hdf5: the C library of HDF5, as an imported target. CMake's own FindHDF5 insists on a C compiler, which
# neither this project nor those that use it need. Sets LIPSCHITZLR_HDF5_FOUND.

find_path(LIPSCHITZLR_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(LIPSCHITZLR_HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(LIPSCHITZLR_HDF5_INCLUDE_DIR LIPSCHITZLR_HDF5_LIBRARY)
set(LIPSCHITZLR_HDF5_FOUND FALSE)
if(LIPSCHITZLR_HDF5_INCLUDE_DIR AND LIPSCHITZLR_HDF5_LIBRARY)
  set(LIPSCHITZLR_HDF5_FOUND TRUE)
  if(NOT TARGET lipschitzlr_hdf5)
    add_library(lipschitzlr_hdf5 UNKNOWN IMPORTED GLOBAL)
    set_target_properties(lipschitzlr_hdf5 PROPERTIES IMPORTED_LOCATION ${LIPSCHITZLR_HDF5_LIBRARY}
                                                      INTERFACE_INCLUDE_DIRECTORIES ${LIPSCHITZLR_HDF5_INCLUDE_DIR})
  endif()
endif()
