#pragma once
// A reader of text that may come in several files, parts of one table.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/table/lines.hpp"
#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// Where rows of features go as they are parsed, so that the table has none of them in the end.
using RowSink = std::function<void(const double* rows, Index count, Index columns)>;

class PartParser {
 public:
  PartParser() = default;
  virtual ~PartParser() = default;
  PartParser(const PartParser&) = delete;
  PartParser& operator=(const PartParser&) = delete;

  virtual void parse(std::string_view block) = 0;        // whole lines, with LineBlocks::kPadding bytes behind them
  virtual void begin_part(const std::string& file) = 0;  // what follows is in another file
  virtual Table finish() = 0;

  // The same for pieces of a block one after the other, on the threads of a pool, one of which does meanwhile, too.
  virtual void parse_pieces(std::span<const Lines> pieces, ThreadPool& /*pool*/,
                            const std::function<void()>& meanwhile) {
    for (const Lines& piece : pieces) parse(piece.text);
    meanwhile();
  }
};

}  // namespace lipschitzlr::data
