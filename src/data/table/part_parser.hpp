#pragma once
// A reader of text that may come in several files, parts of one table.

#include <memory>
#include <string>
#include <string_view>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

class PartParser {
 public:
  PartParser() = default;
  virtual ~PartParser() = default;
  PartParser(const PartParser&) = delete;
  PartParser& operator=(const PartParser&) = delete;

  virtual void parse(std::string_view block) = 0;        // whole lines, with LineBlocks::kPadding bytes behind them
  virtual void begin_part(const std::string& file) = 0;  // what follows is in another file
  virtual Table finish() = 0;
};

}  // namespace lipschitzlr::data
