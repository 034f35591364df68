// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fields of one mapping of a case file, each taken once by name; what is left over is an error.

#include <chrono>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ksdev/perf/parameters.h"

namespace ks::ctl::dev::perf {

using TextMap = std::map<std::string, std::string>;

// The first fault is kept, and what is read after it is of no use. Threads: one.
// Lifetime: borrows both arguments.
class Fields {
 public:
  // `parameters` may be null: then fields that name a parameter are checked for their form only.
  Fields(const nlohmann::json& mapping, Parameters* parameters);

  // Absent fields give the empty value.
  std::string Text(const char* name);
  std::string RequiredText(const char* name);
  // With a suffix: of a file below this folder.
  std::string Path(const char* name, const std::string& folder);
  std::vector<std::string> Paths(const char* name, const std::string& folder);
  bool Flag(const char* name);
  double Number(const char* name);
  size_t Whole(const char* name);
  std::vector<std::string> Texts(const char* name);
  TextMap Map(const char* name);
  // The field as it is; null when it is absent.
  nlohmann::json Tree(const char* name);
  bool Has(const char* name) const;

  // These may also come as `<name>Param: $parameter`, which has precedence.
  size_t Count(const std::string& name, size_t otherwise = 0);
  bool FlagOrParameter(const std::string& name);
  Duration Time(const std::string& name);
  // 1 when it is absent.
  size_t Multiplier(const std::string& name);
  // A mapping whose values may be "$name" or "$name|default".
  nlohmann::json TemplateParameters(const char* name);

  void Fail(const std::string& text);
  // The first fault, or the first field that nobody took.
  Result<void> Finish() const;

 private:
  // Null when it is absent.
  const nlohmann::json* Take(const std::string& name);
  // Of `<name>Param`: absent, or its value; null without parameters.
  std::optional<nlohmann::json> Parameter(const std::string& name);
  size_t ToWhole(const nlohmann::json& value, const std::string& name);
  Duration ToDuration(const nlohmann::json& value, const std::string& name);

  const nlohmann::json& mapping_;
  Parameters* const parameters_;
  std::set<std::string> taken_;
  std::optional<std::string> fault_;
};

}  // namespace ks::ctl::dev::perf
