// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the converters of convert.h share: the notes and the v1 tree under construction.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/convert/convert.h"

namespace ks::config {

// Lifetime: of one conversion.
class Draft {
 public:
  using Json = nlohmann::json;

  explicit Draft(const ConvertOptions& options) : options_(options) {}

  bool keep_legacy() const { return options_.keep_legacy; }
  void Note(std::string_view path, std::string_view text);
  const std::vector<std::string>& notes() const { return notes_; }
  // Empty, or why the file cannot be converted.
  const std::string& failure() const { return failure_; }

  // The arguments of a plugin in a profile; made when missing.
  static Json& Args(Json& profile, std::string_view plugin);
  // The entries of a plugin list, made when missing.
  static Json& Entries(Json& profile, std::string_view point, const char* list);
  // Whether an entry of that name is there.
  static bool Lists(const Json& profile, std::string_view point, const char* list,
                    std::string_view plugin);
  // Adds an entry unless there is one; weights of a repeated name are added up.
  static void Enable(Json& profile, std::string_view point, std::string_view plugin,
                     std::optional<int64_t> weight = {});
  static void Disable(Json& profile, std::string_view point, std::string_view plugin);

  // Only nodes that have (or lack) the label; several calls must all hold.
  static void RequireLabel(Json& profile, const std::string& label, bool present);
  static void PreferLabel(Json& profile, const std::string& label, bool present, int64_t weight);
  // A soft constraint in the list that replaces PodTopologySpread's built-in ones; the first one
  // for a label stays.
  static void SpreadOver(Json& profile, const std::string& label, int max_skew);
  // Sets NodeResourcesFit's strategy. A second, different one is noted and left out: false.
  bool UseStrategy(Json& profile, const std::string& path, Json strategy);

  // Fields of any case, as the old decoders read them; null when there is none.
  static const Json* Field(const Json& object, std::string_view name);
  // Typed access; absent or null: `otherwise`. Another type is a failure of the conversion; the
  // first one is kept and `otherwise` returned.
  std::string Text(const Json& object, std::string_view name, const std::string& path);
  int64_t Number(const Json& object, std::string_view name, const std::string& path,
                 int64_t otherwise);
  bool Flag(const Json& object, std::string_view name, const std::string& path);
  std::vector<std::string> Texts(const Json& object, std::string_view name,
                                 const std::string& path);
  // An empty list when there is none.
  Json ListOf(const Json& object, std::string_view name, const std::string& path);

 private:
  void Fail(const std::string& path, std::string_view name, std::string_view wanted);

  const ConvertOptions options_;
  std::vector<std::string> notes_;
  std::string failure_;
};

// Both return the v1 document; it is of no use once the draft has failed.
nlohmann::json ConvertPolicy(const nlohmann::json& policy, Draft& draft);
nlohmann::json ConvertVersion(const nlohmann::json& old, std::string_view version, Draft& draft);

}  // namespace ks::config
