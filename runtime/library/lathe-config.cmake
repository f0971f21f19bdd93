# lathe-config.cmake - find_package(lathe): the targets lathe::lathe, which is shared, and lathe::static. The build puts
# in what libraries that one needs.
get_filename_component(lathe_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET lathe::lathe)
  add_library(lathe::lathe SHARED IMPORTED)
  set_target_properties(lathe::lathe PROPERTIES
    IMPORTED_LOCATION "${lathe_prefix}/lib/liblathe.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${lathe_prefix}/include")
  add_library(lathe::static STATIC IMPORTED)
  set_target_properties(lathe::static PROPERTIES
    IMPORTED_LOCATION "${lathe_prefix}/lib/liblathe.a"
    INTERFACE_INCLUDE_DIRECTORIES "${lathe_prefix}/include"
    INTERFACE_LINK_LIBRARIES "LIBRARIES_OF_LATHE")
endif()
