#pragma once
// An option, declared once: its name, the member it sets, the values it takes, a sentence of help. A list of options is
// bound to an object such as TrainOptions. The command line (flags, checks, --help, --config, manual page, completion),
// the JSON of a record and the comparison of two runs are all made from that list.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lipschitzlr::run {

// What an option is set to; monostate: nothing.
using OptionValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

std::string to_text(const OptionValue& value);  // as on the command line; "none" for nothing

// The member of an options struct, which must outlive this: how to read it and how to set it.
struct Member {
  enum class Kind { flag, whole, real, text, words };

  Kind kind;
  std::function<OptionValue()> get;
  std::function<bool(const OptionValue&)> set;  // false, and nothing is set, when the value is not of its form
  std::vector<std::string> names = {};          // of a choice
  std::string expected = {};                    // the form of a text, for error messages

  Member(Kind of, std::function<OptionValue()> reads, std::function<bool(const OptionValue&)> sets)
      : kind(of), get(std::move(reads)), set(std::move(sets)) {}
  // bool, any integer, double, string, list of strings, or an optional of one of them.
  template <class T>
  Member(T* member);  // NOLINT(google-explicit-constructor): .member = &options.decay
};

// An enumeration, its names in the order of its values, or a bool as {no, yes}.
template <class T>
Member choice(T& member, std::vector<std::string> names);
// The same that may be unset; unset: the name of that, if it has one.
template <class T>
Member choice(std::optional<T>& member, std::vector<std::string> names, const std::string& unset = "");
// A type with a spelling of its own. from() gives nothing for a text that is not of the expected form.
template <class T>
Member spelled(T& member, std::function<std::string(const std::type_identity_t<T>&)> to,
               std::function<std::optional<std::type_identity_t<T>>(const std::string&)> from, std::string expected);

// The numbers an option takes; infinity and NaN are never among them.
struct Range {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool with_least = true, with_most = true;

  bool contains(double number) const;
};
inline Range above(double least) { return {.least = least, .with_least = false}; }
inline Range at_least(double least) { return {.least = least}; }
inline Range between(double least, double most) { return {.least = least, .most = most}; }
inline Range share() { return {.least = 0, .most = 1, .with_most = false}; }

struct Placeholder {
  std::string text;  // of a value in help: FILE, RATE; a choice shows its names
};
struct Flags {
  std::string text;  // default: --name with dashes; "-o,--output"; "DATA" is an argument without a flag
};
struct OnlyWith {
  std::string option;               // the name of another one: without one of these values of that, this does nothing
  std::vector<std::string> values;  // none: it always does something
};
enum Trait : unsigned {
  kRequired = 1,
  kSwitch = 2,      // a choice of two names as a flag without a value: takes the second, --no-... the first
  kAddedLater = 4,  // records of older versions lack it: their runs had the default
  kMayChange = 8,   // a resumed run can have another value
};

struct Option {
  std::string name;  // in JSON
  Member member;
  std::string help;  // the default is added, where there is one
  std::string placeholder = {}, flags = {};
  std::string group = {};  // its heading in --help
  Range range = {};
  OnlyWith only_with = {};
  unsigned traits = 0;

  // details: Range, Placeholder, Flags, OnlyWith and Traits, in any order.
  template <class... Details>
  Option(std::string called, Member sets, std::string says, const Details&... details)
      : name(std::move(called)), member(std::move(sets)), help(std::move(says)) {
    (set(details), ...);
  }
  bool is(Trait trait) const { return (traits & trait) != 0; }

 private:
  void set(const Placeholder& shown) { placeholder = shown.text; }
  void set(const Flags& given) { flags = given.text; }
  void set(const Range& accepted) { range = accepted; }
  void set(const OnlyWith& use) { only_with = use; }
  void set(Trait trait) { traits |= trait; }
};

using Options = std::vector<Option>;

Options grouped(const std::vector<std::pair<std::string, Options>>& groups);  // by heading
Options operator+(Options first, const Options& rest);

const Option& find_option(const Options& options, const std::string& name);

// Options that most commands have.
enum class Bits { same, differ };  // what another number of threads does to results
Option threads_option(unsigned& threads, Bits bits = Bits::same);
Option json_option(bool& json);

std::string flag_of(const Option& option);    // "--output", "DATA"
std::string values_of(const Option& option);  // "FILE", "csv|tsv|libsvm"; empty for a flag
std::string help_of(const Option& option);    // the default in it is the value that the member has now
bool is_positional(const Option& option);
bool takes_value(const Option& option);

// Sets an option from the words of the command line: one, any number for a list, none for a flag. Throws Error (usage)
// naming flag, word and what was expected.
void assign(const Option& option, const std::vector<std::string>& words);

// Throws Error (usage) naming the first number that is out of range, for options that were not set by assign().
void check(const Options& options);

// Throws Error (usage) naming the first of the options with these names that does nothing, given the others.
void check_uses(const Options& options, const std::set<std::string>& given);

struct Difference {
  std::string name;
  OptionValue one, other;
};
// Where two objects of the same type differ.
std::vector<Difference> differences(const Options& one, const Options& other);

// The words of a command line that set an object to what it is, given one of the same type with the defaults.
std::vector<std::string> words_of(const Options& options, const Options& defaults);

// ---- How the templates work

namespace detail {
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
constexpr Member::Kind kind_of(const T&) {
  if constexpr (std::is_same_v<T, bool>) return Member::Kind::flag;
  if constexpr (std::is_integral_v<T>) return Member::Kind::whole;
  if constexpr (std::is_floating_point_v<T>) return Member::Kind::real;
  return std::is_same_v<T, std::string> ? Member::Kind::text : Member::Kind::words;
}
template <class T>
constexpr Member::Kind kind_of(const std::optional<T>&) {
  return kind_of(T());
}

// In an OptionValue every integer is an int64.
template <class T>
using Stored = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;

template <class T>
OptionValue value_of(const T& member) {
  if constexpr (is_optional<T>) {
    return member ? value_of(*member) : OptionValue();
  } else {
    return static_cast<Stored<T>>(member);
  }
}

template <class T>
bool set_value(T& member, const OptionValue& value) {
  if constexpr (is_optional<T>) {
    member.reset();
    return std::holds_alternative<std::monostate>(value) || set_value(member.emplace(), value);
  } else {
    const auto* stored = std::get_if<Stored<T>>(&value);
    if (stored != nullptr) member = static_cast<T>(*stored);
    return stored != nullptr;
  }
}

// By index, -1: unset. unset: nothing when it always has a value.
Member choice(std::vector<std::string> names, const std::optional<std::string>& unset, std::function<int()> get,
              std::function<void(int)> set);
}  // namespace detail

template <class T>
Member::Member(T* member)
    : Member(
          detail::kind_of(*member), [member] { return detail::value_of(*member); },
          [member](const OptionValue& value) { return detail::set_value(*member, value); }) {}

template <class T>
Member choice(T& member, std::vector<std::string> names) {
  return detail::choice(
      std::move(names), std::nullopt, [&member] { return static_cast<int>(member); },
      [&member](int index) { member = static_cast<T>(index); });
}

template <class T>
Member choice(std::optional<T>& member, std::vector<std::string> names, const std::string& unset) {
  return detail::choice(
      std::move(names), unset, [&member] { return member ? static_cast<int>(*member) : -1; },
      [&member](int index) { member = index < 0 ? std::nullopt : std::optional<T>(static_cast<T>(index)); });
}

template <class T>
Member spelled(T& member, std::function<std::string(const std::type_identity_t<T>&)> to,
               std::function<std::optional<std::type_identity_t<T>>(const std::string&)> from, std::string expected) {
  Member made(
      Member::Kind::text, [&member, to] { return to(member); },
      [&member, from](const OptionValue& value) {
        const auto* text = std::get_if<std::string>(&value);
        const std::optional<T> read = text != nullptr ? from(*text) : std::nullopt;
        if (read) member = *read;
        return read.has_value();
      });
  made.expected = std::move(expected);
  return made;
}

}  // namespace lipschitzlr::run
