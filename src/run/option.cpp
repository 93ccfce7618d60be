#include "lipschitzlr/run/option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::run {
namespace {

using Kind = Member::Kind;

// "csv, tsv or libsvm"
std::string listed(const std::vector<std::string>& names) {
  const std::vector<std::string> most(names.begin(), names.end() - 1);
  return names.size() == 1 ? names[0] : fmt::format("{} or {}", fmt::join(most, ", "), names.back());
}

std::string expected(const Option& option) {
  if (!option.member.expected.empty()) return option.member.expected;
  const Range& range = option.range;
  const std::string number = option.member.kind == Kind::whole ? "a whole number" : "a number";
  if (std::isfinite(range.most)) {
    return fmt::format("{} from {} to {}{}", number, range.least, range.with_most ? "" : "below ", range.most);
  }
  if (!std::isfinite(range.least)) return number;
  return fmt::format(fmt::runtime(range.with_least ? "{} of {} or more" : "{} above {}"), number, range.least);
}

bool in_range(const Option& option, const OptionValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return option.range.contains(static_cast<double>(*whole));
  }
  const auto* real = std::get_if<double>(&value);
  return real == nullptr || option.range.contains(*real);
}

// Nothing when the word is no number.
OptionValue value_from(const Option& option, const std::string& word) {
  if (option.member.kind == Kind::text) return word;
  if (option.member.kind == Kind::real) {
    const std::optional<double> number = number_from(word);
    return number ? OptionValue(*number) : OptionValue();
  }
  const std::optional<std::int64_t> number = number_from<std::int64_t>(word);
  return number ? OptionValue(*number) : OptionValue();
}

}  // namespace

std::string to_text(const OptionValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "none";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), " "));
}

bool Range::contains(double number) const {
  return std::isfinite(number) && (with_least ? number >= least : number > least) &&
         (with_most ? number <= most : number < most);
}

Options grouped(const std::vector<std::pair<std::string, Options>>& groups) {
  Options all;
  for (const auto& [heading, options] : groups) {
    for (const Option& option : options) all.emplace_back(option).group = heading;
  }
  return all;
}

Options operator+(Options first, const Options& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

const Option& find_option(const Options& options, const std::string& name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& one) { return one.name == name; });
  if (found == options.end()) throw Error(Fault::usage, fmt::format("there is no option \"{}\"", name));
  return *found;
}

Option threads_option(unsigned& threads, Bits bits) {
  const std::string note =
      bits == Bits::same ? "results have the same bits for any number" : "libtorch's last bits depend on it";
  return {"threads", &threads, "0: all cores; " + note, between(0, 1024), kMayChange};
}

Option json_option(bool& json) { return {"json", &json, "print one JSON object instead of text", kMayChange}; }

std::string flag_of(const Option& option) {
  if (!option.flags.empty()) return option.flags.substr(option.flags.find(',') + 1);  // npos + 1 is 0
  std::string flag = "--" + option.name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

bool is_positional(const Option& option) { return !flag_of(option).starts_with('-'); }

bool takes_value(const Option& option) { return option.member.kind != Kind::flag && !option.is(kSwitch); }

std::string values_of(const Option& option) {
  if (!takes_value(option) || !option.placeholder.empty()) return option.placeholder;
  if (option.member.kind == Kind::whole) return "N";
  if (option.member.kind == Kind::real) return "X";
  return fmt::format("{}", fmt::join(option.member.names, "|"));
}

std::string help_of(const Option& option) {
  const OptionValue value = option.member.get();
  const std::string text = to_text(value);
  const bool unset = std::holds_alternative<std::monostate>(value) || text.empty() || !in_range(option, value);
  return unset || !takes_value(option) ? option.help : fmt::format("{}; default: {}", option.help, text);
}

void assign(const Option& option, const std::vector<std::string>& words) {
  const Member& member = option.member;
  const bool negates = flag_of(option).starts_with("--no-");
  if (member.kind == Kind::flag) {
    member.set(!negates);
  } else if (member.kind == Kind::words) {
    member.set(words);
  } else {
    const std::string word = !option.is(kSwitch) ? words.at(0) : negates ? member.names[0] : member.names[1];
    const OptionValue value = value_from(option, word);
    if (std::holds_alternative<std::monostate>(value) || !in_range(option, value) || !member.set(value)) {
      throw Error(Fault::usage, fmt::format("{} {}: expected {}", flag_of(option), word, expected(option)));
    }
  }
}

void check(const Options& options) {
  for (const Option& option : options) {
    const OptionValue value = option.member.get();
    if (in_range(option, value)) continue;
    throw Error(Fault::usage, fmt::format("{} {}: expected {}", flag_of(option), to_text(value), expected(option)));
  }
}

void check_uses(const Options& options, const std::set<std::string>& given) {
  for (const Option& option : options) {
    const std::vector<std::string>& values = option.only_with.values;
    if (!given.contains(option.name) || values.empty()) continue;
    const Option& chooser = find_option(options, option.only_with.option);
    const std::string chosen = to_text(chooser.member.get());
    // Nothing is chosen yet: whoever chooses checks again.
    if (chosen.empty() || std::find(values.begin(), values.end(), chosen) != values.end()) continue;
    throw Error(Fault::usage, fmt::format("{} does nothing with {} {}: leave it out, or take {}", flag_of(option),
                                          flag_of(chooser), chosen, listed(values)));
  }
}

std::vector<Difference> differences(const Options& one, const Options& other) {
  std::vector<Difference> list;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const OptionValue first = one[i].member.get(), second = other.at(i).member.get();
    if (first != second) list.push_back({one[i].name, first, second});
  }
  return list;
}

std::vector<std::string> words_of(const Options& options, const Options& defaults) {
  std::vector<std::string> words;
  for (const Difference& difference : differences(options, defaults)) {
    const Option& option = find_option(options, difference.name);
    if (!is_positional(option)) words.push_back(flag_of(option));
    if (takes_value(option)) words.push_back(to_text(difference.one));
  }
  return words;
}

Member detail::choice(std::vector<std::string> names, const std::optional<std::string>& unset, std::function<int()> get,
                      std::function<void(int)> set) {
  const auto read = [names, unset, get]() -> OptionValue {
    const int index = get();
    if (index < 0) return unset->empty() ? OptionValue() : OptionValue(*unset);
    return names.at(static_cast<std::size_t>(index));
  };
  const auto write = [names, unset, set](const OptionValue& value) {
    const auto* name = std::get_if<std::string>(&value);
    const auto found = name == nullptr ? names.end() : std::find(names.begin(), names.end(), *name);
    const bool none = unset && (name == nullptr ? std::holds_alternative<std::monostate>(value) : *name == *unset);
    if (found == names.end() && !none) return false;
    set(none ? -1 : static_cast<int>(found - names.begin()));
    return true;
  };
  Member member(Kind::text, read, write);
  if (unset && !unset->empty()) names.insert(names.begin(), *unset);
  member.expected = listed(names);
  member.names = std::move(names);
  return member;
}

}  // namespace lipschitzlr::run
