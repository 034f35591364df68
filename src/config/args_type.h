// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the program can do with arguments of plugins, whatever their type: read, complete, check and
// print them. It all follows from one table of fields a type (args/args_tables.cc). Not for what a
// plugin makes of its arguments, nor for plugins without a type of arguments.
//
// Upstream: docs/spec/config.md sections 2.8, 3.7, 4 and 7.

#include <span>
#include <string>
#include <string_view>

#include "config/plugin_args.h"

namespace ks::config {

class Decoder;
class FeatureGates;
class JsonBuilder;
class Report;
struct Value;

// Requires, where arguments are taken: they are of this type.
struct ArgsType {
  std::string_view plugin;  // "VolumeBinding"
  std::string_view kind;    // "VolumeBindingArgs"
  // The plugin's factory calls `check`; the validation of a configuration must leave it alone.
  bool checked_by_factory = false;

  // With the member initializers of the type, not completed.
  PluginArgs (*make)() = nullptr;
  // Replaces `args`, whatever they are, by what stands in `value`, the root of the decoder.
  void (*decode)(Decoder& decoder, const Value& value, PluginArgs& args) = nullptr;
  // Fills in the defaults that are no member initializers.
  void (*complete)(PluginArgs& args, const FeatureGates& gates) = nullptr;
  // Reports what is wrong with completed arguments, which stand at `path`; empty: paths begin at
  // the arguments.
  void (*check)(const PluginArgs& args, const std::string& path, const FeatureGates& gates,
                Report& report) = nullptr;
  // An object as in files, kind and apiVersion first.
  void (*append)(const PluginArgs& args, JsonBuilder& out) = nullptr;
  // An object as upstream's error messages show it (3.7).
  void (*append_go)(const PluginArgs& args, JsonBuilder& out) = nullptr;
};

// One for each type of PluginArgs that is neither std::monostate nor RawArgs, sorted by plugin.
std::span<const ArgsType> ArgsTypes();

// Null: the plugin has no type of arguments; there is no such kind; the arguments are none or raw.
const ArgsType* FindArgsType(std::string_view plugin);
const ArgsType* FindArgsKind(std::string_view kind);
const ArgsType* ArgsTypeOf(const PluginArgs& args);

}  // namespace ks::config
