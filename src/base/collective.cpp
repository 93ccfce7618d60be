#include "lipschitzlr/base/collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace lipschitzlr {

double all_reduce_max(Communicator* communicator, double value) {
  if (communicator == nullptr) return value;
  // What the maximum of a number and NaN is depends on the implementation.
  const bool nothing = std::isnan(value);
  std::array<double, 2> values{nothing ? 1.0 : 0.0, nothing ? -std::numeric_limits<double>::infinity() : value};
  communicator->maximum(values);
  return values[0] > 0 ? std::numeric_limits<double>::quiet_NaN() : values[1];
}

// Zeros stand where the others' values belong, so that the sum is all of them, each to the bit.
std::vector<double> all_gather(Communicator* communicator, std::vector<double> own) {
  if (communicator == nullptr) return own;
  const auto rank = static_cast<std::size_t>(communicator->rank());
  std::vector<double> counts(static_cast<std::size_t>(communicator->size()));
  counts[rank] = static_cast<double>(own.size());
  communicator->sum(std::span(counts));
  const auto here = counts.begin() + static_cast<std::ptrdiff_t>(rank);
  const double before = std::accumulate(counts.begin(), here, 0.0);
  std::vector<double> all(static_cast<std::size_t>(std::accumulate(here, counts.end(), before)));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(before));
  if (!all.empty()) communicator->sum(std::span(all));
  return all;
}

// Six bytes are a whole number that a double holds.
std::vector<std::string> gather_bytes(Communicator* communicator, const std::string& own) {
  if (communicator == nullptr) return {own};
  constexpr std::size_t kBytes = 6;
  const std::vector<double> sizes = all_gather(communicator, {static_cast<double>(own.size())});
  std::vector<double> words;
  words.reserve(own.size() / kBytes + 1);
  for (std::size_t first = 0; first < own.size(); first += kBytes) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < std::min(kBytes, own.size() - first); ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(own[first + i])} << (8 * i);
    }
    words.push_back(static_cast<double>(word));
  }
  words = all_gather(communicator, std::move(words));
  std::vector<std::string> texts;
  auto word = words.begin();
  for (const double size : sizes) {
    std::string text(static_cast<std::size_t>(size), '\0');
    for (std::size_t first = 0; first < text.size(); first += kBytes) {
      const auto bytes = static_cast<std::uint64_t>(*word++);
      for (std::size_t i = 0; i < std::min(kBytes, text.size() - first); ++i) {
        text[first + i] = static_cast<char>((bytes >> (8 * i)) & 0xff);
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

void in_turn(Communicator* communicator, std::span<double> numbers, const std::function<void()>& work) {
  if (communicator == nullptr) return work();
  for (int rank = 0; rank < communicator->size(); ++rank) {
    if (rank == communicator->rank()) {
      work();
    } else {
      std::fill(numbers.begin(), numbers.end(), 0.0);
    }
    communicator->sum(numbers);
  }
}

void together(Communicator* communicator, const std::function<void()>& work) {
  if (communicator == nullptr) return work();
  std::string failure;
  try {
    work();
  } catch (const Error& error) {
    failure = static_cast<char>(error.exit_code()) + std::string(error.what());
  }
  for (const std::string& one : gather_bytes(communicator, failure)) {
    if (!one.empty()) throw Error(static_cast<Fault>(static_cast<unsigned char>(one.front())), one.substr(1));
  }
}

std::string broadcast(Communicator* communicator, std::string text) {
  if (communicator == nullptr) return text;
  std::size_t size = text.size();
  communicator->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  if (size > 0) communicator->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::string from_root(Communicator* communicator, const std::function<std::string()>& work) {
  if (communicator == nullptr) return work();
  std::int32_t fault = 0;  // none
  std::string text;
  try {
    if (communicator->is_root()) text = work();
  } catch (const Error& error) {
    fault = error.exit_code();
    text = error.what();
  }
  communicator->broadcast(std::as_writable_bytes(std::span(&fault, 1)));
  text = broadcast(communicator, std::move(text));
  if (fault != 0) throw Error(static_cast<Fault>(fault), text);
  return text;
}

void require_equal(Communicator& communicator, const std::string& what, std::string_view fingerprint, Fault fault) {
  const std::string root = broadcast(&communicator, std::string(fingerprint));
  std::vector<double> differs(static_cast<std::size_t>(communicator.size()), 0.0);
  differs[static_cast<std::size_t>(communicator.rank())] = root == fingerprint ? 0.0 : 1.0;
  communicator.sum(std::span<double>(differs));
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < differs.size(); ++rank) {
    if (differs[rank] != 0) ranks.push_back(rank);
  }
  if (ranks.empty()) return;
  throw Error(fault, fmt::format("other {} in rank{} {} than in rank 0; all processes must be started alike", what,
                                 ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", ")));
}

}  // namespace lipschitzlr
