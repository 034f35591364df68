// SPDX-License-Identifier: Apache-2.0
#pragma once
// The case files of upstream's suite, performance-config.yaml: test cases, each with a list of
// operations and the workloads that fill in its parameters.

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ksdev/perf/operations.h"

namespace ks::ctl::dev::perf {

// One workload of a case, with what it has from its case. Threads: like a value.
struct PerfCase {
  std::string file;    // path
  std::string folder;  // of the file
  std::string topic;   // the file's folder below the suite's: "dra/devicetaints"
  std::string name;    // <case>/<workload>
  std::set<std::string> labels;
  std::map<std::string, bool> gates;
  std::string scheduler_config;      // path; empty: none
  std::string pod_template;          // path; empty: none
  std::vector<std::string> metrics;  // that the case wants besides
  double threshold = 0;              // of the average pods/s; 0: none
  nlohmann::json operations;         // the case's list
  nlohmann::json params;             // of the workload
};

// Errors name file, case and operation.
Result<std::vector<PerfCase>> ReadCaseFile(const std::string& suite, const std::string& topic);

// The operations of a workload. The index of one in the list is its number in names that upstream
// gives ("namespace-3"). Errors also: a parameter that is missing or that no operation names.
Result<std::vector<Operation>> OperationsOf(const PerfCase& perf_case);

// How many features each node of the case declares: upstream's test adds them by code. 0: none.
size_t DeclaredFeatures(const PerfCase& perf_case);

// Does `labels` satisfy upstream's filter? "a,+b,-c": with a and b and without c.
bool LabelsMatch(const std::set<std::string>& labels, const std::string& filter);

// Below `suite`: every folder with a case file, sorted. Error: there is none.
Result<std::vector<std::string>> Topics(const std::string& suite);

}  // namespace ks::ctl::dev::perf
