#include "lipschitzlr/data/image/cifar.hpp"

#include <fmt/format.h>

#include "data/fail.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kSide = 32, kPlane = kSide * kSide, kColours = 3, kImage = kColours * kPlane;
constexpr unsigned char kCoarseClasses = 20;

std::size_t label_bytes(Cifar kind) { return kind == Cifar::ten ? 1 : 2; }

void check_size(std::string_view content, const std::string& name, Cifar kind) {
  if (content.empty()) fail(name, "is empty");
  const std::size_t record = label_bytes(kind) + kImage;
  if (content.size() % record == 0) return;
  const Cifar other = kind == Cifar::ten ? Cifar::hundred : Cifar::ten;
  const bool swapped = content.size() % (label_bytes(other) + kImage) == 0;
  fail(name, fmt::format("ends at byte {}, inside record {} (a record of {} has {} bytes); {}", content.size(),
                         content.size() / record, kind == Cifar::ten ? "CIFAR-10" : "CIFAR-100", record,
                         swapped                   ? fmt::format("its size is that of a file of {}",
                                               other == Cifar::ten ? "CIFAR-10" : "CIFAR-100")
                         : content.size() < record ? "it is not a file of images"
                                                   : "it is cut short, or no file of images"));
}

void check_label(unsigned char label, std::size_t classes, const std::string& name, std::size_t record,
                 std::size_t byte) {
  if (label < classes) return;
  fail(name, fmt::format("record {} (byte {}) has the label {}, expected 0 to {}", record, byte, label, classes - 1));
}

// From one plane per colour to the three colours of a pixel side by side.
void interleave(const unsigned char* planes, std::uint8_t* pixels) {
  for (std::size_t pixel = 0; pixel < kPlane; ++pixel) {
    for (std::size_t colour = 0; colour < kColours; ++colour) {
      pixels[kColours * pixel + colour] = planes[colour * kPlane + pixel];
    }
  }
}

void append(ImageSet& set, std::string_view content, const std::string& name, Cifar kind) {
  check_size(content, name, kind);
  const std::size_t labels = label_bytes(kind), size = labels + kImage, records = content.size() / size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(content.data());
  std::size_t place = set.pixels.size();
  set.pixels.resize(place + records * kImage);
  for (std::size_t record = 0; record < records; ++record, place += kImage) {
    const std::size_t start = record * size;
    if (kind == Cifar::hundred) check_label(bytes[start], kCoarseClasses, name, record, start);
    const unsigned char label = bytes[start + labels - 1];
    check_label(label, set.classes.size(), name, record, start + labels - 1);
    set.labels.push_back(label);
    interleave(bytes + start + labels, set.pixels.data() + place);
  }
}

ImageSet empty_set(Cifar kind) {
  return {.height = kSide, .width = kSide, .channels = kColours, .classes = cifar_classes(kind)};
}

}  // namespace

ImageSet parse_cifar(std::string_view content, const std::string& name, Cifar kind) {
  ImageSet set = empty_set(kind);
  append(set, content, name, kind);
  return set;
}

ImageSet read_cifar(const std::vector<std::string>& paths, Cifar kind) {
  ImageSet set = empty_set(kind);
  for (const std::string& path : paths) append(set, read_file(path), path, kind);
  return set;
}

const std::vector<std::string>& cifar_classes(Cifar kind) {
  static const std::vector<std::string> ten = {"airplane", "automobile", "bird",  "cat",  "deer",
                                               "dog",      "frog",       "horse", "ship", "truck"};
  static const std::vector<std::string> hundred = {
      "apple",      "aquarium_fish", "baby",         "bear",       "beaver",      "bed",         "bee",
      "beetle",     "bicycle",       "bottle",       "bowl",       "boy",         "bridge",      "bus",
      "butterfly",  "camel",         "can",          "castle",     "caterpillar", "cattle",      "chair",
      "chimpanzee", "clock",         "cloud",        "cockroach",  "couch",       "crab",        "crocodile",
      "cup",        "dinosaur",      "dolphin",      "elephant",   "flatfish",    "forest",      "fox",
      "girl",       "hamster",       "house",        "kangaroo",   "keyboard",    "lamp",        "lawn_mower",
      "leopard",    "lion",          "lizard",       "lobster",    "man",         "maple_tree",  "motorcycle",
      "mountain",   "mouse",         "mushroom",     "oak_tree",   "orange",      "orchid",      "otter",
      "palm_tree",  "pear",          "pickup_truck", "pine_tree",  "plain",       "plate",       "poppy",
      "porcupine",  "possum",        "rabbit",       "raccoon",    "ray",         "road",        "rocket",
      "rose",       "sea",           "seal",         "shark",      "shrew",       "skunk",       "skyscraper",
      "snail",      "snake",         "spider",       "squirrel",   "streetcar",   "sunflower",   "sweet_pepper",
      "table",      "tank",          "telephone",    "television", "tiger",       "tractor",     "train",
      "trout",      "tulip",         "turtle",       "wardrobe",   "whale",       "willow_tree", "wolf",
      "woman",      "worm"};
  return kind == Cifar::ten ? ten : hundred;
}

}  // namespace lipschitzlr::data
