// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures of several runs of several schedulers, as a table and as JSON. A measurement is a struct
// with the members `scheduler` and `run` and figures of type double. For the sources of this
// folder.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksdev/text/figures.h"

namespace ks::ctl::dev {

template <class M>
struct Column {
  const char* key;    // in JSON
  const char* title;  // in text
  double M::*value;
};

template <class M>
double MedianOf(const std::vector<M>& runs, std::string_view scheduler, double M::*value) {
  std::vector<double> values;
  for (const M& run : runs) {
    if (run.scheduler == scheduler) values.push_back(run.*value);
  }
  return Median(std::move(values));
}

// Of the medians, ours to theirs. Zero when theirs is.
template <class M>
double Ratio(const std::vector<M>& runs, double M::*value) {
  const double theirs = MedianOf(runs, kTheirs, value);
  return theirs == 0 ? 0 : MedianOf(runs, kOurs, value) / theirs;
}

// A row a column: the medians of the schedulers, then the ratio.
template <class M>
std::string ColumnsText(const std::vector<M>& runs, std::span<const Column<M>> columns,
                        const std::vector<std::string>& schedulers = {kTheirs, kOurs}) {
  std::string text = fmt::format("{:<28}", "");
  for (const std::string& scheduler : schedulers) text += fmt::format(" {:>15}", scheduler);
  text += fmt::format(" {:>8}\n", "ratio");
  for (const Column<M>& column : columns) {
    text += fmt::format("{:<28}", column.title);
    for (const std::string& scheduler : schedulers) {
      text += fmt::format(" {:>15.3f}", MedianOf(runs, scheduler, column.value));
    }
    text += fmt::format(" {:>8.3f}\n", Ratio(runs, column.value));
  }
  return text;
}

// Adds "runs", "medians" and "ratios".
template <class M>
void AddColumns(nlohmann::ordered_json& root, const std::vector<M>& runs,
                std::span<const Column<M>> columns,
                const std::vector<std::string>& schedulers = {kTheirs, kOurs}) {
  for (const M& run : runs) {
    nlohmann::ordered_json entry = {{"scheduler", run.scheduler}, {"run", run.run}};
    for (const Column<M>& column : columns) entry[column.key] = run.*column.value;
    root["runs"].push_back(std::move(entry));
  }
  for (const Column<M>& column : columns) {
    for (const std::string& scheduler : schedulers) {
      root["medians"][scheduler][column.key] = MedianOf(runs, scheduler, column.value);
    }
    root["ratios"][column.key] = Ratio(runs, column.value);
  }
}

}  // namespace ks::ctl::dev
