// SPDX-License-Identifier: Apache-2.0
// ksdev: measurements for those who work on kubesched; no part of what is installed. Verbs and
// flags; the work is in one room a verb.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>

#include "client/http/transport.h"
#include "ksdev/arrive/arrive.h"
#include "ksdev/compare/compare.h"
#include "ksdev/load/load.h"
#include "ksdev/perf/perf.h"
#include "ksdev/soak/soak.h"
#include "kubeschedctl/text/duration_option.h"

namespace ks::ctl::dev {
namespace {

void AddKubeconfig(CLI::App& verb, std::string& target) {
  verb.add_option("--kubeconfig", target, "kubeconfig of an administrator")
      ->required()
      ->envname("KUBECONFIG")
      ->type_name("FILE");
}

void AddCounts(CLI::App& verb, Workload& workload) {
  verb.add_option("--nodes", workload.nodes, "number of nodes")->capture_default_str();
  verb.add_option("--pods", workload.pods, "number of pods")->capture_default_str();
  verb.add_option("--zones", workload.zones, "number of zones; 0: nodes without a zone")
      ->capture_default_str();
  verb.add_option("--namespace", workload.ns, "namespace of the pods")->capture_default_str();
  verb.add_option("--in-flight", workload.in_flight, "requests at a time; 1: strictly in order")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
}

void AddKinds(CLI::App& verb, Workload& workload) {
  verb.add_option("--pod-kind", workload.kind, "what the pods ask for besides resources")
      ->transform(CLI::CheckedTransformer(PodKinds()))
      ->default_str("plain");
  verb.add_option("--bound", workload.bound, "pods of the kind that run already")
      ->capture_default_str();
}

void AddSizes(CLI::App& verb, Workload& workload) {
  const CLI::Range positive(int64_t{1}, int64_t{1} << 40);
  const CLI::Range not_negative(int64_t{0}, int64_t{1} << 40);
  verb.add_option("--node-cpu", workload.node.cpu, "CPUs of a node")
      ->check(positive)
      ->capture_default_str();
  verb.add_option("--node-memory", workload.node.memory_gi, "memory of a node, GiB")
      ->check(positive)
      ->capture_default_str();
  verb.add_option("--node-pods", workload.node.pods, "pods a node takes")
      ->check(positive)
      ->capture_default_str();
  verb.add_option("--pod-cpu", workload.pod_sizes[0].cpu_milli, "CPU of a pod, thousandths")
      ->check(not_negative)
      ->capture_default_str();
  verb.add_option("--pod-memory", workload.pod_sizes[0].memory_mi, "memory of a pod, MiB")
      ->check(not_negative)
      ->capture_default_str();
}

void DeclareLoad(CLI::App& app, LoadOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand("load", "create nodes and pods as fast as possible");
  AddKubeconfig(*verb, options.kubeconfig);
  AddCounts(*verb, options.workload);
  AddSizes(*verb, options.workload);
  AddKinds(*verb, options.workload);
  verb->add_option("--scheduler-name", options.workload.scheduler_name, "schedulerName of the pods")
      ->capture_default_str();
  verb->add_option("--label", options.workload.label,
                   std::string("value of the label ") + kOwnerLabel)
      ->capture_default_str();
  verb->add_flag("--remove", options.remove, "remove what an earlier run with this label made");
  verb->callback([&options, &status] { status = RunLoad(options); });
}

void DeclareBindRate(CLI::App& app, BindRateOptions& options, int& status) {
  CLI::App* verb =
      app.add_subcommand("bindrate", "bind pods without a scheduler: the API server's ceiling");
  AddKubeconfig(*verb, options.kubeconfig);
  AddCounts(*verb, options.workload);
  verb->callback([&options, &status] { status = RunBindRate(options); });
}

constexpr const char* kCompareFooter =
    "Scenarios, with the numbers of nodes, pods and others that they have unless given:\n"
    "  backlog       5000 nodes; 5000 pods, which fit, wait when the scheduler starts\n"
    "  head-of-line  5000 nodes; the scheduler runs; 3000 others come, which ask for more CPU than "
    "any node has,\n                and right after them 2000 pods, which fit. Times count from "
    "the first of these\n"
    "  preemption    500 nodes full of 2000 others of low priority, whose grace period is 0 (there "
    "are no node\n                agents); the scheduler runs; 500 pods of high priority come, "
    "each as large as all\n                others of a node but one\n"
    "  pending       100 nodes; the scheduler runs; 100000 pods come, which ask for more CPU than "
    "any node has;\n                the run ends when the scheduler has refused each in its "
    "status\n"
    "  volumes       5000 nodes, each with a CSI driver and room for 39 of its volumes; the "
    "scheduler runs; 2000\n                pods come, each with a claim that is bound to a volume "
    "of its own\n"
    "  devices       500 nodes with eight devices each (--devices); the scheduler runs; 1000 pods "
    "come, each with\n                a ResourceClaim, which asks for: any, one device; selector, "
    "one of those that a\n                selector chooses, which are all; matched, four with an "
    "attribute in common; rare,\n                one of those that a selector chooses, one in "
    "eight (--ask)\n"
    "  gangs         1000 nodes; the scheduler runs; 3000 pods come, in gangs of three "
    "(--gang-size), whose groups\n                are there already\n"
    "Both schedulers have the same limit of requests (--qps) in their configuration file and no "
    "leader election.";

void SetScenarioSizes(const CLI::App& verb, CompareOptions& options) {
  struct Sizes {
    size_t nodes, pods, others;
  };
  const std::map<Scenario, Sizes> all = {
      {Scenario::kBacklog, {5000, 5000, 0}},     {Scenario::kHeadOfLine, {5000, 2000, 3000}},
      {Scenario::kPreemption, {500, 500, 2000}}, {Scenario::kPending, {100, 100000, 0}},
      {Scenario::kVolumes, {5000, 2000, 0}},     {Scenario::kDevices, {500, 1000, 0}},
      {Scenario::kGangs, {1000, 3000, 0}}};
  const Sizes& sizes = all.at(options.scenario);
  const auto refuse = [&](const std::string& option) {
    if (verb.get_option(option)->count() == 0) return;
    throw CLI::ValidationError(option, "has no meaning in this scenario");
  };
  if (sizes.others == 0) refuse("--others");
  if (options.scenario != Scenario::kDevices) {
    refuse("--devices");
    refuse("--ask");
  }
  if (options.scenario != Scenario::kGangs) refuse("--gang-size");
  if (options.scenario != Scenario::kBacklog) {
    refuse("--pod-kind");
    refuse("--bound");
  }
  if (options.scenario == Scenario::kPreemption || options.scenario == Scenario::kPending) {
    refuse("--pod-cpu");
    refuse("--pod-memory");
  }
  if (verb.get_option("--nodes")->count() == 0) options.workload.nodes = sizes.nodes;
  if (verb.get_option("--pods")->count() == 0) options.workload.pods = sizes.pods;
  if (verb.get_option("--others")->count() == 0) options.others = sizes.others;
}

void AddPrograms(CLI::App& verb, Programs& options) {
  verb.add_option_function<std::string>(
          "--server",
          [&options](const std::string& server) { options.embedded_server = server == "embedded"; },
          "the API server: kube-apiserver with etcd, or our own in memory")
      ->check(CLI::IsMember({"kube-apiserver", "embedded"}))
      ->default_str("kube-apiserver");
  verb.add_option("--kubesched", options.kubesched, "kubesched (default: next to this program)")
      ->type_name("FILE");
  verb.add_option("--kube-scheduler", options.kube_scheduler,
                  "kube-scheduler (default: the one built with the control plane)")
      ->type_name("FILE");
  verb.add_option("--controlplane-tool", options.controlplane_tool,
                  "the program that starts control planes")
      ->type_name("FOLDER")
      ->capture_default_str();
  verb.add_option("--dir", options.folder,
                  "folder of the server; a control plane that is up there is taken down")
      ->type_name("FOLDER");
}

void AddRuns(CLI::App& verb, int& runs, int& qps, bool& json) {
  verb.add_option("--runs", runs, "runs of each scheduler")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb.add_option("--qps", qps, "both schedulers' limit of requests a second")
      ->capture_default_str();
  verb.add_option_function<std::string>(
          "-o,--output", [&json](const std::string& format) { json = format == "json"; },
          "output format")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

void DeclareCompare(CLI::App& app, CompareOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "compare", "kubesched and kube-scheduler side by side, each on a fresh API server");
  verb->footer(kCompareFooter);
  const std::map<std::string, Scenario> scenarios = {{"backlog", Scenario::kBacklog},
                                                     {"head-of-line", Scenario::kHeadOfLine},
                                                     {"preemption", Scenario::kPreemption},
                                                     {"pending", Scenario::kPending},
                                                     {"volumes", Scenario::kVolumes},
                                                     {"devices", Scenario::kDevices},
                                                     {"gangs", Scenario::kGangs}};
  verb->add_option("--scenario", options.scenario, "what the schedulers have to do, see below")
      ->transform(CLI::Transformer(scenarios))
      ->default_str("backlog");
  verb->add_option("--others", options.others,
                   "pods of the scenario that are there or come first (default: see below)")
      ->check(CLI::PositiveNumber)
      ->default_str("");
  verb->add_option("--devices", options.devices.per_node, "devices of each node")
      ->check(CLI::Range(1, 128))
      ->capture_default_str();
  const std::map<std::string, DeviceAsk> asks = {{"any", DeviceAsk::kAny},
                                                 {"selector", DeviceAsk::kSelector},
                                                 {"matched", DeviceAsk::kMatched},
                                                 {"rare", DeviceAsk::kRare}};
  verb->add_option("--ask", options.devices.ask, "what each claim asks for")
      ->transform(CLI::Transformer(asks))
      ->default_str("selector");
  verb->add_option("--gang-size", options.gang_size, "pods of each gang")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  AddPrograms(*verb, options);
  AddRuns(*verb, options.runs, options.qps, options.json);
  AddTimeout(*verb, "--timeout", options.timeout, "for all pods of a run to be bound");
  AddTimeout(*verb, "--settle", options.settle, "from the last binding to the scheduler's end");
  AddCounts(*verb, options.workload);
  AddSizes(*verb, options.workload);
  AddKinds(*verb, options.workload);
  verb->callback([&options, &status, verb] {
    SetScenarioSizes(*verb, options);
    status = RunCompare(options);
  });
}

void DeclareArrive(CLI::App& app, ArriveOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "arrive", "pods that come one by one, for kubesched and kube-scheduler by turns");
  verb->footer(
      "Each run has a fresh API server. Latency: from the first sight of a pod by a watch to that "
      "of its binding. CPU: from\nthe first pod to --settle after the last binding, for each pod; "
      "that of the server is kube-apiserver's without etcd.\nStatus: 0 every pod was bound, 1 not "
      "so.");
  verb->add_option("--rate", options.rates, "pods a second, one measurement each")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->default_str("50,200,500");
  AddTimeout(*verb, "--seconds", options.duration, "how long pods come");
  verb->add_option("--nodes", options.workload.nodes, "number of nodes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option_function<std::string>(
          "--mix", [&options](const std::string& mix) { options.demo_mix = mix == "demo"; },
          "pods that ask for CPU and memory alone, or the demo's")
      ->check(CLI::IsMember({"plain", "demo"}))
      ->default_str("plain");
  verb->add_flag("--json-too", options.json_too,
                 "kubesched with clientConnection.contentType application/json as well");
  AddPrograms(*verb, options);
  AddRuns(*verb, options.runs, options.qps, options.json);
  AddTimeout(*verb, "--timeout", options.timeout, "from the last pod's turn to the last binding");
  AddTimeout(*verb, "--settle", options.settle, "from the last binding to the last look");
  verb->callback([&options, &status] { status = RunArrive(options); });
}

void DeclareSoak(CLI::App& app, SoakOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "soak", "a scheduler on an API server with faults, pods coming and going, for a long time");
  verb->footer(
      "Status: 0 every pod was bound once, no node was over its capacity and the memory of "
      "scheduler and\nserver stayed flat, 1 not so, 130 interrupted. Memory is judged in runs of "
      "21 minutes and "
      "more: medians of\nthe first and the last third of what comes after 12 minutes.");
  verb->add_option_function<double>(
          "--minutes",
          [&options](const double& minutes) {
            options.duration = std::chrono::seconds(static_cast<int64_t>(minutes * 60));
          },
          "how long pods come")
      ->check(CLI::PositiveNumber)
      ->default_str("30");
  verb->add_option("--nodes", options.workload.nodes, "number of nodes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--rate", options.rate, "pods a second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  AddTimeout(*verb, "--lifetime", options.lifetime, "of a bound pod, on average");
  AddTimeout(*verb, "--settle", options.settle, "for the last pods to be bound");
  verb->add_option("--faults", options.faults_file,
                   "fault rules (default: some of every kind), see kubeschedctl apiserver")
      ->type_name("FILE");
  verb->add_option("--scheduler", options.scheduler,
                   "the scheduler (default: kubesched next to this program)")
      ->type_name("FILE");
  verb->add_option("--dir", options.folder, "folder for logs (default: a temporary one)")
      ->type_name("FOLDER");
  verb->add_option("--seed", options.seed, "of chance")->capture_default_str();
  verb->callback([&options, &status] { status = RunSoak(options); });
}

void DeclarePerf(CLI::App& app, perf::PerfOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "perf", "upstream's benchmark suite, for kubesched and kube-scheduler by turns");
  verb->footer(
      "pods/s, p50, p90, p99: of windows of one second, as upstream counts; - when all was over "
      "before there was\none. seconds: from the beginning of the measurement to the last binding. "
      "ratio: kubesched's pods/s to\nkube-scheduler's. Status: 0 every workload ran to its end, 1 "
      "not so; thresholds are shown only.");
  verb->add_option("--suite", options.suite,
                   "folder test/integration/scheduler_perf of Kubernetes' sources")
      ->required()
      ->type_name("FOLDER");
  verb->add_option("--label", options.labels,
                   "labels that a workload must have, or not have: integration-test,short,-dra")
      ->capture_default_str();
  verb->add_option("--filter", options.filter,
                   "regular expression that \"<topic>: <case>/<workload>\" must contain");
  verb->add_flag("--list", options.list, "show the workloads and run nothing");
  verb->add_option("--scheduler", options.scheduler, "which to run")
      ->check(CLI::IsMember({"both", "kubesched", "kube-scheduler"}))
      ->capture_default_str();
  AddPrograms(*verb, options);
  verb->add_option("--runs", options.runs, "runs of each scheduler")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  AddTimeout(*verb, "--timeout", options.timeout, "of each waiting for pods");
  verb->add_option("--shard", options.shard,
                   "I/N: of the workloads the I-th and each N-th after it")
      ->capture_default_str();
  verb->add_option(
      "--may-fail", options.may_fail,
      "regular expression: kube-scheduler's failures in these workloads are shown, and "
      "that is all");
  verb->add_flag("--markdown", options.markdown,
                 "a table in Markdown with ratios and their geometric means");
  verb->callback([&options, &status] { status = perf::RunPerf(options); });
}

int Main(int argc, char** argv) {
  CLI::App app("ksdev is the tool for developers of kubesched: load and measurements.", "ksdev");
  app.require_subcommand(1);
  int status = 0;
  LoadOptions load;
  BindRateOptions bind_rate;
  CompareOptions compare;
  ArriveOptions arrive;
  SoakOptions soak;
  perf::PerfOptions perf;
  DeclareLoad(app, load, status);
  DeclareBindRate(app, bind_rate, status);
  DeclareCompare(app, compare, status);
  DeclareArrive(app, arrive, status);
  DeclareSoak(app, soak, status);
  DeclarePerf(app, perf, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  return status;
}

}  // namespace
}  // namespace ks::ctl::dev

int main(int argc, char** argv) {
  ks::client::InitializeClientProcess();
  return ks::ctl::dev::Main(argc, argv);
}
