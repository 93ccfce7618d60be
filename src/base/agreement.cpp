#include "lipschitzlr/base/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

namespace lipschitzlr {

void expect_same(Team& team, const std::string& what, std::string_view fingerprint, Fault fault) {
  std::uint64_t length = fingerprint.size();
  team.broadcast(std::as_writable_bytes(std::span(&length, 1)));
  std::string leading(length, '\0');
  if (team.leads()) leading = fingerprint;
  team.broadcast(std::as_writable_bytes(std::span(leading)));
  std::vector<double> differs(static_cast<std::size_t>(team.size()), 0.0);
  differs[static_cast<std::size_t>(team.rank())] = leading == fingerprint ? 0.0 : 1.0;
  team.sum(std::span<double>(differs));
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < differs.size(); ++rank) {
    if (differs[rank] != 0) ranks.push_back(rank);
  }
  if (ranks.empty()) return;
  throw Error(fault, fmt::format("other {} in rank{} {} than in rank 0; all processes must be started alike", what,
                                 ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", ")));
}

}  // namespace lipschitzlr
