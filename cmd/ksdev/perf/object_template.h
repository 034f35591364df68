// SPDX-License-Identifier: Apache-2.0
#pragma once
// One template file, from which objects are made.

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "ksdev/perf/text_template.h"

namespace ks::ctl::dev::perf {

// Threads: immutable.
class ObjectTemplate {
 public:
  // As text/template.
  static Result<ObjectTemplate> Load(const std::string& path);
  // As YAML alone: some operations of upstream do not render what they read.
  static Result<ObjectTemplate> LoadPlain(const std::string& path);

  // `index` of `count`, with the operation's templateParams. Errors name the file.
  Result<nlohmann::json> Make(size_t index, size_t count, const nlohmann::json& params) const;

 private:
  std::string path_;
  TextTemplate text_;
  nlohmann::json constant_;  // null: made for each
};

}  // namespace ks::ctl::dev::perf
