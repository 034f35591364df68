// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/case_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "ksdev/perf/yaml_file.h"

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

constexpr const char* kFileName = "performance-config.yaml";
// Read by code of upstream's test, not by an operation.
constexpr const char* kDeclaredFeatures = "numNodeDeclaredFeatures";
constexpr const char* kDeclaredFeaturesGate = "NodeDeclaredFeatures";

void AddGates(const Json& tree, Fields& fields, std::map<std::string, bool>& gates) {
  if (tree.is_null()) return;
  if (!tree.is_object()) return fields.Fail("featureGates: is no mapping");
  for (const auto& [name, value] : tree.items()) {
    if (!value.is_boolean()) return fields.Fail("featureGates." + name + ": is no boolean");
    gates[name] = value.get<bool>();
  }
}

// A number, or numbers by topic. Upstream's names of topics have underscores for slashes.
double Threshold(const Json& tree, const std::string& topic, Fields& fields) {
  if (tree.is_null()) return 0;
  if (tree.is_number() && tree.get<double>() >= 0) return tree.get<double>();
  if (tree.is_object()) {
    std::string name = topic;
    std::replace(name.begin(), name.end(), '/', '_');
    const auto found = tree.find(name);
    if (found == tree.end()) return 0;
    if (found->is_number() && found->get<double>() >= 0) return found->get<double>();
  }
  fields.Fail("threshold: is neither a number nor numbers by topic");
  return 0;
}

std::vector<std::string> Metrics(const Json& tree, Fields& fields) {
  std::vector<std::string> names;
  if (tree.is_null()) return names;
  Fields config(tree, nullptr);
  const Json metrics = config.Tree("metrics");
  if (const Result<void> done = config.Finish(); !done.ok()) {
    fields.Fail("metricsCollectorConfig: " + done.error().message);
  }
  for (const auto& [name, labels] : metrics.items()) {
    names.push_back(name);
    for (const Json& label : labels) {
      Fields one(label, nullptr);
      (void)one.RequiredText("label");
      (void)one.Texts("values");
      if (const Result<void> done = one.Finish(); !done.ok()) {
        fields.Fail("metricsCollectorConfig." + name + ": " + done.error().message);
      }
    }
  }
  return names;
}

Result<void> CheckOperations(const Json& operations, const std::string& folder) {
  if (!operations.is_array() || operations.empty()) {
    return Error{"workloadTemplate: is no list of operations"};
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    const auto read = ReadOperation(operations[i], folder, nullptr);
    if (!read.ok()) return Error{"op " + std::to_string(i) + ": " + read.error().message};
  }
  return {};
}

Result<PerfCase> ReadWorkload(const Json& tree, const PerfCase& base) {
  Fields fields(tree, nullptr);
  PerfCase read = base;
  read.name += "/" + fields.RequiredText("name");
  for (std::string& label : fields.Texts("labels")) read.labels.insert(std::move(label));
  AddGates(fields.Tree("featureGates"), fields, read.gates);
  read.threshold = Threshold(fields.Tree("threshold"), read.topic, fields);
  read.params = fields.Tree("params");
  if (const Result<void> done = fields.Finish(); !done.ok()) {
    return Error{read.name + ": " + done.error().message};
  }
  return read;
}

Result<std::vector<PerfCase>> ReadCase(const Json& tree, PerfCase base) {
  Fields fields(tree, nullptr);
  base.name = fields.RequiredText("name");
  for (std::string& label : fields.Texts("labels")) base.labels.insert(std::move(label));
  AddGates(fields.Tree("featureGates"), fields, base.gates);
  base.scheduler_config = fields.Path("schedulerConfigPath", base.folder);
  base.pod_template = fields.Path("defaultPodTemplatePath", base.folder);
  base.metrics = Metrics(fields.Tree("metricsCollectorConfig"), fields);
  base.operations = fields.Tree("workloadTemplate");
  const Json workloads = fields.Tree("workloads");
  if (!workloads.is_array() || workloads.empty()) fields.Fail("workloads: is no list");
  if (const Result<void> done = fields.Finish(); !done.ok()) {
    return Error{base.name + ": " + done.error().message};
  }
  if (const Result<void> checked = CheckOperations(base.operations, base.folder); !checked.ok()) {
    return Error{base.name + ": " + checked.error().message};
  }
  std::vector<PerfCase> cases;
  for (const Json& workload : workloads) {
    Result<PerfCase> one = ReadWorkload(workload, base);
    if (!one.ok()) return one.error();
    cases.push_back(std::move(one).value());
  }
  return cases;
}

}  // namespace

Result<std::vector<PerfCase>> ReadCaseFile(const std::string& suite, const std::string& topic) {
  PerfCase base;
  base.topic = topic;
  base.folder = suite + "/" + topic;
  base.file = base.folder + "/" + kFileName;
  const Result<Json> root = ReadYaml(base.file);
  if (!root.ok()) return root.error();
  if (!root->is_array()) return Error{base.file + ": is no list of test cases"};
  std::vector<PerfCase> cases;
  for (const Json& tree : *root) {
    Result<std::vector<PerfCase>> some = ReadCase(tree, base);
    if (!some.ok()) return Error{base.file + ": " + some.error().message};
    cases.insert(cases.end(), some->begin(), some->end());
  }
  return cases;
}

Result<std::vector<Operation>> OperationsOf(const PerfCase& perf_case) {
  Parameters parameters(perf_case.params);
  std::vector<Operation> operations;
  const std::string place = perf_case.file + ": " + perf_case.name + ": ";
  for (size_t i = 0; i < perf_case.operations.size(); ++i) {
    auto read = ReadOperation(perf_case.operations[i], perf_case.folder, &parameters);
    if (!read.ok()) {
      return Error{place + "op " + std::to_string(i) + ": " + read.error().message};
    }
    for (Operation& operation : *read) operations.push_back(std::move(operation));
  }
  for (const std::string& name : parameters.Unused()) {
    if (name != kDeclaredFeatures) {
      return Error{place + "no operation names the parameter " + name};
    }
  }
  return operations;
}

size_t DeclaredFeatures(const PerfCase& perf_case) {
  const auto gate = perf_case.gates.find(kDeclaredFeaturesGate);
  if (gate == perf_case.gates.end() || !gate->second || !perf_case.params.is_object()) return 0;
  const auto found = perf_case.params.find(kDeclaredFeatures);
  const bool given = found != perf_case.params.end() && found->is_number_unsigned();
  return given ? found->get<size_t>() : 0;
}

bool LabelsMatch(const std::set<std::string>& labels, const std::string& filter) {
  std::istringstream parts(filter);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) continue;
    const bool without = part.front() == '-';
    if (without || part.front() == '+') part.erase(0, 1);
    if (labels.contains(part) == without) return false;
  }
  return true;
}

Result<std::vector<std::string>> Topics(const std::string& suite) {
  std::vector<std::string> topics;
  std::error_code error;
  std::filesystem::recursive_directory_iterator walk(suite, error);
  const std::filesystem::recursive_directory_iterator end;
  while (!error && walk != end) {
    if (walk->path().filename() == kFileName) {
      topics.push_back(std::filesystem::relative(walk->path().parent_path(), suite).string());
    }
    walk.increment(error);
  }
  if (error) return Error{suite + ": " + error.message()};
  if (topics.empty()) return Error{suite + ": has no " + kFileName};
  std::sort(topics.begin(), topics.end());
  return topics;
}

}  // namespace ks::ctl::dev::perf
