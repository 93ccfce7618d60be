// Any bytes as a file of CIFAR-10 or CIFAR-100 (by the first byte): refused with an Error, or a set that keeps every
// byte.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/cifar.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  if (size == 0) return 0;
  const data::Cifar kind = (bytes[0] & 1) != 0 ? data::Cifar::hundred : data::Cifar::ten;
  const std::string_view content(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    const data::ImageSet set = data::parse_cifar(content, "fuzz", kind);
    const std::size_t images = set.labels.size(), labels = kind == data::Cifar::ten ? 1 : 2;
    if (images == 0 || set.pixels.size() + labels * images != content.size()) std::abort();
    for (std::int32_t label : set.labels) set.classes.at(static_cast<std::size_t>(label));
  } catch (const Error&) {
  }
  return 0;
}
