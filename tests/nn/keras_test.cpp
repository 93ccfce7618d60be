#include "lipschitzlr/nn/keras.hpp"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "nn/keras_file.hpp"
#include "nn/keras_order.hpp"

namespace lipschitzlr::nn {
namespace {

using Strings = std::vector<std::string>;

enum class Texts { fixed, variable };

struct Weight {
  std::string name;  // "conv2d_1/kernel:0"
  std::vector<hsize_t> shape;
  std::vector<double> values;
};

struct Group {
  std::string name;
  std::vector<Weight> weights;
};

struct Layout {
  std::string top = "/";
  Texts texts = Texts::fixed;
  hid_t type = H5T_IEEE_F32LE;
  std::size_t names_per_attribute = 0;  // 0: all in one
};

void write_texts(hid_t object, const std::string& name, const Strings& texts, Texts how) {
  const hsize_t count = texts.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  // An empty list is one of doubles in the files that Python writes.
  hid_t type = H5Tcopy(texts.empty() ? H5T_NATIVE_DOUBLE : H5T_C_S1);
  std::string block;
  std::vector<const char*> pointers;
  if (!texts.empty() && how == Texts::fixed) {
    std::size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, text.size());
    for (std::string text : texts) {
      text.resize(width);
      block += text;
    }
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
  } else if (!texts.empty()) {
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
  }
  const hid_t attribute = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(attribute, 0);
  if (!texts.empty()) {
    ASSERT_GE(H5Awrite(attribute, type, pointers.empty() ? static_cast<const void*>(block.data()) : pointers.data()),
              0);
  }
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

void write_list(hid_t object, const std::string& name, const Strings& texts, const Layout& layout) {
  if (layout.names_per_attribute == 0) return write_texts(object, name, texts, layout.texts);
  for (std::size_t i = 0, part = 0; i < texts.size(); i += layout.names_per_attribute, ++part) {
    const std::size_t end = std::min(texts.size(), i + layout.names_per_attribute);
    write_texts(object, name + std::to_string(part),
                {texts.begin() + static_cast<std::ptrdiff_t>(i), texts.begin() + static_cast<std::ptrdiff_t>(end)},
                layout.texts);
  }
}

void write_weight(hid_t group, const Weight& weight, hid_t type) {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t space = H5Screate_simple(static_cast<int>(weight.shape.size()), weight.shape.data(), nullptr);
  const hid_t set = H5Dcreate2(group, weight.name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(set, 0) << weight.name;
  ASSERT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, weight.values.data()), 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(links);
}

void write_keras(const std::string& path, const std::vector<Group>& groups, const Layout& layout = {}) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t top = layout.top == "/" ? H5Gopen2(file, "/", H5P_DEFAULT)
                                      : H5Gcreate2(file, layout.top.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  Strings layer_names;
  for (const Group& layer : groups) {
    layer_names.push_back(layer.name);
    const hid_t group = H5Gcreate2(top, layer.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    Strings weight_names;
    for (const Weight& weight : layer.weights) {
      weight_names.push_back(weight.name);
      write_weight(group, weight, layout.type);
    }
    write_list(group, "weight_names", weight_names, layout);
    H5Gclose(group);
  }
  write_list(top, "layer_names", layer_names, layout);
  H5Gclose(top);
  H5Fclose(file);
}

// Numbers that tell the place they came from.
Weight numbered(const std::string& name, const std::vector<hsize_t>& shape, double start) {
  const hsize_t count = std::accumulate(shape.begin(), shape.end(), hsize_t{1}, std::multiplies<>());
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), start);
  return {name, shape, values};
}

Group convolution(const std::string& name, hsize_t size, hsize_t in, hsize_t out, double start) {
  return {name, {numbered(name + "/kernel:0", {size, size, in, out}, start), numbered(name + "/bias:0", {out}, start)}};
}

Group norm(const std::string& name, hsize_t width, double start) {
  return {name,
          {numbered(name + "/gamma:0", {width}, start), numbered(name + "/beta:0", {width}, start + 10),
           numbered(name + "/moving_mean:0", {width}, start + 20),
           numbered(name + "/moving_variance:0", {width}, start + 30)}};
}

Group dense(const std::string& name, hsize_t in, hsize_t out, double start) {
  return {name, {numbered(name + "/kernel:0", {in, out}, start), numbered(name + "/bias:0", {out}, start)}};
}

constexpr double kUntouched = -77;

Layer convolution_layer(const std::string& name, std::int64_t size, std::int64_t in, std::int64_t out) {
  return {LayerKind::convolution,
          name,
          {{"weight", at::full({out, in, size, size}, kUntouched).requires_grad_()},
           {"bias", at::full({out}, kUntouched)}}};
}

Layer norm_layer(const std::string& name, std::int64_t width) {
  return {LayerKind::batch_norm,
          name,
          {{"weight", at::full({width}, kUntouched)},
           {"bias", at::full({width}, kUntouched)},
           {"running_mean", at::full({width}, kUntouched)},
           {"running_var", at::full({width}, kUntouched)}}};
}

Layer dense_layer(const std::string& name, std::int64_t in, std::int64_t out) {
  return {LayerKind::dense, name, {{"weight", at::full({out, in}, kUntouched)}, {"bias", at::full({out}, kUntouched)}}};
}

const at::Tensor& tensor(const Layer& layer, const std::string& name) {
  for (const auto& [own, value] : layer.tensors) {
    if (own == name) return value;
  }
  throw std::out_of_range(name);
}

double first(const Layer& layer, const std::string& name) { return tensor(layer, name).flatten()[0].item<double>(); }

class Keras : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string complaint(const std::vector<Layer>& layers) {
    std::string said;
    try {
      load_keras_weights(path_, layers);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_TRUE(std::string(error.what()).starts_with(path_)) << error.what();
      said = error.what();
    }
    for (const Layer& layer : layers) {
      for (const auto& [name, value] : layer.tensors) {
        EXPECT_TRUE(value.eq(kUntouched).all().item<bool>()) << layer.name << "." << name << " was written";
      }
    }
    return said;
  }

  void expect_complaint(const std::vector<Layer>& layers, const std::string& part) {
    const std::string said = complaint(layers);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }

  const std::string folder_ =
      testing::TempDir() + "keras_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = folder_ + "/weights.h5";
};

std::vector<Group> small_file() {
  return {{"input_1", {}},
          convolution("conv2d_1", 3, 2, 4, 100),
          norm("batch_normalization_1", 4, 1000),
          {"activation_1", {}},
          dense("dense_1", 4, 3, 2000)};
}

std::vector<Layer> small_network() {
  return {convolution_layer("stem.conv", 3, 2, 4), norm_layer("stem.norm", 4), dense_layer("head", 4, 3)};
}

void expect_small_network_loaded(const std::vector<Layer>& layers) {
  const at::Tensor& kernel = tensor(layers[0], "weight");
  for (std::int64_t o = 0; o < 4; ++o) {
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t y = 0; y < 3; ++y) {
        for (std::int64_t x = 0; x < 3; ++x) {
          // Keras: height, width, in, out, the last quickest.
          const double expected = 100.0 + static_cast<double>(((y * 3 + x) * 2 + i) * 4 + o);
          ASSERT_EQ(kernel[o][i][y][x].item<double>(), expected);
        }
      }
    }
  }
  EXPECT_TRUE(tensor(layers[0], "bias").equal(at::arange(100, 104).to(at::kFloat)));
  EXPECT_TRUE(tensor(layers[1], "weight").equal(at::arange(1000, 1004).to(at::kFloat)));
  EXPECT_TRUE(tensor(layers[1], "bias").equal(at::arange(1010, 1014).to(at::kFloat)));
  EXPECT_TRUE(tensor(layers[1], "running_mean").equal(at::arange(1020, 1024).to(at::kFloat)));
  EXPECT_TRUE(tensor(layers[1], "running_var").equal(at::arange(1030, 1034).to(at::kFloat)));
  EXPECT_TRUE(tensor(layers[2], "weight").equal(at::arange(2000, 2012).to(at::kFloat).reshape({4, 3}).t()));
  EXPECT_TRUE(tensor(layers[2], "bias").equal(at::arange(2000, 2003).to(at::kFloat)));
}

TEST_F(Keras, TurnsKernelsAndPutsEveryTensorInItsPlace) {
  write_keras(path_, small_file());
  const std::vector<Layer> layers = small_network();
  const KerasReport report = load_keras_weights(path_, layers);
  expect_small_network_loaded(layers);
  EXPECT_EQ(report.matched,
            (Strings{"conv2d_1 -> stem.conv", "batch_normalization_1 -> stem.norm", "dense_1 -> head"}));
  EXPECT_TRUE(report.unmatched_file.empty());
  EXPECT_TRUE(report.unmatched_network.empty());
  EXPECT_TRUE(tensor(layers[0], "weight").requires_grad());
}

TEST_F(Keras, ReadsEveryLayoutKerasWrites) {
  for (const char* top : {"/", "/model_weights"}) {
    for (const Texts texts : {Texts::fixed, Texts::variable}) {
      for (const std::size_t names_per_attribute : {0, 1, 2}) {
        for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE}) {
          write_keras(path_, small_file(), {top, texts, type, names_per_attribute});
          const std::vector<Layer> layers = small_network();
          load_keras_weights(path_, layers);
          expect_small_network_loaded(layers);
        }
      }
    }
  }
}

// One of them ends a process that reads it with HDF5 1.10.8 by SIGSEGV.
TEST(KerasFile, WhatTheFuzzerBeginsWithIsReadOrRefused) {
  int read = 0, refused = 0;
  for (const auto& file : std::filesystem::directory_iterator(LIPSCHITZLR_TEST_DIR "/../fuzz/corpus/keras")) {
    try {
      const KerasFile keras(file.path());
      for (const KerasLayer& layer : keras.layers()) {
        EXPECT_EQ(keras.read(layer.tensors).size(), layer.tensors.size());
      }
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      ++refused;
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(Keras, ReadsHalfPrecision) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  write_keras(path_, small_file(), {.type = half});
  H5Tclose(half);
  const std::vector<Layer> layers = small_network();
  load_keras_weights(path_, layers);
  EXPECT_EQ(first(layers[0], "weight"), 100);
  EXPECT_EQ(first(layers[1], "running_var"), 1030);
}

TEST_F(Keras, KeepsMemoryFormatAndPrecisionOfTheNetwork) {
  write_keras(path_, small_file());
  std::vector<Layer> layers = small_network();
  at::Tensor& kernel = layers[0].tensors[0].second;
  kernel = at::zeros({4, 2, 3, 3}, at::kDouble).contiguous(at::MemoryFormat::ChannelsLast);
  const void* memory = kernel.data_ptr();
  load_keras_weights(path_, layers);
  EXPECT_TRUE(kernel.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(kernel.scalar_type(), at::kDouble);
  EXPECT_EQ(kernel.data_ptr(), memory);
  expect_small_network_loaded(
      {{layers[0].kind, "", {{"weight", kernel.to(at::kFloat)}, layers[0].tensors[1]}}, layers[1], layers[2]});
}

// In the file the shortcut (conv2d_4, of the same shape) stands before the third convolution, as Keras sorts by depth.
TEST_F(Keras, TakesTheOrderOfCreationFromTheNumbers) {
  for (const bool later_model : {false, true}) {
    const auto name = [&](int i) { return "conv2d_" + std::to_string(later_model ? i + 95 : i); };
    write_keras(path_,
                {convolution(name(1), 1, 2, 2, 1), convolution(name(2), 3, 2, 2, 2), convolution(name(4), 1, 2, 8, 4),
                 convolution(name(3), 1, 2, 8, 3), convolution(name(10), 1, 8, 2, 10)});
    const std::vector<Layer> layers = {convolution_layer("a", 1, 2, 2), convolution_layer("b", 3, 2, 2),
                                       convolution_layer("c", 1, 2, 8), convolution_layer("d", 1, 2, 8),
                                       convolution_layer("e", 1, 8, 2)};
    load_keras_weights(path_, layers);
    for (const auto& [i, start] :
         std::vector<std::pair<std::size_t, double>>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 10}}) {
      EXPECT_EQ(first(layers[i], "weight"), start) << i;
    }
  }
}

TEST_F(Keras, FallsBackOnTheFilesOrderWhenTheNumbersDoNotFit) {
  write_keras(path_, {convolution("conv2d_2", 3, 2, 4, 2), convolution("conv2d_1", 3, 4, 4, 1)});
  const std::vector<Layer> layers = {convolution_layer("a", 3, 2, 4), convolution_layer("b", 3, 4, 4)};
  const KerasReport report = load_keras_weights(path_, layers);
  EXPECT_EQ(report.matched, (Strings{"conv2d_2 -> a", "conv2d_1 -> b"}));
  EXPECT_EQ(first(layers[0], "weight"), 2);
}

TEST(KerasOrder, SortsByNumberWhatHasTheSameStem) {
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(creation_order({}), Order{});
  EXPECT_EQ(creation_order({"conv2d_10", "conv2d_9", "conv2d"}), (Order{2, 1, 0}));
  EXPECT_EQ(creation_order({"conv2d_10", "conv2d_9", "conv2d_11"}), (Order{1, 0, 2}));
  EXPECT_EQ(creation_order({"conv10", "conv9"}), (Order{1, 0}));
  EXPECT_EQ(creation_order({"norm_v1_2", "norm_v1_1", "norm_v1"}), (Order{2, 1, 0}));
  EXPECT_EQ(creation_order({"tail", "conv2d_2", "stem", "conv2d_1"}), (Order{0, 3, 2, 1}));
  EXPECT_EQ(creation_order({"block_b_conv", "block_a_conv"}), (Order{0, 1}));
  EXPECT_EQ(creation_order({"x_99999999999999999999999", "x_007", "7", "_"}), (Order{1, 0, 2, 3}));
}

TEST_F(Keras, KnowsTheNamesOfTensorFlow) {
  write_keras(path_, {convolution("conv2d", 3, 2, 4, 1), norm("batch_normalization_v1_1", 4, 300),
                      norm("batch_normalization_v1", 4, 200), convolution("conv2d_1", 3, 2, 4, 2)});
  const std::vector<Layer> layers = {convolution_layer("a", 3, 2, 4), norm_layer("an", 4),
                                     convolution_layer("b", 3, 2, 4), norm_layer("bn", 4)};
  load_keras_weights(path_, layers);
  EXPECT_EQ(first(layers[0], "weight"), 1);
  EXPECT_EQ(first(layers[2], "weight"), 2);
  EXPECT_EQ(first(layers[1], "weight"), 200);
  EXPECT_EQ(first(layers[3], "weight"), 300);
}

// multi_gpu_model and models used as layers put all weights into one group.
TEST_F(Keras, OpensAModelInsideAModel) {
  std::vector<Weight> all;
  for (const Group& group : small_file()) all.insert(all.end(), group.weights.begin(), group.weights.end());
  write_keras(path_, {{"input_1", {}}, {"model_1", all}});
  const std::vector<Layer> layers = small_network();
  const KerasReport report = load_keras_weights(path_, layers);
  expect_small_network_loaded(layers);
  EXPECT_EQ(report.matched.front(), "conv2d_1 -> stem.conv");
}

TEST_F(Keras, FillsInWhatABatchNormWithoutScaleOrShiftMeans) {
  std::vector<Group> file = small_file();
  file[2].weights.erase(file[2].weights.begin(), file[2].weights.begin() + 2);
  file[1].weights.pop_back();
  write_keras(path_, file);
  const std::vector<Layer> layers = small_network();
  const KerasReport report = load_keras_weights(path_, layers);
  EXPECT_TRUE(tensor(layers[1], "weight").eq(1).all().item<bool>());
  EXPECT_TRUE(tensor(layers[1], "bias").eq(0).all().item<bool>());
  EXPECT_TRUE(tensor(layers[0], "bias").eq(0).all().item<bool>());
  ASSERT_EQ(report.unmatched_network.size(), 3U);
  EXPECT_TRUE(report.unmatched_network[0].starts_with("stem.conv.bias: set to 0")) << report.unmatched_network[0];
  EXPECT_TRUE(report.unmatched_network[1].starts_with("stem.norm.weight: set to 1")) << report.unmatched_network[1];
}

TEST_F(Keras, LeavesOutABiasOnlyWhenItIsZero) {
  std::vector<Group> file = small_file();
  write_keras(path_, file);
  std::vector<Layer> layers = small_network();
  layers[0].tensors.pop_back();
  layers[1].tensors[0].second = at::Tensor();
  expect_complaint({layers[0], small_network()[1], layers[2]}, "conv2d_1/bias is not 0 throughout");
  for (double& value : file[1].weights[1].values) value = 0;
  for (double& value : file[2].weights[0].values) value = 1;
  write_keras(path_, file);
  const KerasReport report = load_keras_weights(path_, layers);
  ASSERT_EQ(report.unmatched_file.size(), 2U);
  EXPECT_TRUE(report.unmatched_file[0].starts_with("conv2d_1/bias: 0 throughout")) << report.unmatched_file[0];
  EXPECT_TRUE(report.unmatched_file[1].starts_with("batch_normalization_1/gamma: 1 throughout"));
}

TEST_F(Keras, TellsTheFirstLayerThatDoesNotFitAndTheCounts) {
  write_keras(path_, small_file());
  std::vector<Layer> layers = small_network();
  layers[0] = convolution_layer("stem.conv", 3, 2, 5);
  expect_complaint(layers,
                   "conv2d_1/kernel is [3, 3, 2, 4], which makes [4, 2, 3, 3] here, and stem.conv.weight is "
                   "[5, 2, 3, 3]; the file has 1 convolution, 1 batch norm and 1 dense layer, the network 1 "
                   "convolution, 1 batch norm and 1 dense layer");
  layers = small_network();
  layers[2] = dense_layer("head", 4, 100);
  expect_complaint(layers, "dense_1/kernel is [4, 3], which makes [3, 4] here, and head.weight is [100, 4]");
  layers = small_network();
  layers[1] = norm_layer("stem.norm", 8);
  expect_complaint(layers, "batch_normalization_1/moving_mean is [4] and stem.norm.running_mean is [8]");
  layers = small_network();
  layers.push_back(convolution_layer("more", 3, 4, 4));
  expect_complaint(layers, "nothing is there for more; the file has 1 convolution");
  layers = small_network();
  layers.erase(layers.begin() + 1);
  expect_complaint(layers, "batch_normalization_1 has no place in it");
}

TEST_F(Keras, RefusesLayersOfOtherKinds) {
  std::vector<Group> file = small_file();
  file.push_back({"p_re_lu_1", {numbered("p_re_lu_1/alpha:0", {4}, 0)}});
  write_keras(path_, file);
  expect_complaint(small_network(), "p_re_lu_1 (alpha [4]) is neither a convolution");
  // Without moving averages it is another normalization.
  file.back() = {"layer_norm", {numbered("layer_norm/gamma:0", {4}, 0), numbered("layer_norm/beta:0", {4}, 0)}};
  write_keras(path_, file);
  expect_complaint(small_network(), "layer_norm (gamma [4], beta [4]) is neither");
}

TEST_F(Keras, TellsFilesThatAreNotOfKeras) {
  expect_complaint(small_network(), "No such file");
  std::ofstream(path_).close();
  expect_complaint(small_network(), "it is empty");
  write_file_atomically(path_, "not HDF5 at all, but long enough to be looked at\n");
  expect_complaint(small_network(), "not an HDF5 file");
  H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  expect_complaint(small_network(), "there is no list layer_names");
  write_keras(path_, small_file());
  const std::string whole = read_file(path_);
  for (std::size_t size = 1; size < whole.size(); size += 211) {
    write_file_atomically(path_, whole.substr(0, size));
    EXPECT_NE(complaint(small_network()), "") << size;
  }
}

TEST_F(Keras, TellsWhatIsListedAndMissing) {
  write_keras(path_, small_file());
  hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "conv2d_1/conv2d_1/kernel:0", H5P_DEFAULT);
  H5Fclose(file);
  expect_complaint(small_network(), "the tensor /conv2d_1/conv2d_1/kernel:0 is listed but not there");
  file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "conv2d_1", H5P_DEFAULT);
  H5Fclose(file);
  expect_complaint(small_network(), "the layer conv2d_1 is listed but not there");
}

// A stranger's file must not copy another file of the user into the weights.
TEST_F(Keras, RefusesWhatIsInOtherFiles) {
  const std::string other = path_ + ".other", kernel = "conv2d_1/conv2d_1/kernel:0";
  write_keras(other, small_file());
  const hid_t source = H5Fopen(other.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(source, kernel.c_str(), H5P_DEFAULT), space = H5Dget_space(set), type = H5Dget_type(set);
  const auto replaced = [&](const std::string& place, auto make) {
    write_keras(path_, small_file());
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, place.c_str(), H5P_DEFAULT);
    make(file);
    H5Fclose(file);
    return complaint(small_network());
  };
  const auto linked = [&](const std::string& place) {
    return replaced(place, [&](hid_t file) {
      ASSERT_GE(H5Lcreate_external(other.c_str(), ("/" + place).c_str(), file, place.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                0);
    });
  };
  const auto stored = [&](auto plan) {
    return replaced(kernel, [&](hid_t file) {
      const hid_t storage = H5Pcreate(H5P_DATASET_CREATE);
      plan(storage);
      const hid_t made = H5Dcreate2(file, kernel.c_str(), type, space, H5P_DEFAULT, storage, H5P_DEFAULT);
      ASSERT_GE(made, 0);
      H5Dclose(made);
      H5Pclose(storage);
    });
  };
  EXPECT_NE(linked(kernel).find("is listed but not there, or in another file"), std::string::npos);
  EXPECT_NE(linked("conv2d_1").find("is listed but not there, or in another file"), std::string::npos);
  const std::string external = stored([&](hid_t plan) { H5Pset_external(plan, other.c_str(), 0, H5F_UNLIMITED); });
  EXPECT_NE(external.find("are in another file"), std::string::npos) << external;
  const std::string mapped =
      stored([&](hid_t plan) { H5Pset_virtual(plan, space, other.c_str(), ("/" + kernel).c_str(), space); });
  EXPECT_NE(mapped.find("are in another file"), std::string::npos) << mapped;
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(source);
  std::filesystem::remove(other);
}

TEST_F(Keras, LeavesOutCountersAndSeeds) {
  write_keras(path_, small_file());
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "activation_1", H5P_DEFAULT);
  write_weight(group, numbered("dropout/seed_generator_state", {2}, 1), H5T_STD_I64LE);
  H5Adelete(group, "weight_names");
  write_texts(group, "weight_names", {"dropout/seed_generator_state"}, Texts::fixed);
  H5Gclose(group);
  H5Fclose(file);
  const std::vector<Layer> layers = small_network();
  const KerasReport report = load_keras_weights(path_, layers);
  expect_small_network_loaded(layers);
  ASSERT_EQ(report.unmatched_file.size(), 1U);
  EXPECT_EQ(report.unmatched_file[0], "activation_1: seed_generator_state [2], no weights");
}

}  // namespace
}  // namespace lipschitzlr::nn
