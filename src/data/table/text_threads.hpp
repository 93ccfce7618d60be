#pragma once
// Text of one file or of several through a parser, on the threads that ReadOptions allows as soon as a file has more
// than one block.

#include <optional>

#include "data/table/part_parser.hpp"

namespace lipschitzlr::data {

class TextThreads {
 public:
  explicit TextThreads(unsigned threads) : threads_(threads) {}

  // The first block, and the rest of them.
  void parse(PartParser& parser, std::string_view first, LineBlocks& blocks);

 private:
  void parse_in_pieces(PartParser& parser, LineBlocks& blocks);

  unsigned threads_;
  std::optional<ThreadPool> pool_;
};

}  // namespace lipschitzlr::data
