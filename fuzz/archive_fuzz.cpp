// Any bytes as an archive: refused with an Error, or every member that was asked for.

#include <cstdint>
#include <cstdlib>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/archive_reader.hpp"
#include "scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  static const Scratch scratch;
  const std::string path = scratch.write("archive", {reinterpret_cast<const char*>(bytes), size});
  try {
    if (data::read_members(path, {"a", "folder/b"}).size() != 2) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
