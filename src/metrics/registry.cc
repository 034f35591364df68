// SPDX-License-Identifier: Apache-2.0
#include "metrics/registry.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/logging.h"
#include "metrics/text_format.h"

namespace ks::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// The minor release of upstream whose metrics these are.
constexpr int kReferenceMinor = 37;
constexpr std::string_view kUnexpected = "unexpected";

std::string_view StabilityText(Stability stability) {
  switch (stability) {
    case Stability::kAlpha:
      return "ALPHA";
    case Stability::kBeta:
      return "BETA";
    case Stability::kStable:
      return "STABLE";
    case Stability::kInternal:
      return "INTERNAL";
    case Stability::kNone:
      break;
  }
  return {};
}

std::string HelpText(const Description& description) {
  std::string text;
  if (description.stability != Stability::kNone) {
    text.append("[").append(StabilityText(description.stability)).append("] ");
  }
  if (!description.deprecated_since.empty()) {
    text.append("(Deprecated since ").append(description.deprecated_since).append(") ");
  }
  return text.append(description.help);
}

// "1.37.0" -> 37.
int MinorOf(std::string_view version) {
  const size_t dot = version.find('.');
  int minor = 0;
  if (dot != std::string_view::npos) {
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  }
  return minor;
}

bool HiddenByAge(Stability stability, std::string_view deprecated_since) {
  if (deprecated_since.empty()) return false;
  int minors_shown = 0;
  if (stability == Stability::kBeta) minors_shown = 1;
  if (stability == Stability::kStable) minors_shown = 3;
  return kReferenceMinor >= MinorOf(deprecated_since) + minors_shown;
}

void Sort(MetricFamily* family) {
  for (ClientMetric& metric : family->metric) std::sort(metric.label.begin(), metric.label.end());
  std::sort(family->metric.begin(), family->metric.end(),
            [](const ClientMetric& a, const ClientMetric& b) { return a.label < b.label; });
}

void SumHistogram(ClientMetric::Histogram* sum, const ClientMetric::Histogram& other, int sign) {
  const auto add = [sign](uint64_t* number, uint64_t by) {
    *number = sign > 0 ? *number + by : *number - std::min(*number, by);
  };
  add(&sum->sample_count, other.sample_count);
  sum->sample_sum += sign * other.sample_sum;
  for (size_t i = 0; i < std::min(sum->bucket.size(), other.bucket.size()); ++i) {
    add(&sum->bucket[i].cumulative_count, other.bucket[i].cumulative_count);
  }
}

// Recordings that a series stands for; what a counter counts comes in ones.
double Recordings(MetricType type, const ClientMetric& metric) {
  if (type == MetricType::Histogram) return static_cast<double>(metric.histogram.sample_count);
  return type == MetricType::Counter ? metric.counter.value : 1;
}

// Renames the values that are not allowed and sums series that became equal. Returns how many
// recordings had a value replaced.
double AllowLabels(const std::map<std::string, std::set<std::string>>& allowed,
                   MetricFamily* family) {
  double replaced = 0;
  for (ClientMetric& metric : family->metric) {
    for (auto& label : metric.label) {
      const auto values = allowed.find(label.name);
      if (values == allowed.end() || values->second.contains(label.value)) continue;
      label.value = kUnexpected;
      replaced += Recordings(family->type, metric);
    }
  }
  Sort(family);
  std::vector<ClientMetric> merged;
  for (ClientMetric& metric : family->metric) {
    if (merged.empty() || merged.back().label != metric.label) {
      merged.push_back(std::move(metric));
      continue;
    }
    merged.back().counter.value += metric.counter.value;
    merged.back().gauge.value += metric.gauge.value;
    SumHistogram(&merged.back().histogram, metric.histogram, 1);
  }
  family->metric = std::move(merged);
  return replaced;
}

MetricFamily CounterFamily(std::string name, Stability stability, std::string_view help) {
  MetricFamily family;
  family.help = HelpText({.name = name, .stability = stability, .help = help});
  family.name = std::move(name);
  family.type = MetricType::Counter;
  return family;
}

void AddValue(MetricFamily* family, double value, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = value;
  family->metric.push_back(std::move(metric));
}

void LogShown(const std::string& name) {
  log::Plain('W', "Hidden metrics (" + name +
                      ") have been manually overridden, showing this very deprecated metric.");
}

}  // namespace

std::vector<double> ExponentialBuckets(double start, double factor, size_t count) {
  std::vector<double> bounds;
  bounds.reserve(count);
  for (double bound = start; bounds.size() < count; bound *= factor) bounds.push_back(bound);
  return bounds;
}

void Registry::Select(Selection selection) {
  MutexLock lock(mutex_);
  KS_CHECK(!selected_, "a registry's selection is made once");
  selected_ = true;
  selection_ = std::move(selection);
  if (!selection_.show_hidden) return;
  for (const auto& [name, entry] : registered_) {
    if (entry.hidden && !selection_.disabled.contains(name)) LogShown(name);
  }
}

// prometheus-cpp merges families of one name silently, keeping the first help text.
void Registry::Claim(const Description& description) {
  MutexLock lock(mutex_);
  const Registered entry{
      .stability = description.stability,
      .deprecated_since = std::string(description.deprecated_since),
      .hidden = HiddenByAge(description.stability, description.deprecated_since)};
  const std::string name(description.name);
  KS_CHECK(registered_.emplace(name, entry).second, "a metric of this name exists");
  if (entry.hidden && selection_.show_hidden && !selection_.disabled.contains(name)) LogShown(name);
}

Family<Counter>& Registry::AddCounter(const Description& description) {
  Claim(description);
  return prometheus::BuildCounter()
      .Name(std::string(description.name))
      .Help(HelpText(description))
      .Register(registry_);
}

Family<Gauge>& Registry::AddGauge(const Description& description) {
  Claim(description);
  return prometheus::BuildGauge()
      .Name(std::string(description.name))
      .Help(HelpText(description))
      .Register(registry_);
}

Family<Histogram>& Registry::AddHistogram(const Description& description) {
  Claim(description);
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

// What the families hold, after the updates.
Registry::Families Registry::CollectAll() const {
  std::vector<std::weak_ptr<std::function<void()>>> updates;
  {
    MutexLock lock(mutex_);
    updates = updates_;
  }
  for (const auto& entry : updates) {
    if (const auto update = entry.lock()) (*update)();
  }
  Families families = registry_.Collect();
  std::erase_if(families, [](const MetricFamily& family) { return family.metric.empty(); });
  for (MetricFamily& family : families) Sort(&family);
  return families;
}

bool Registry::Shows(const std::string& name) const {
  if (selection_.disabled.contains(name)) return false;
  return selection_.show_hidden || !registered_.find(name)->second.hidden;
}

Registry::Families Registry::Collect() const {
  Families families = CollectAll();
  double replaced = 0;
  MutexLock lock(mutex_);
  std::erase_if(families, [this](const MetricFamily& family)
                              KS_REQUIRES(mutex_) { return !Shows(family.name); });
  for (MetricFamily& family : families) {
    if (const auto zero = zero_.find(family.name); zero != zero_.end()) {
      for (ClientMetric& metric : family.metric) {
        const auto at = zero->second.find(metric.label);
        if (at == zero->second.end()) continue;
        metric.counter.value -= at->second.counter.value;
        SumHistogram(&metric.histogram, at->second.histogram, -1);
      }
    }
    const auto allowed = selection_.allowed.find(family.name);
    if (allowed != selection_.allowed.end()) replaced += AllowLabels(allowed->second, &family);
  }
  if (selected_ && selection_.count_metrics) {
    for (MetricFamily& family : Counts(replaced)) families.push_back(std::move(family));
  }
  std::sort(families.begin(), families.end(),
            [](const MetricFamily& a, const MetricFamily& b) { return a.name < b.name; });
  return families;
}

// The families about metrics; they count themselves.
Registry::Families Registry::Counts(double replaced) const {
  std::map<std::pair<std::string, std::string>, double> registered;  // by stability, deprecation
  double hidden = 0;
  for (const auto& [name, entry] : registered_) {
    if (entry.hidden && !selection_.show_hidden) ++hidden;
    if (entry.stability == Stability::kNone || !Shows(name)) continue;
    ++registered[{std::string(StabilityText(entry.stability)), entry.deprecated_since}];
  }
  registered[{"ALPHA", ""}] += 1;
  registered[{"BETA", ""}] += 3;

  Families families;
  families.push_back(CounterFamily("cardinality_enforcement_unexpected_categorizations_total",
                                   Stability::kAlpha, "Label values replaced by `unexpected`."));
  AddValue(&families.back(), replaced);
  families.push_back(
      CounterFamily("disabled_metrics_total", Stability::kBeta, "Metrics switched off by flag."));
  AddValue(&families.back(), static_cast<double>(selection_.disabled.size()));
  families.push_back(
      CounterFamily("hidden_metrics_total", Stability::kBeta, "Metrics hidden by age."));
  AddValue(&families.back(), hidden);
  families.push_back(
      CounterFamily("registered_metrics_total", Stability::kBeta, "Metrics registered."));
  for (const auto& [labels, count] : registered) {
    AddValue(&families.back(), count,
             {{"deprecated_version", labels.second}, {"stability_level", labels.first}});
  }
  Sort(&families.back());
  std::erase_if(families, [this](const MetricFamily& family) KS_REQUIRES(mutex_) {
    return selection_.disabled.contains(family.name);
  });
  return families;
}

std::string Registry::Text() const { return FormatText(Collect()); }

void Registry::Reset() {
  Families families = CollectAll();
  MutexLock lock(mutex_);
  zero_.clear();
  for (MetricFamily& family : families) {
    if (family.type == MetricType::Gauge) continue;
    if (registered_.find(family.name)->second.stability == Stability::kNone) continue;
    auto& series = zero_[family.name];
    for (ClientMetric& metric : family.metric) {
      Labels labels = metric.label;
      series.emplace(std::move(labels), std::move(metric));
    }
  }
}

std::map<std::string, Registry::Registered, std::less<>> Registry::registered() const {
  MutexLock lock(mutex_);
  return registered_;
}

}  // namespace ks::metrics
