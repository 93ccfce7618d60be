#include "data/table/numpy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/numbers.hpp"
#include "data/table/read_error.hpp"
#include "data/table/zip.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kNpyMagic = "\x93NUMPY"sv;

struct NpyHeader {
  std::string type;  // "<f8"
  bool by_column = false;
  std::vector<Index> shape;
  std::size_t size = 0;  // of the header; the numbers follow
};

// What stands behind 'key': in the dictionary of Python that the header is, up to a comma outside brackets.
std::string field_of(std::string_view header, const std::string& key, const std::string& file) {
  const std::size_t found = header.find("'" + key + "'");
  const std::size_t colon = header.find(':', found);
  if (found == std::string_view::npos || colon == std::string_view::npos) {
    fail_in_file(file, fmt::format("the header of the array lacks {}: is it a .npy file?", in_quotes(key)));
  }
  const std::size_t start = std::min(header.find_first_not_of(' ', colon + 1), header.size());
  const bool is_tuple = start < header.size() && header[start] == '(';
  const std::size_t end =
      is_tuple ? std::min(header.find(')', start), header.size() - 1) + 1 : header.find_first_of(",}", start);
  std::string value(header.substr(start, end - start));
  std::erase(value, ' ');
  std::erase(value, '\'');
  return value;
}

std::vector<Index> shape_from(std::string text, const std::string& file) {
  std::vector<Index> shape;
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    if (text.ends_with(',')) text.pop_back();
    for (const std::string& part : lipschitzlr::split(text, ',')) {
      const std::optional<Index> size = number_from<Index>(part);
      if (!size || *size < 0) break;
      shape.push_back(*size);
    }
    if (!text.empty() && shape.size() == lipschitzlr::split(text, ',').size()) return shape;
  }
  fail_in_file(file, "the array has no shape: expected rows and columns");
}

NpyHeader header_of(std::string_view content, const std::string& file) {
  const auto byte = [&](std::size_t place) { return std::size_t{static_cast<unsigned char>(content[place])}; };
  constexpr std::size_t kShort = 10, kLong = 12;
  if (!looks_like_npy(content) || content.size() < kLong) fail_in_file(file, "this is not a .npy file of NumPy");
  const bool is_short = content[6] == 1;
  const std::size_t begin = is_short ? kShort : kLong;
  std::size_t length = byte(8) | byte(9) << 8;
  if (!is_short) length |= byte(10) << 16 | byte(11) << 24;
  if (length > content.size() - begin) fail_in_file(file, "the file ends within its header: get it again");
  const std::string_view dictionary = content.substr(begin, length);
  return {field_of(dictionary, "descr", file), field_of(dictionary, "fortran_order", file) == "True",
          shape_from(field_of(dictionary, "shape", file), file), begin + length};
}

template <class Number>
void copy_numbers(const char* from, bool by_column, DenseMatrix<double>& to) {
  const Index outer = by_column ? to.cols() : to.rows(), inner = by_column ? to.rows() : to.cols();
  for (Index i = 0; i < outer; ++i) {
    for (Index j = 0; j < inner; ++j, from += sizeof(Number)) {
      Number number;
      std::memcpy(&number, from, sizeof number);
      (by_column ? to(j, i) : to(i, j)) = static_cast<double>(number);
    }
  }
}

struct NumberType {
  const char* name;
  std::size_t size;
  void (*copy)(const char*, bool, DenseMatrix<double>&);
};
constexpr NumberType kTypes[] = {{"f8", 8, copy_numbers<double>},        {"f4", 4, copy_numbers<float>},
                                 {"i8", 8, copy_numbers<std::int64_t>},  {"i4", 4, copy_numbers<std::int32_t>},
                                 {"i2", 2, copy_numbers<std::int16_t>},  {"i1", 1, copy_numbers<std::int8_t>},
                                 {"u8", 8, copy_numbers<std::uint64_t>}, {"u4", 4, copy_numbers<std::uint32_t>},
                                 {"u2", 2, copy_numbers<std::uint16_t>}, {"u1", 1, copy_numbers<std::uint8_t>},
                                 {"b1", 1, copy_numbers<std::uint8_t>}};

// A list of numbers is a matrix of one column.
DenseMatrix<double> array_of(std::string_view content, const std::string& file) {
  const NpyHeader header = header_of(content, file);
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NumberType& one) {
    return header.type.size() == 3 && header.type.ends_with(one.name);
  });
  const bool other_order = header.type.front() == '>' || std::endian::native != std::endian::little;
  if (type == std::end(kTypes) || (other_order && type->size > 1)) {
    fail_in_file(file, fmt::format("the array has the type {}: save it as numbers, as in array.astype(float)",
                                   in_quotes(header.type)));
  }
  if (header.shape.empty() || header.shape.size() > 2) {
    fail_in_file(file, fmt::format("the array has {} dimensions: expected rows and columns", header.shape.size()));
  }
  const Index rows = header.shape[0], columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::size_t found = (content.size() - header.size) / type->size;
  const bool fits = columns == 0 || static_cast<std::size_t>(rows) <= found / static_cast<std::size_t>(columns);
  if (!fits || static_cast<std::size_t>(rows * columns) * type->size != content.size() - header.size) {
    fail_in_file(file,
                 fmt::format("the array has {} x {} numbers, but the file {}: get it again", rows, columns, found));
  }
  DenseMatrix<double> numbers(rows, columns);
  type->copy(content.data() + header.size, header.by_column && header.shape.size() == 2, numbers);
  return numbers;
}

void check_cells(const DenseMatrix<double>& numbers, bool may_be_gaps, const std::string& what,
                 const std::string& file) {
  for (Index row = 0; row < numbers.rows(); ++row) {
    for (Index column = 0; column < numbers.cols(); ++column) {
      const double number = numbers(row, column);
      if (std::isfinite(number) || (may_be_gaps && std::isnan(number))) continue;
      fail_in_file(file, fmt::format("{}row {}, column {}: expected a finite number, found {}", what, row + 1,
                                     column + 1, number));
    }
  }
}

void set_features(DenseMatrix<double> numbers, const ReadOptions& options, const std::string& file, Table& table) {
  if (numbers.rows() == 0 || numbers.cols() == 0) fail_in_file(file, "the array is empty: expected rows and columns");
  check_cells(numbers, options.raw && !options.refuses_gaps, "", file);
  for (Index column = 0; column < numbers.cols(); ++column)
    table.feature_names.push_back(fmt::format("x{}", column + 1));
  if (numbers.hasNaN()) table.raw_columns.resize(static_cast<std::size_t>(numbers.cols()));
  table.features = std::move(numbers);
  table.has_names = false;
}

void set_target(Vector<double> target, const ReadOptions& options, const std::string& file, Table& table) {
  table.target_name = "target";
  if (options.ignores_target) return;
  check_cells(target, false, "target, ", file);
  table.target = std::move(target);
}

// As of a CSV without a header: the target is the last column, or the one with this number.
Table table_of_array(DenseMatrix<double> numbers, const ReadOptions& options, const std::string& file) {
  const Index columns = numbers.cols();
  Table table;
  Index target = -1;
  if (options.has_target && options.target_may_be_missing) {
    if (columns == options.columns + 1)
      target = options.target_column >= 0 ? std::min(options.target_column, columns - 1) : columns - 1;
  } else if (options.has_target) {
    const std::optional<Index> number = number_from<Index>(options.target.value_or("-1"));
    if (!number || *number == 0 || std::abs(*number) > columns) {
      throw Error(Fault::usage,
                  fmt::format("{}: there is no column {}: an array has no names; give a number from 1 to {}", file,
                              in_quotes(options.target.value_or("-1")), columns));
    }
    target = *number > 0 ? *number - 1 : columns + *number;
  }
  if (target < 0) {
    set_features(std::move(numbers), options, file, table);
    return table;
  }
  if (columns == 1) fail_in_file(file, "there is only one column, the target: expected features beside it");
  const Vector<double> chosen = numbers.col(target);
  DenseMatrix<double> others(numbers.rows(), columns - 1);
  others << numbers.leftCols(target), numbers.rightCols(columns - 1 - target);
  set_features(std::move(others), options, file, table);
  set_target(chosen, options, file, table);
  table.target_column = options.ignores_target ? -1 : target;
  return table;
}

const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const ZipEntry& entry : entries) {
      if (entry.name == std::string(name) + ".npy") return &entry;
    }
  }
  return nullptr;
}

Table table_of_archive(std::string_view archive, const ReadOptions& options, const std::string& file) {
  const std::vector<ZipEntry> entries = list_zip(archive, file);
  const ZipEntry* features = find_entry(entries, {"X", "x", "data", "features"});
  const ZipEntry* target = find_entry(entries, {"y", "Y", "target"});
  if (features == nullptr && entries.size() == 1 && entries[0].name.ends_with(".npy")) {
    return table_of_array(array_of(extract(archive, entries[0], file), file), options, file);
  }
  if (features == nullptr) {
    fail_in_file(file,
                 "this is a zip archive (or a spreadsheet) without an array \"X\": give a table as plain text "
                 "(UTF-8), .gz, .xz or .zst, or an .npz with \"X\" and \"y\"");
  }
  if (options.target && !options.target_may_be_missing) {
    throw Error(Fault::usage,
                fmt::format("{}: the target is the array \"y\" of the archive: leave out --target", file));
  }
  const bool wanted = options.has_target && !(options.target_may_be_missing && target == nullptr);
  if (wanted && target == nullptr) fail_in_file(file, "the archive has no array \"y\": expected the target there");
  Table table;
  set_features(array_of(extract(archive, *features, file), file), options, file, table);
  if (!wanted) return table;
  const DenseMatrix<double> numbers = array_of(extract(archive, *target, file), file);
  if (numbers.rows() != table.rows() || numbers.cols() != 1) {
    fail_in_file(file, fmt::format("the array \"y\" has {} x {} numbers for {} rows", numbers.rows(), numbers.cols(),
                                   table.rows()));
  }
  set_target(numbers.col(0), options, file, table);
  return table;
}

}  // namespace

bool looks_like_npy(std::string_view first_bytes) { return first_bytes.starts_with(kNpyMagic); }
bool looks_like_zip(std::string_view first_bytes) { return first_bytes.starts_with("PK\x03\x04"sv); }

Table read_numpy(ByteSource& source, const std::string& file, const ReadOptions& options) {
  constexpr std::size_t kPiece = 1 << 20;
  if (!options.ignore.empty() || !options.only.empty() || (!options.known.empty() && !options.target_may_be_missing)) {
    throw Error(Fault::usage,
                fmt::format("{}: an array has no names: --ignore, --only and --categorical are for tables "
                            "of text; choose its columns in Python",
                            file));
  }
  std::string content;
  content.reserve(source.expected_size());
  for (std::size_t got = kPiece; got == kPiece;) {
    const std::size_t before = content.size();
    content.resize(before + kPiece);
    got = source.read(content.data() + before, kPiece);
    content.resize(before + got);
  }
  return looks_like_zip(content) ? table_of_archive(content, options, file)
                                 : table_of_array(array_of(content, file), options, file);
}

}  // namespace lipschitzlr::data
