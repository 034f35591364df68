// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading plugin arguments from JSON with clear errors, all of them at once. Not for validating
// values: each plugin knows its own rules.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "config/plugin_args.h"
#include "config/text/findings.h"

namespace ks::plugins {

// The arguments as JSON; null when there are none.
nlohmann::json JsonOf(const config::PluginArgs& args);

// What is wrong with the arguments, in the order of finding. Paths are below the arguments.
using ArgsFaults = std::vector<config::Finding>;

// The first of them. Requires: there is one.
Error FirstOf(const ArgsFaults& faults);

// A plugin's way of reading: `read(args, &faults)` gives what it makes of the arguments, with a
// fault for each thing that is wrong in them.

// All those faults, for PluginEntry::args_faults.
template <class Read>
ArgsFaults FaultsOf(const config::PluginArgs& args, const Read& read) {
  ArgsFaults faults;
  read(args, &faults);
  return faults;
}

// What `read` gives, or its first fault, for the plugin's factory.
template <class Read>
auto ReadOrFault(const config::PluginArgs& args, const Read& read)
    -> Result<std::invoke_result_t<const Read&, const config::PluginArgs&, ArgsFaults*>> {
  ArgsFaults faults;
  auto made = read(args, &faults);
  if (!faults.empty()) return FirstOf(faults);
  return made;
}

// One JSON object of the arguments. A field that cannot be read has a fault in `*faults` and gives
// the default. Absent and null fields are the same.
// Lifetime: `value` and `faults` outlive the reader and its children.
class ArgsReader {
 public:
  // `path` is the object's place in error texts, empty for the root. `known`: all field names that
  // the object may have; at the root also apiVersion and kind.
  ArgsReader(const nlohmann::json& value, std::string path,
             std::initializer_list<std::string_view> known, ArgsFaults* faults);

  bool Has(std::string_view field) const;
  std::string Text(std::string_view field) const;
  // `lowest` and `highest` bound the type, not the meaning.
  int64_t Integer(std::string_view field, int64_t lowest, int64_t highest) const;
  // As many as the list has; what is no text is empty.
  std::vector<std::string> Texts(std::string_view field) const;
  // Requires: Has(field).
  ArgsReader Object(std::string_view field, std::initializer_list<std::string_view> known) const;
  std::vector<ArgsReader> Objects(std::string_view field,
                                  std::initializer_list<std::string_view> known) const;
  // "a.b[0].field".
  std::string Path(std::string_view field) const;
  // Adds `message`, after the path, for a field that has no fault yet.
  void Fault(std::string_view field, const std::string& message) const;

 private:
  // Null when absent.
  const nlohmann::json* Find(std::string_view field) const;
  void Expected(const std::string& path, std::string_view what, const nlohmann::json& value) const;
  void FaultAt(const std::string& path, const std::string& message) const;

  const nlohmann::json* value_;
  std::string path_;
  ArgsFaults* faults_;
};

}  // namespace ks::plugins
