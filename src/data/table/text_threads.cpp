#include "data/table/text_threads.hpp"

#include <algorithm>
#include <exception>

namespace lipschitzlr::data {

void TextThreads::parse(PartParser& parser, std::string_view first, LineBlocks& blocks) {
  parser.parse(first);
  if (blocks.at_end()) return;
  if (!pool_) pool_.emplace(threads_);
  if (pool_->size() > 1) return parse_in_pieces(parser, blocks);
  for (std::string_view block = blocks.next(); !block.empty(); block = blocks.next()) parser.parse(block);
}

// One thread reads (and unpacks) the next blocks while the others parse.
void TextThreads::parse_in_pieces(PartParser& parser, LineBlocks& blocks) {
  constexpr std::size_t kBlocksOfThread = 2, kMostBlocks = 64;  // held at a time, twice
  constexpr std::size_t kPiecesOfBlock = 4;                     // small, so that threads end together
  const std::size_t joined = std::min(kBlocksOfThread * pool_->size(), kMostBlocks), count = kPiecesOfBlock * joined;
  blocks.join_blocks(joined);
  std::vector<Lines> pieces = cut_lines(blocks.next(), count), coming;
  while (!pieces.empty()) {
    std::exception_ptr failure;
    parser.parse_pieces(pieces, *pool_, [&] {
      try {
        coming = cut_lines(blocks.next(), count);
      } catch (...) {
        failure = std::current_exception();  // what is wrong in these pieces comes first
      }
    });
    if (failure) std::rethrow_exception(failure);
    pieces.swap(coming);
  }
}

}  // namespace lipschitzlr::data
