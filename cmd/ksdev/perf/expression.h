// SPDX-License-Identifier: Apache-2.0
#pragma once
// Expressions between {{ and }} of the suite's templates: fields, variables, literals, calls and
// pipes, as far as the suite uses them. Values are JSON.
//
// Upstream: Go's text/template, with the suite's functions AddInt, DivideInt, Int, JSON and Mod.

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::ctl::dev::perf {

// What an expression may look at. Lifetime: borrows the fields.
struct Scope {
  const nlohmann::json& fields;  // `.name`
  nlohmann::json dot;            // `.` within a range; else null
  std::map<std::string, nlohmann::json, std::less<>> variables;
};

// Threads: immutable.
class Expression {
 public:
  // Error: what is no expression, or one that no file of the suite had when this was written.
  static Result<Expression> Parse(std::string_view text);

  // A field that is missing is null. Errors: a variable that is unknown, arguments that do not fit.
  Result<nlohmann::json> Evaluate(const Scope& scope) const;

 private:
  friend class ExpressionParser;
  enum class Kind : char { kField, kDot, kVariable, kLiteral, kCall };

  Kind kind_ = Kind::kLiteral;
  std::string name_;
  nlohmann::json literal_;
  std::vector<Expression> arguments_;
};

// As Go counts truth: neither null, false, zero nor empty.
bool Truth(const nlohmann::json& value);
// As a template prints it.
std::string Printed(const nlohmann::json& value);
// A whole number, if the value is one or says one.
Result<int64_t> ToWhole(const nlohmann::json& value);

}  // namespace ks::ctl::dev::perf
