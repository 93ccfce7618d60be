#include "lipschitzlr/nn/safetensors.hpp"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::nn {
namespace {

class Safetensors : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The sentence with which content is refused; empty when it loads.
  std::string complaint(const std::string& content) {
    write_file_atomically(path_, content);
    try {
      load_safetensors(path_);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      EXPECT_TRUE(std::string(error.what()).starts_with(path_)) << error.what();
      return error.what();
    }
    return "";
  }

  const std::string folder_ =
      testing::TempDir() + "safetensors_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path_ = folder_ + "/weights.safetensors";
};

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string content(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return content + header + std::string(data_bytes, '\0');
}

std::string usage_complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "";
}

void expect_same_bits(const at::Tensor& left, const at::Tensor& right) {
  ASSERT_EQ(left.scalar_type(), right.scalar_type());
  ASSERT_EQ(left.sizes(), right.sizes());
  const at::Tensor a = left.contiguous(), b = right.contiguous();
  EXPECT_TRUE(a.nbytes() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

TEST_F(Safetensors, WritesTheBytesTheFormatSays) {
  at::Tensor matrix = at::arange(6, at::kFloat).reshape({2, 3});
  save_safetensors(path_, {{"flag", at::ones({1}, at::kBool)}, {"a", matrix}}, {{"epoch", "7"}});
  const std::string header =
      R"({"__metadata__":{"epoch":"7"},"flag":{"dtype":"BOOL","shape":[1],"data_offsets":[24,25]},)"
      R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
  ASSERT_EQ(header.size(), 145U);
  std::string expected("\x98\0\0\0\0\0\0\0", 8);  // 152, the next multiple of 8
  expected += header + std::string(7, ' ');
  for (const float value : {0.F, 1.F, 2.F, 3.F, 4.F, 5.F}) {
    expected.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  expected += '\1';
  EXPECT_EQ(read_file(path_), expected);
}

TEST_F(Safetensors, FillsTheHeaderUpWithSpaces) {
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    save_safetensors(path_, {{name, at::zeros({1}, at::kByte)}});
    const std::string content = read_file(path_);
    EXPECT_EQ(content.size() % 8, 1U);
    EXPECT_EQ(content.size(), 8U + static_cast<unsigned char>(content[0]) + 1U);
    const std::string header = content.substr(8, content.size() - 9);
    EXPECT_EQ(header.find_last_not_of(' '), header.rfind('}'));
    EXPECT_EQ(load_safetensors(path_).tensors.at(0).first, name);
  }
}

TEST_F(Safetensors, BringsEveryKindOfNumberBackBitForBit) {
  const NamedTensors tensors = {{"bytes", at::arange(5).to(at::kByte)},
                                {"doubles", at::randn({3, 4}, at::kDouble)},
                                {"floats", at::randn({2, 3, 4, 5})},
                                {"halves", at::randn({7}).to(at::kHalf)},
                                {"brains", at::randn({7}).to(at::kBFloat16)},
                                {"longs", at::full({2}, std::numeric_limits<std::int64_t>::min(), at::kLong)},
                                {"ints", at::arange(-3, 3).to(at::kInt)},
                                {"shorts", at::arange(-3, 3).to(at::kShort)},
                                {"chars", at::arange(-3, 3).to(at::kChar)},
                                {"flags", at::arange(6).remainder(2).to(at::kBool)},
                                {"scalar", at::full({}, 3.5)},
                                {"nothing", at::empty({3, 0, 2})},
                                {"größe \"\n", at::ones({1})}};
  const std::map<std::string, std::string> metadata = {{"model", "resnet20-v1"}, {"", "ünïcode\t"}};
  save_safetensors(path_, tensors, metadata);
  const SafetensorsFile file = load_safetensors(path_);
  EXPECT_EQ(file.metadata, metadata);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(file.tensors[i].first, tensors[i].first);
    SCOPED_TRACE(tensors[i].first);
    expect_same_bits(file.tensors[i].second, tensors[i].second);
  }
}

TEST_F(Safetensors, KeepsThePayloadOfNaNsAndTheSignOfZero) {
  at::Tensor odd = at::zeros({4});
  const std::uint32_t bits[] = {0x7fc12345U, 0xffa00001U, 0x80000000U, 0x00000001U};
  std::memcpy(odd.data_ptr(), bits, sizeof bits);
  save_safetensors(path_, {{"odd", odd}});
  expect_same_bits(load_safetensors(path_).tensors.at(0).second, odd);
}

TEST_F(Safetensors, StoresLogicalOrderWhateverTheMemoryFormat) {
  const at::Tensor plain = at::randn({4, 3, 5, 2});
  const at::Tensor last = plain.contiguous(at::MemoryFormat::ChannelsLast);
  ASSERT_NE(std::memcmp(plain.data_ptr(), last.data_ptr(), plain.nbytes()), 0);
  save_safetensors(path_, {{"last", last}, {"turned", plain.permute({3, 1, 0, 2})}, {"slice", plain.select(1, 1)}});
  const NamedTensors back = load_safetensors(path_).tensors;
  expect_same_bits(back.at(0).second, plain);
  EXPECT_TRUE(back.at(0).second.is_contiguous());
  expect_same_bits(back.at(1).second, plain.permute({3, 1, 0, 2}));
  expect_same_bits(back.at(2).second, plain.select(1, 1));
}

TEST_F(Safetensors, TakesParametersThatRequireGradients) {
  const at::Tensor weight = at::randn({2, 2}).requires_grad_();
  save_safetensors(path_, {{"weight", weight}});
  const at::Tensor back = load_safetensors(path_).tensors.at(0).second;
  expect_same_bits(back, weight.detach());
  EXPECT_FALSE(back.requires_grad());
}

TEST_F(Safetensors, LaysEveryTensorAtAMultipleOfItsNumberSize) {
  save_safetensors(path_, {{"u", at::zeros({3}, at::kByte)},
                           {"h", at::zeros({1}, at::kHalf)},
                           {"d", at::zeros({1}, at::kDouble)},
                           {"f", at::zeros({1})}});
  const std::string content = read_file(path_);
  EXPECT_NE(content.find(R"("d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})"), std::string::npos);
  EXPECT_NE(content.find(R"("f":{"dtype":"F32","shape":[1],"data_offsets":[8,12]})"), std::string::npos);
  EXPECT_NE(content.find(R"("h":{"dtype":"F16","shape":[1],"data_offsets":[12,14]})"), std::string::npos);
  EXPECT_NE(content.find(R"("u":{"dtype":"U8","shape":[3],"data_offsets":[14,17]})"), std::string::npos);
}

TEST_F(Safetensors, ReadsAFileWithoutTensors) {
  EXPECT_EQ(complaint(file_of("{}", 0)), "");
  save_safetensors(path_, {});
  EXPECT_TRUE(load_safetensors(path_).tensors.empty());
}

TEST_F(Safetensors, RefusesWhatTheFormatCannotHold) {
  const at::Tensor one = at::ones({1});
  const auto saving = [&](const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {}) {
    return usage_complaint([&] { save_safetensors(path_, tensors, metadata); });
  };
  EXPECT_NE(saving({{"a", one}, {"a", one}}).find("\"a\" is the name of two tensors"), std::string::npos);
  EXPECT_NE(saving({{"__metadata__", one}}).find("reserved"), std::string::npos);
  EXPECT_NE(saving({{"a", at::Tensor()}}).find("the tensor a is undefined"), std::string::npos);
  EXPECT_NE(saving({{"a", at::ones({1}, at::kComplexFloat)}}).find("ComplexFloat"), std::string::npos);
  EXPECT_NE(saving({{"a", at::ones({2}).to_sparse()}}).find("sparse"), std::string::npos);
  EXPECT_NE(saving({{"\xff", one}}).find("not UTF-8"), std::string::npos);
  EXPECT_NE(saving({{"a", one}}, {{"note", "\xff"}}).find("not UTF-8"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

struct BadFile {
  std::string header;
  std::size_t data_bytes;
  std::string complaint;
};

TEST_F(Safetensors, SaysWhatIsWrongWithABadHeader) {
  const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const BadFile files[] = {
      {a + "}", 7, "tensor \"a\": it ends at byte 8 of the data, which has 7"},
      {a + "}", 9, "1 bytes after the last tensor"},
      {a + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})", 8, "tensor \"b\": it begins at byte 4"},
      {a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8, "inside of the tensor before"},
      {a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[10,12]}})", 12, "tensor \"b\": the 2 bytes before"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "tensor \"a\": the 4 bytes before"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8, "tensor \"a\": F32 numbers of shape [3] do not"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "ends at byte 0 before it begins at 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8, "it has 1 data_offsets, not 2"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", 8, "it has 3 data_offsets, not 2"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8, "\"shape\" has -2"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", 8, "\"shape\" has 2.0"},
      {R"({"a":{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}})", 8, "\"shape\" has string"},
      {R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8, "\"shape\" is not a list"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", 8, "\"data_offsets\" is not a list"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "\"dtype\" is not a text"},
      {R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", 8, "the kind \"F8_E4M3\""},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8, "unknown field \"x\""},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "do not take the 0 bytes"},
      {R"({"a":{"dtype":"U8","shape":[9223372036854775807,3,0],"data_offsets":[0,0]}})", 0, "do not take the 0 bytes"},
      {R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0, "do not take the 0 bytes"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})", 1, "\"shape\" has 1844"},
      {R"({"a":{"dtype":"U8","shape":[1e999],"data_offsets":[0,1]}})", 1, "a number that is too large"},
      {R"({"a":3})", 0, "tensor \"a\": its description is not a JSON object"},
      {R"({"__metadata__":3})", 0, "__metadata__ is not a JSON object"},
      {R"({"__metadata__":{"x":3}})", 0, "\"x\" in __metadata__ is not a text"},
      {R"({"__metadata__":{"x":"1","x":"2"}})", 0, "the name \"x\" occurs twice"},
      {R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
       0, "the name \"a\" occurs twice"},
      {R"({"a":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}})", 0, "\"dtype\" occurs twice"},
      {"[]", 0, "its header is not a JSON object"},
      {"", 0, "its header is not a JSON object"},
      {" {}", 0, "its header is not a JSON object"},
      {"{} x", 0, "its header is not JSON from byte 4 on"},
      {"{\"a\xff\":1}", 0, "its header is not JSON"},
      {std::string("{}\0", 3), 0, "its header is not JSON from byte 3 on"},
  };
  for (const BadFile& file : files) {
    const std::string said = complaint(file_of(file.header, file.data_bytes));
    EXPECT_NE(said.find(file.complaint), std::string::npos) << file.header << "\n  " << said;
  }
  std::string deep = R"({"a":{"dtype":"U8","data_offsets":[0,1],"shape":[1)";
  for (int i = 0; i < 64; ++i) deep += ",1";
  EXPECT_NE(complaint(file_of(deep + "]}}", 1)).find("it has 65 dimensions"), std::string::npos);
}

TEST_F(Safetensors, SaysWhereAFileWasCutOrSwollen) {
  save_safetensors(path_, {{"a", at::ones({100})}});
  const std::string whole = read_file(path_);
  for (std::size_t size = 0; size < whole.size(); size += size < 100 ? 1 : 57) {
    EXPECT_NE(complaint(whole.substr(0, size)), "") << size;
  }
  EXPECT_NE(complaint("").find("it has 0 bytes"), std::string::npos);
  EXPECT_NE(complaint(whole.substr(0, 20)).find("cut short"), std::string::npos);
  EXPECT_NE(complaint(std::string(16, '\xff')).find("at most 100000000 are allowed"), std::string::npos);
  EXPECT_NE(complaint("<!DOCTYPE html><html>").find("at most 100000000 are allowed"), std::string::npos);
}

TEST_F(Safetensors, RefusesABoolThatIsNeitherTrueNorFalse) {
  std::string content = file_of(R"({"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})", 2);
  EXPECT_EQ(complaint(content), "");
  content.back() = 2;
  EXPECT_NE(complaint(content).find("neither 0 nor 1"), std::string::npos);
}

TEST_F(Safetensors, NamesAFileThatIsNotThere) {
  EXPECT_THROW(load_safetensors(folder_ + "/none"), Error);
  EXPECT_THROW(save_safetensors(folder_ + "/none/file", {{"a", at::ones({1})}}), Error);
}

}  // namespace
}  // namespace lipschitzlr::nn
