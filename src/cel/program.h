// SPDX-License-Identifier: Apache-2.0
#pragma once
// One compiled selector and its evaluation on devices. How often a text is compiled is engine.h's.
//
// Upstream: docs/spec/cel.md sections 1, 6.3, 7 and 8.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cel/checker.h"
#include "cel/context.h"
#include "cel/device.h"
#include "cel/node.h"
#include "cel/value.h"

namespace ks::cel {

struct EvalOptions {
  uint64_t cost_limit = 1'000'000;
  // Set by others: the evaluation shall end with `operation interrupted`. Null: never.
  const std::atomic<bool>* cancelled = nullptr;
};

// What a selector says about a device.
struct Verdict {
  bool matches = false;
  std::string error{};      // upstream's text; empty: none
  uint64_t cost = 0;        // 0 if the verdict was remembered
  bool over_limit = false;  // the error is that the limit of costs was passed

  bool ok() const { return error.empty(); }
};

// What the planner makes. Nodes and constants point into it.
struct Plan {
  std::vector<std::unique_ptr<Node>> nodes{};
  Checked checked{};  // nodes use its texts
  const Node* root = nullptr;
  size_t slots = 0;
  Context constants{nullptr, {}};
};

// Immutable. Threads: any.
class Program {
 public:
  enum class Wanted : uint8_t { kSelector, kAttribute, kAny };

  // Errors: upstream's texts (`compilation failed: …`, `program instantiation failed: …`, `must
  // evaluate to bool or the unknown type, not int`); with kAny any type is allowed, with kAttribute
  // what a device can have as an attribute.
  static Result<std::shared_ptr<const Program>> Compile(std::string_view text,
                                                        Wanted wanted = Wanted::kSelector);

  // Remembers verdicts that are no errors in the device. Without a limit of costs that differs
  // from upstream's the cost does not matter to the verdict.
  Verdict Evaluate(const Device& device, const EvalOptions& options = {}) const;
  // Asks no memory and leaves nothing in it.
  Verdict EvaluateAnew(const Device& device, const EvalOptions& options = {}) const;

  // The result as an attribute. Errors: upstream's texts.
  Result<DeviceContent::AttributeValue> Derive(const Device& device,
                                               const EvalOptions& options = {}) const;

  // The value of any type, or an error; it lives as long as the context.
  Value Run(Context& context) const;
  // The static type of the result: "list(int)".
  const std::string& type_text() const { return type_text_; }

  // Memory in use, roughly.
  size_t bytes() const;
  // What an evaluation can cost (WeightOf).
  size_t weight() const { return weight_; }

 private:
  Program(std::unique_ptr<Plan> plan, std::string type_text);

  Value RunWithoutAdvice(Context& context) const;

  const std::unique_ptr<Plan> plan_;
  const std::string type_text_;
  const size_t weight_;
  const uint32_t number_;  // of this process's programs, from 1: the key of memos
};

// The environment of selectors: the variable `device`.
const Environment& DeviceEnvironment();

}  // namespace ks::cel
