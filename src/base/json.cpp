#include "base/json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace lipschitzlr {
namespace {

// The brackets that are open at once, at most. What is not JSON may be counted wrongly: the parser refuses it anyway.
int nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '"') quoted = !quoted;
    if (quoted) {
      i += letter == '\\';
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return deepest;
}

[[noreturn]] void refuse_json(const std::string& what, const std::string& fault) {
  throw Error(Fault::data, what.empty() ? fault : what + ": " + fault);
}

[[noreturn]] void refuse_json(const std::string& what, const nlohmann::detail::exception& error) {
  const auto* const syntax = dynamic_cast<const nlohmann::detail::parse_error*>(&error);
  refuse_json(what, syntax != nullptr ? fmt::format("is not valid JSON (byte {})", syntax->byte)
                                      : "holds a number that is too large");
}

// What nlohmann's parser would not find.
void check_text(std::string_view text, const std::string& what) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse_json(what, "is empty");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    refuse_json(what, fmt::format("is not valid JSON (byte {})", zero + 1));  // the parser would take it for the end
  }
  if (nesting(text) > kDeepestJson) refuse_json(what, fmt::format("is nested more than {} deep", kDeepestJson));
}

template <class Json>
Json parse(std::string_view text, const std::string& what) {
  check_text(text, what);
  try {
    return Json::parse(text);
  } catch (const typename Json::exception& error) {
    refuse_json(what, error);
  }
}

// Takes the fields of the outermost object as the parser meets them.
class FieldReader : public nlohmann::json::json_sax_t {
 public:
  FieldReader(const std::string& what, std::size_t most) : what_(what), most_(most) {}

  bool null() override { return take(nullptr); }
  bool boolean(bool value) override { return take(value); }
  bool number_integer(std::int64_t value) override { return take(value); }
  bool number_unsigned(std::uint64_t value) override { return take(value); }
  bool number_float(double value, const std::string&) override { return take(value); }
  bool string(std::string& value) override { return take(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return true; }  // not in texts
  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    if (depth_ == 1) fields_.push_back({std::move(name), {}});
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    refuse_json(what_, error);
  }

  std::vector<JsonField> fields() { return std::move(fields_); }

 private:
  bool take(nlohmann::json value) {
    if (depth_ != 1 || fields_.empty()) return true;  // of a list or an object, or no object at all
    fields_.back().value = std::move(value);
    return fields_.size() < most_;
  }

  bool open(nlohmann::json empty) {
    const bool more = take(std::move(empty));
    ++depth_;
    return more;
  }

  bool close() {
    --depth_;
    return true;
  }

  const std::string& what_;
  std::size_t most_;
  int depth_ = 0;
  std::vector<JsonField> fields_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what) { return parse<nlohmann::json>(text, what); }

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what) {
  return parse<nlohmann::ordered_json>(text, what);
}

std::vector<JsonField> parse_json_fields(std::string_view text, const std::string& what, std::size_t most) {
  check_text(text, what);
  FieldReader reader(what, most);
  nlohmann::json::sax_parse(text, &reader);
  return reader.fields();
}

double number_or(const nlohmann::json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t whole_or(const nlohmann::json& object, const char* key, std::int64_t otherwise) {
  const double number = number_or(object, key, NAN);
  return std::abs(number) < 1e15 ? static_cast<std::int64_t>(number) : otherwise;
}

std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_string()) return found->get<std::string>();
  return found != object.end() && found->is_number() ? fmt::format("{}", found->get<double>()) : otherwise;
}

}  // namespace lipschitzlr
