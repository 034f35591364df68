// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/metrics_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace ks::ctl {
namespace {

// A label value: escapes undone, up to the closing quote, which is taken off with it.
std::optional<std::string> TakeValue(std::string_view* text) {
  if (text->empty() || text->front() != '"') return std::nullopt;
  std::string value;
  for (size_t i = 1; i < text->size(); ++i) {
    const char letter = (*text)[i];
    if (letter == '"') {
      text->remove_prefix(i + 1);
      return value;
    }
    if (letter != '\\' || i + 1 == text->size()) {
      value += letter;
      continue;
    }
    const char escaped = (*text)[++i];
    value += escaped == 'n' ? '\n' : escaped;
  }
  return std::nullopt;
}

bool TakeLabels(std::string_view* text, MetricSample* sample) {
  text->remove_prefix(1);  // {
  while (!text->empty() && text->front() != '}') {
    const size_t equals = text->find('=');
    if (equals == std::string_view::npos) return false;
    std::string label(text->substr(0, equals));
    text->remove_prefix(equals + 1);
    auto value = TakeValue(text);
    if (!value) return false;
    sample->labels.emplace(std::move(label), std::move(*value));
    if (!text->empty() && text->front() == ',') text->remove_prefix(1);
  }
  if (text->empty()) return false;
  text->remove_prefix(1);
  return true;
}

double ParseNumber(std::string_view text) {
  return std::strtod(std::string(text.substr(0, text.find(' '))).c_str(), nullptr);
}

std::optional<MetricSample> ParseLine(std::string_view line) {
  const size_t end = line.find_first_of("{ ");
  if (line.empty() || line.front() == '#' || end == std::string_view::npos) return std::nullopt;
  MetricSample sample{.name = std::string(line.substr(0, end)), .labels = {}};
  line.remove_prefix(end);
  if (line.front() == '{' && !TakeLabels(&line, &sample)) return std::nullopt;
  if (line.empty() || line.front() != ' ') return std::nullopt;
  sample.value = ParseNumber(line.substr(1));
  return sample;
}

}  // namespace

std::vector<MetricSample> ParseMetrics(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (auto sample = ParseLine(text.substr(0, end))) samples.push_back(std::move(*sample));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return samples;
}

HistogramCounts HistogramCounts::Of(const std::vector<MetricSample>& samples,
                                    std::string_view name) {
  HistogramCounts counts;
  const std::string buckets = std::string(name) + "_bucket";
  for (const MetricSample& sample : samples) {
    if (sample.name != buckets) continue;
    const std::string_view bound = sample.Label("le");
    counts.cumulative_[bound == "+Inf" ? std::numeric_limits<double>::infinity()
                                       : ParseNumber(bound)] += sample.value;
  }
  return counts;
}

HistogramCounts HistogramCounts::Since(const HistogramCounts& before) const {
  if (count() < before.count()) return *this;
  HistogramCounts since = *this;
  for (const auto& [bound, number] : before.cumulative_) {
    const auto found = since.cumulative_.find(bound);
    if (found != since.cumulative_.end()) found->second -= number;
  }
  return since;
}

double HistogramCounts::count() const {
  return cumulative_.empty() ? 0 : cumulative_.rbegin()->second;
}

std::optional<double> HistogramCounts::Quantile(double q) const {
  const double wanted = q * count();
  if (count() <= 0) return std::nullopt;
  double lower_bound = 0;
  double lower_count = 0;
  for (const auto& [bound, number] : cumulative_) {
    if (number >= wanted && number > lower_count) {
      if (std::isinf(bound)) return lower_bound;
      return lower_bound + (bound - lower_bound) * (wanted - lower_count) / (number - lower_count);
    }
    lower_bound = bound;
    lower_count = number;
  }
  return lower_bound;
}

}  // namespace ks::ctl
