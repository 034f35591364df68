// SPDX-License-Identifier: Apache-2.0
#pragma once
// Command-line flags with pflag's grammar and help layout. Not for the meaning of flags: that is
// flags.cc. Why not a library: docs/decisions/0017-pflag-grammar.md.
//
// Grammar: `--name=value`, `--name value` (whatever the value looks like), a bool takes its value
// with `=` only; `-v3`, `-v 3`, `-v=3`; underscores in names are dashes; `--` ends the flags; the
// first error, from left to right, ends parsing; a flag given twice: the last one wins, lists grow.
//
// Upstream: docs/spec/config.md sections 8.1, 8.2 and 8.6.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ks::flags {

struct Flag {
  std::string name;
  std::string usage;         // lines are separated by '\n'
  char shorthand = 0;        // 0: none
  std::string type;          // as help shows it; empty for a bool
  std::string default_text;  // as help shows it; empty: not shown
  std::string no_value;      // the value of `--name` alone; empty: a value must follow
  std::function<Result<void>(const std::string&)> set;
  std::function<std::string()> text;  // the present value as the log shows it
  bool given = false;
};

struct ParseError {
  std::string text;
  std::string unknown;  // name of an unknown flag without its dashes, else empty
};

// Threads: one. Lifetime: what the typed functions point to outlives the set.
class FlagSet {
 public:
  // Starts a section of the help; flags are added to the last one.
  void Section(std::string title);

  // Requires: a name that is not taken yet. Lists: the first value given replaces the default,
  // further ones are appended. Returned references live until the next flag is added.
  Flag& Add(Flag flag);
  void Bool(std::string name, bool* value, std::string usage);
  void String(std::string name, std::string* value, std::string usage);
  void Int(std::string name, int64_t* value, std::string usage);
  void Int32(std::string name, int32_t* value, std::string usage);
  void Float32(std::string name, float* value, std::string usage);
  void Time(std::string name, Duration* value, std::string usage);
  void Strings(std::string name, std::vector<std::string>* value, std::string usage);
  void Int32s(std::string name, std::vector<int32_t>* value, std::string usage);
  // key=value
  void Map(std::string name, std::map<std::string, std::string>* value, std::string usage);

  // Sets what `arguments` (without the program's name) say. What is no flag goes to `rest`.
  std::optional<ParseError> Parse(const std::vector<std::string>& arguments,
                                  std::vector<std::string>* rest);

  bool Given(std::string_view name) const;
  // The sections with their flags, sorted by name within a section.
  std::string Help() const;
  // Name and value of all flags, sorted by name.
  std::vector<std::pair<std::string, std::string>> Values() const;
  std::vector<std::string_view> Names() const;

 private:
  struct Group {
    std::string title;
    std::vector<size_t> flags;
  };
  using Arguments = std::vector<std::string>;

  Flag* Find(std::string_view name);
  std::optional<ParseError> ParseLong(const Arguments& arguments, size_t& at);
  std::optional<ParseError> ParseShort(const Arguments& arguments, size_t& at);
  static std::optional<ParseError> Set(Flag& flag, const std::string& value);

  std::vector<Flag> flags_;
  std::vector<Group> groups_;
};

}  // namespace ks::flags
