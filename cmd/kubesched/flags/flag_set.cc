// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags/flag_set.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "kubesched/flags/go_values.h"

namespace ks::flags {
namespace {

std::string Normalized(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

std::string Brackets(const std::string& text) { return "[" + text + "]"; }

// "  -v, --v Level" or "      --name type".
std::string HelpName(const Flag& flag) {
  std::string text =
      flag.shorthand != 0 ? std::string("  -") + flag.shorthand + ", --" : "      --";
  text += flag.name;
  if (!flag.type.empty()) text += " " + flag.type;
  // A bool's value is not shown; `--version` takes others, too.
  if (!flag.no_value.empty() && !flag.type.empty()) text += "[=" + flag.no_value + "]";
  return text;
}

void AppendHelpLine(std::string& out, const Flag& flag, size_t width) {
  std::string name = HelpName(flag);
  name.resize(width, ' ');
  out += name + "   ";
  for (const char c : flag.usage) {
    out += c;
    if (c == '\n') out += std::string(width + 3, ' ');
  }
  if (!flag.default_text.empty()) out += " (default " + flag.default_text + ")";
  out += '\n';
}

// A setter that parses and stores.
template <class T, class Parse>
std::function<Result<void>(const std::string&)> Setter(T* value, Parse parse) {
  return [value, parse](const std::string& text) -> Result<void> {
    auto parsed = parse(text);
    if (!parsed.ok()) return parsed.error();
    *value = static_cast<T>(std::move(parsed).value());
    return {};
  };
}

Result<std::vector<int32_t>> ParseInt32s(const std::string& text) {
  std::vector<int32_t> values;
  size_t start = 0;
  while (true) {
    const size_t end = std::min(text.find(',', start), text.size());
    auto number = ParseInt(text.substr(start, end - start), 0, 32);
    if (!number.ok()) return number.error();
    values.push_back(static_cast<int32_t>(number.value()));
    if (end == text.size()) return values;
    start = end + 1;
  }
}

// A setter for lists: the first value replaces, the others are appended.
template <class T, class Parse>
std::function<Result<void>(const std::string&)> ListSetter(std::vector<T>* value, Parse parse) {
  return [value, parse,
          changed = std::make_shared<bool>(false)](const std::string& text) -> Result<void> {
    auto parsed = parse(text);
    if (!parsed.ok()) return parsed.error();
    if (!*changed) value->clear();
    *changed = true;
    value->insert(value->end(), parsed.value().begin(), parsed.value().end());
    return {};
  };
}

Result<std::map<std::string, std::string>> ParseMap(const std::string& text) {
  const auto malformed = [](const std::string& pair) {
    return Error{pair + " must be formatted as key=value"};
  };
  std::vector<std::string> pairs;
  const auto signs = std::count(text.begin(), text.end(), '=');
  if (signs == 0) return malformed(text);
  if (signs == 1) {
    const size_t first = text.find_first_not_of('"');
    const size_t last = text.find_last_not_of('"');
    pairs.push_back(text.substr(first, last - first + 1));
  } else {
    auto read = ParseCsv(text);
    if (!read.ok()) return read.error();
    pairs = std::move(read).value();
  }
  std::map<std::string, std::string> values;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) return malformed(pair);
    values[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return values;
}

}  // namespace

void FlagSet::Section(std::string title) { groups_.push_back({.title = std::move(title)}); }

Flag& FlagSet::Add(Flag flag) {
  KS_CHECK(!groups_.empty() && Find(flag.name) == nullptr, "flag " + flag.name);
  groups_.back().flags.push_back(flags_.size());
  flags_.push_back(std::move(flag));
  return flags_.back();
}

void FlagSet::Bool(std::string name, bool* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .default_text = *value ? "true" : "",
       .no_value = "true",
       .set = Setter(value, ParseBool),
       .text = [value] { return std::string(*value ? "true" : "false"); }});
}

void FlagSet::String(std::string name, std::string* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "string",
       .default_text = value->empty() ? "" : Quote(*value),
       .set = [value](const std::string& text) -> Result<void> {
         *value = text;
         return {};
       },
       .text = [value] { return *value; }});
}

void FlagSet::Int(std::string name, int64_t* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "int",
       .default_text = *value == 0 ? "" : std::to_string(*value),
       .set = Setter(value, [](const std::string& text) { return ParseInt(text, 0, 64); }),
       .text = [value] { return std::to_string(*value); }});
}

void FlagSet::Int32(std::string name, int32_t* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "int32",
       .default_text = *value == 0 ? "" : std::to_string(*value),
       .set = Setter(value, [](const std::string& text) { return ParseInt(text, 0, 32); }),
       .text = [value] { return std::to_string(*value); }});
}

void FlagSet::Float32(std::string name, float* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "float32",
       .default_text = *value == 0 ? "" : FormatFloat32(*value),
       .set = Setter(value, ParseFloat32),
       .text = [value] { return FormatFloat32(*value); }});
}

void FlagSet::Time(std::string name, Duration* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "duration",
       .default_text = value->count() == 0 ? "" : FormatDuration(*value),
       .set = Setter(value, ParseDuration),
       .text = [value] { return FormatDuration(*value); }});
}

void FlagSet::Strings(std::string name, std::vector<std::string>* value, std::string usage) {
  Add({.name = std::move(name),
       .usage = std::move(usage),
       .type = "strings",
       .default_text = value->empty() ? "" : Brackets(JoinCsv(*value)),
       .set = ListSetter(value, ParseCsv),
       .text = [value] { return Brackets(JoinCsv(*value)); }});
}

void FlagSet::Int32s(std::string name, std::vector<int32_t>* value, std::string usage) {
  Flag& flag = Add({.name = std::move(name),
                    .usage = std::move(usage),
                    .type = "int32Slice",
                    .set = ListSetter(value, ParseInt32s),
                    .text = [value] {
                      std::string text;
                      for (const int32_t number : *value) {
                        text += (text.empty() ? "" : ",") + std::to_string(number);
                      }
                      return Brackets(text);
                    }});
  flag.default_text = flag.text();
}

void FlagSet::Map(std::string name, std::map<std::string, std::string>* value, std::string usage) {
  Flag& flag = Add({.name = std::move(name),
                    .usage = std::move(usage),
                    .type = "stringToString",
                    .set = [value, changed = std::make_shared<bool>(false)](
                               const std::string& text) -> Result<void> {
                      auto parsed = ParseMap(text);
                      if (!parsed.ok()) return parsed.error();
                      if (!*changed) value->clear();
                      *changed = true;
                      for (auto& [key, entry] : parsed.value()) (*value)[key] = entry;
                      return {};
                    },
                    .text =
                        [value] {
                          std::vector<std::string> pairs;
                          for (const auto& [key, entry] : *value) {
                            pairs.push_back(key + "=" + entry);
                          }
                          return Brackets(JoinCsv(pairs));
                        }});
  flag.default_text = flag.text();
}

Flag* FlagSet::Find(std::string_view name) {
  const auto found = std::find_if(flags_.begin(), flags_.end(),
                                  [name](const Flag& flag) { return flag.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

std::optional<ParseError> FlagSet::Set(Flag& flag, const std::string& value) {
  flag.given = true;
  if (Result<void> set = flag.set(value); !set.ok()) {
    const std::string shown =
        (flag.shorthand != 0 ? std::string("-") + flag.shorthand + ", --" : "--") + flag.name;
    return ParseError{"invalid argument " + Quote(value) + " for " + Quote(shown) +
                      " flag: " + set.error().message};
  }
  return std::nullopt;
}

std::optional<ParseError> FlagSet::ParseLong(const Arguments& arguments, size_t& at) {
  const std::string& argument = arguments[at++];
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
  if (name.empty() || name[0] == '-') return ParseError{"bad flag syntax: " + argument};
  Flag* flag = Find(Normalized(name));
  if (flag == nullptr) return ParseError{"unknown flag: --" + name, name};
  if (equals != std::string::npos) return Set(*flag, argument.substr(equals + 1));
  if (!flag->no_value.empty()) return Set(*flag, flag->no_value);
  if (at < arguments.size()) return Set(*flag, arguments[at++]);
  return ParseError{"flag needs an argument: " + argument};
}

std::optional<ParseError> FlagSet::ParseShort(const Arguments& arguments, size_t& at) {
  const std::string& argument = arguments[at++];
  for (size_t i = 1; i < argument.size(); ++i) {
    const char letter = argument[i];
    const auto flag = std::find_if(flags_.begin(), flags_.end(),
                                   [letter](const Flag& f) { return f.shorthand == letter; });
    const std::string place =
        std::string("'") + letter + "' in -" + argument.substr(i, std::string::npos);
    if (flag == flags_.end()) return ParseError{"unknown shorthand flag: " + place};
    const std::string rest = argument.substr(i + 1);
    if (rest.size() > 1 && rest[0] == '=') return Set(*flag, rest.substr(1));
    if (!flag->no_value.empty()) {
      if (auto error = Set(*flag, flag->no_value)) return error;
      continue;
    }
    if (!rest.empty()) return Set(*flag, rest);
    if (at < arguments.size()) return Set(*flag, arguments[at++]);
    return ParseError{"flag needs an argument: " + place};
  }
  return std::nullopt;
}

std::optional<ParseError> FlagSet::Parse(const std::vector<std::string>& arguments,
                                         std::vector<std::string>* rest) {
  size_t at = 0;
  while (at < arguments.size()) {
    const std::string& argument = arguments[at];
    if (argument.size() < 2 || argument[0] != '-') {
      rest->push_back(argument);
      ++at;
      continue;
    }
    if (argument == "--") {
      rest->insert(rest->end(), arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   arguments.end());
      return std::nullopt;
    }
    if (auto error = argument[1] == '-' ? ParseLong(arguments, at) : ParseShort(arguments, at)) {
      return error;
    }
  }
  return std::nullopt;
}

bool FlagSet::Given(std::string_view name) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [name](const Flag& flag) { return flag.name == name && flag.given; });
}

std::string FlagSet::Help() const {
  std::string out;
  for (const Group& group : groups_) {
    out += "\n" + group.title + " flags:\n\n";
    std::vector<size_t> sorted = group.flags;
    std::sort(sorted.begin(), sorted.end(),
              [this](size_t a, size_t b) { return flags_[a].name < flags_[b].name; });
    size_t width = 0;
    for (const size_t flag : sorted) width = std::max(width, HelpName(flags_[flag]).size());
    for (const size_t flag : sorted) AppendHelpLine(out, flags_[flag], width);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> FlagSet::Values() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Flag& flag : flags_) values.emplace_back(flag.name, flag.text());
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<std::string_view> FlagSet::Names() const {
  std::vector<std::string_view> names;
  for (const Flag& flag : flags_) names.emplace_back(flag.name);
  return names;
}

}  // namespace ks::flags
