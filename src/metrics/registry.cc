// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <utility>

#include "base/check.h"
#include "metrics/text_format.h"

namespace ks::metrics {
namespace {

std::string HelpText(const Description& description) {
  std::string_view bracket;
  switch (description.stability) {
    case Stability::kAlpha:
      bracket = "[ALPHA] ";
      break;
    case Stability::kBeta:
      bracket = "[BETA] ";
      break;
    case Stability::kStable:
      bracket = "[STABLE] ";
      break;
    case Stability::kInternal:
      bracket = "[INTERNAL] ";
      break;
  }
  return std::string(bracket).append(description.help);
}

}  // namespace

std::vector<double> ExponentialBuckets(double start, double factor, size_t count) {
  std::vector<double> bounds;
  bounds.reserve(count);
  for (double bound = start; bounds.size() < count; bound *= factor) bounds.push_back(bound);
  return bounds;
}

// prometheus-cpp merges families of one name silently, keeping the first help text.
void Registry::Claim(std::string_view name) {
  MutexLock lock(mutex_);
  KS_CHECK(names_.emplace(name).second, "a metric of this name exists");
}

Family<Counter>& Registry::AddCounter(const Description& description) {
  Claim(description.name);
  return prometheus::BuildCounter()
      .Name(std::string(description.name))
      .Help(HelpText(description))
      .Register(registry_);
}

Family<Gauge>& Registry::AddGauge(const Description& description) {
  Claim(description.name);
  return prometheus::BuildGauge()
      .Name(std::string(description.name))
      .Help(HelpText(description))
      .Register(registry_);
}

Family<Histogram>& Registry::AddHistogram(const Description& description) {
  Claim(description.name);
  return prometheus::BuildHistogram()
      .Name(std::string(description.name))
      .Help(HelpText(description))
      .Register(registry_);
}

std::shared_ptr<void> Registry::BeforeText(std::function<void()> update) {
  auto token = std::make_shared<std::function<void()>>(std::move(update));
  MutexLock lock(mutex_);
  std::erase_if(updates_, [](const auto& entry) { return entry.expired(); });
  updates_.push_back(token);
  return token;
}

std::string Registry::Text() const {
  std::vector<std::weak_ptr<std::function<void()>>> updates;
  {
    MutexLock lock(mutex_);
    updates = updates_;
  }
  for (const auto& entry : updates) {
    if (const auto update = entry.lock()) (*update)();
  }
  return FormatText(registry_.Collect());
}

}  // namespace ks::metrics
