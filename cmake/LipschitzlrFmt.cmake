# lipschitzlr_fmt: the library fmt for our own sources, compiled once into base/ (src/base/fmt.cpp) instead of header-only
# into every object, which would take most of the compile time. Its symbols stand in a namespace of their own, so that
# they never meet those of another fmt in a user's program. Other versions than 9 are used header-only.

find_package(fmt REQUIRED)
add_library(lipschitzlr_fmt INTERFACE)
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  set(LIPSCHITZLR_FMT_SOURCE fmt.cpp)
  target_include_directories(lipschitzlr_fmt SYSTEM
                             INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(
    lipschitzlr_fmt INTERFACE "FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace lipschitzlr {" "FMT_END_NAMESPACE=}}")
else()
  target_link_libraries(lipschitzlr_fmt INTERFACE fmt::fmt-header-only)
endif()
