#include "data/table/csv.hpp"

#include <algorithm>

#include "data/table/csv_rows.hpp"
#include "data/table/read_error.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

class CsvParser : public PartReading {
 public:
  CsvParser(CsvLayout layout, const std::string& file, const ReadOptions& options, Index expected_rows, RowSink sink)
      : layout_(std::move(layout)), rows_(layout_, file, options, expected_rows), sink_(std::move(sink)) {}

  void parse(std::string_view block) override;
  void parse_pieces(std::span<const Lines> pieces, ThreadPool& pool, const std::function<void()>& meanwhile) override;
  void begin_part(const std::string& file) override;
  void begin(const std::string& file, bool within, const PartState* above) override {
    rows_.begin_part(file, within, above);
  }
  void expect_lines() const override { require_lines(); }
  PartState state() const override { return rows_.state(); }
  void unite(const PartState& all, Communicator& communicator) override;
  Table finish() override;

 private:
  void parse_parts(std::span<const Lines> pieces, ThreadPool& pool, const std::function<void()>& meanwhile);
  void hand_on();
  void require_lines() const;

  CsvLayout layout_;
  CsvRows rows_;
  RowSink sink_;
  bool has_row_ = false;
  bool is_united_ = false;
};

// What was parsed goes to the sink, if there is one.
void CsvParser::hand_on() {
  has_row_ |= rows_.rows() > 0;
  if (!sink_ || rows_.rows() == 0) return;
  sink_(rows_.data(), rows_.rows(), rows_.width());
  rows_.forget_rows();
}

void CsvParser::parse(std::string_view block) {
  rows_.parse(block);
  hand_on();
}

void CsvParser::parse_pieces(std::span<const Lines> pieces, ThreadPool& pool, const std::function<void()>& meanwhile) {
  for (; !pieces.empty() && !rows_.can_have_parts(); pieces = pieces.subspan(1)) rows_.parse(pieces.front().text);
  parse_parts(pieces, pool, meanwhile);
  hand_on();
}

void CsvParser::parse_parts(std::span<const Lines> pieces, ThreadPool& pool, const std::function<void()>& meanwhile) {
  std::vector<Index> rows_between;
  Index rows = 0;
  for (const Lines& piece : pieces) {
    rows_between.push_back(rows);
    rows += piece.count;
  }
  rows_.reserve(rows);
  std::vector<std::unique_ptr<CsvRows>> parts(pieces.size());
  pool.run(pieces.size() + 1, [&](std::size_t task) {
    if (task == 0) return meanwhile();
    const std::size_t i = task - 1;
    auto part = std::make_unique<CsvRows>(rows_, rows_between[i]);
    try {
      part->parse(pieces[i].text);
      parts[i] = std::move(part);
    } catch (const Error&) {
      // It is thrown below, with its line, unless a piece above has an error, too.
    }
  });
  // Behind a piece that was parsed again, columns may have changed: the parts were made for those before.
  bool joins = true;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    joins = joins && parts[i] && rows_.join(*parts[i]);
    if (!joins) rows_.parse(pieces[i].text);
  }
}

void CsvParser::begin_part(const std::string& file) {
  require_lines();
  rows_.begin_file(file);
}

void CsvParser::require_lines() const {
  if (!rows_.has_lines()) fail_in_file(rows_.file(), "the file is empty: expected a part of a table");
}

void CsvParser::unite(const PartState& all, Communicator& communicator) {
  rows_.unite(all, communicator);
  has_row_ = all.has_rows;
  is_united_ = true;
}

Table CsvParser::finish() {
  if (!is_united_) require_lines();
  if (!has_row_) fail_in_file(rows_.file(), "there is a header but no row");
  Table table = std::move(rows_).finish();
  table.feature_names = names_of_features(layout_.names, layout_.plans, layout_.target);
  table.has_names = layout_.has_header;
  if (!layout_.remark.empty()) table.remarks.push_back(layout_.remark);
  if (layout_.target >= 0 && (table.target.size() > 0 || is_united_)) {
    const std::string& name = layout_.names[static_cast<std::size_t>(layout_.target)];
    table.target_name = name.empty() ? "target" : name;
    table.target_column = layout_.target;
  }
  return table;
}

// Lines are about as long as the first ones, and a cell takes two bytes or more. A little too many rows cost nothing:
// memory never written to is not used.
Index expect_rows(std::string_view first_block, std::uint64_t expected_size, Index columns) {
  const auto lines = static_cast<double>(std::count(first_block.begin(), first_block.end(), '\n'));
  const auto known_size = static_cast<double>(first_block.size());
  const double size = std::max(static_cast<double>(expected_size), known_size);
  return static_cast<Index>(std::min(1.05 * lines * size / known_size, size / (2.0 * static_cast<double>(columns))) +
                            1);
}

}  // namespace

std::unique_ptr<PartReading> parse_csv(std::string_view first_block, std::uint64_t expected_size,
                                       const std::string& file, const ReadOptions& options, RowSink sink) {
  CsvLayout layout = find_layout(first_block, file, options);
  const Index expected_rows = expect_rows(first_block, sink ? 0 : expected_size, layout.columns());
  return std::make_unique<CsvParser>(std::move(layout), file, options, expected_rows, std::move(sink));
}

}  // namespace lipschitzlr::data
