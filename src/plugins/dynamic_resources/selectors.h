// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device selectors: the programs that a class and a request ask together, and what they said about
// the devices of a slice. What is said once serves all pods that ask the same.
//
// Upstream: docs/spec/plugins-dra.md sections 6.3 c and 7.4.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "base/bounded_cache.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "cel/engine.h"
#include "plugins/dynamic_resources/expression.h"

namespace ks::plugins {

// The selectors of a class, then those of a request. Immutable.
class SelectorSet {
 public:
  struct Failure {
    bool of_class = false;
    std::string text;  // "selector #0 …", without the prefix that names the class or the claim
  };
  enum class Verdict : uint8_t { kNotAsked = 0, kNo, kYes, kFails };

  using Selectors = std::vector<Expression>;
  SelectorSet(uint64_t number, std::string texts, Selectors of_class, Selectors of_request);

  // Never given twice in a process.
  uint64_t number() const { return number_; }
  // What makes it this set: two of equal texts ask the same.
  const std::string& texts() const { return texts_; }
  bool empty() const { return of_class_.empty() && of_request_.empty(); }

  // What asking can cost: the sum of the programs' weights (cel/weight.h), or cel::kUnbounded.
  size_t weight() const { return weight_; }
  // Of the programs that it does not keep.
  size_t left_bytes() const;
  // Memory in use, roughly.
  size_t bytes() const;

  // Without a limit of costs that differs from upstream's. A cancelled verdict means nothing.
  Verdict Ask(const cel::Device& device, const cel::EvalOptions& options = {}) const;
  // The same for at most `budget` units of cost, of which it takes what it uses; kNotAsked: they do
  // not suffice. Requires: left_bytes() is 0, so that nothing is compiled.
  Verdict AskWithin(const cel::Device& device, uint64_t& budget) const;
  // Why Ask answers kFails. `name`: driver/pool/device. Requires: it does.
  Failure Explain(const cel::Device& device, std::string_view name) const;

 private:
  // Takes what it uses of the budget.
  static Verdict AskAll(const Selectors& selectors, const cel::Device& device,
                        const cel::EvalOptions& options, uint64_t& budget);
  Verdict Ask(const cel::Device& device, const cel::EvalOptions& options, uint64_t& budget) const;
  static std::string ExplainAll(const Selectors& selectors, const cel::Device& device,
                                std::string_view name);

  const uint64_t number_;
  const std::string texts_;
  const Selectors of_class_;
  const Selectors of_request_;
  const size_t weight_;
};

// Threads: any. Lifetime: the engine must outlive it.
class SelectorSets {
 public:
  explicit SelectorSets(cel::Engine& engine) : engine_(engine) {}

  using SetPtr = std::shared_ptr<const SelectorSet>;
  using Texts = std::vector<api::DeviceSelector>;  // of which each has an expression

  // The expression of a derived attribute.
  Expression Derived(const std::string& expression);

  // The set of these texts, the same one for the same texts while it is remembered. Nobody waits
  // while another thread compiles.
  SetPtr Get(const Texts& of_class, const Texts& of_request);
  // Null: it is not remembered.
  SetPtr Find(const Texts& of_class, const Texts& of_request);

 private:
  // What is remembered; what was used longest ago is forgotten first. Usual sets are small.
  static constexpr CacheLimits kLimits{.values = 4096, .bytes = size_t{64} << 20};

  SelectorSet::Selectors Compile(const Texts& texts);
  SetPtr Find(const std::string& key);

  cel::Engine& engine_;
  Mutex mutex_;
  BoundedCache<std::string, const SelectorSet> sets_ KS_GUARDED_BY(mutex_);
  std::atomic<uint64_t> next_ = 1;
};

// What sets said about the devices of one slice, by position. A device is asked when somebody
// wants to know, and once. Where that takes long, verdict_table.h has the verdicts.
// Threads: any.
class SliceVerdicts {
 public:
  using Verdicts = std::vector<std::atomic<uint8_t>>;

  // The verdicts of a set; kept for the sets that were asked for last.
  std::shared_ptr<Verdicts> Of(const SelectorSet& set, size_t devices);

 private:
  static constexpr size_t kMaxSets = 32;
  struct Kept {
    uint64_t set = 0;
    std::shared_ptr<Verdicts> verdicts;
  };
  Mutex mutex_;
  std::vector<Kept> kept_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::plugins
