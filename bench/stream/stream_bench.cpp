// Writes a table of made-up numbers as CSV, as fast as a disk takes it: columns x1, x2, ... of three decimals between
// -10 and 10, and y, a sum of some of them with noise. Called by compare.py.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Of the numbers from 0 to 9999.
using Digits = std::array<std::array<char, 5>, 10000>;

Digits digits() {
  Digits all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = {static_cast<char>('0' + i / 1000), '.', static_cast<char>('0' + i / 100 % 10),
              static_cast<char>('0' + i / 10 % 10), static_cast<char>('0' + i % 10)};
  }
  return all;
}

class Rows {
 public:
  explicit Rows(long columns) : columns_(columns) {}

  void add(std::string& text) {
    long sum = 0;
    for (long column = 0; column < columns_; ++column) {
      const long number = add_number(draw() % 19999 - 9999, text);
      if (column % 7 == 0) sum += number;
      text += ',';
    }
    add_number((sum / (1 + columns_ / 7) + draw() % 1001 - 500), text);
    text += '\n';
  }

 private:
  long draw() {  // xorshift64*
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return static_cast<long>((state_ * 0x2545f4914f6cdd1d) >> 40);
  }

  long add_number(long thousandths, std::string& text) {
    if (thousandths < 0) text += '-';
    text.append(digits_[static_cast<std::size_t>(std::labs(thousandths) % 10000)].data(), 5);
    return thousandths;
  }

  const Digits digits_ = digits();
  long columns_;
  std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: stream_bench ROWS COLUMNS > FILE\n");
    return 2;
  }
  const long rows = std::atol(arguments[1]), columns = std::atol(arguments[2]);
  std::string text;
  for (long column = 1; column <= columns; ++column) text += "x" + std::to_string(column) + ",";
  text += "y\n";
  Rows made(columns);
  for (long row = 0; row < rows; ++row) {
    made.add(text);
    if (text.size() < 1 << 20 && row + 1 < rows) continue;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      std::perror("stream_bench");
      return 1;
    }
    text.clear();
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
