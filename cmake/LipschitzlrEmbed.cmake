# lipschitzlr_embed(TARGET NAME files...) puts files into a target's read-only memory, byte for byte, by the assembler's
# .incbin: no compile time, no start-up time, pages are read when touched. The target's sources then write
#   #include "embedded/NAME.hpp"
#   for (const lipschitzlr::embedded::File& file : lipschitzlr::embedded::NAME()) use(file.name, file.content);
# where name is the file's name without its folder, and the order is that of the call.
function(lipschitzlr_embed target name)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_embed)
  set(blocks "")
  set(rows "")
  set(paths "")
  set(number 0)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE path)
    if(NOT EXISTS ${path})
      message(FATAL_ERROR "lipschitzlr_embed: there is no file ${path}")
    endif()
    cmake_path(GET path FILENAME base)
    set(symbol lipschitzlr_embedded_${name}_${number})
    string(APPEND blocks "EMBED(${symbol}, \"${path}\")\n")
    string(APPEND rows "      {\"${base}\", content(${symbol}_begin, ${symbol}_end)},\n")
    list(APPEND paths ${path})
    math(EXPR number "${number} + 1")
  endforeach()
  file(
    CONFIGURE
    OUTPUT ${folder}/embedded/${name}.hpp
    CONTENT
      [[#pragma once
#include <span>
#include <string_view>

namespace lipschitzlr::embedded {

#ifndef LIPSCHITZLR_EMBEDDED_FILE
#define LIPSCHITZLR_EMBEDDED_FILE
struct File {
  std::string_view name, content;
};
#endif

std::span<const File> @name@();

}  // namespace lipschitzlr::embedded
]]
    @ONLY)
  file(
    CONFIGURE
    OUTPUT ${folder}/${name}.cpp
    CONTENT
      [[#include "embedded/@name@.hpp"

#ifdef __APPLE__
#define SECTION ".const_data\n"
#define PREFIX "_"
#define RESTORE ".text\n"
#else
#define SECTION ".pushsection .rodata\n"
#define PREFIX ""
#define RESTORE ".popsection\n"
#endif
// The byte after the end is zero, so that a reader of C strings is safe too.
#define EMBED(symbol, path)                                                                                  \
  __asm__(SECTION ".global " PREFIX #symbol "_begin\n.global " PREFIX #symbol "_end\n.balign 16\n" PREFIX   \
          #symbol "_begin:\n.incbin \"" path "\"\n" PREFIX #symbol "_end:\n.byte 0\n" RESTORE);              \
  extern "C" const char symbol##_begin[];                                                                    \
  extern "C" const char symbol##_end[];

@blocks@
namespace lipschitzlr::embedded {

std::span<const File> @name@() {
  const auto content = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  static const File files[] = {
@rows@  };
  return files;
}

}  // namespace lipschitzlr::embedded
]]
    @ONLY)
  set_source_files_properties(${folder}/${name}.cpp PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE ${folder}/${name}.cpp)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
