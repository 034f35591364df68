// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/live_declare.h"

#include "kubeschedctl/cli/api_options.h"
#include "kubeschedctl/live/live_verbs.h"
#include "kubeschedctl/text/called_as.h"

namespace ks::ctl {
namespace {

constexpr const char* kGroup = "Where the scheduler is";

void AddLiveOptions(CLI::App& verb, LiveOptions& options) {
  AddDaemonOptions(verb, options.daemon);
  verb.add_option_function<std::string>(
          "-o,--output", [&options](const std::string& format) { options.json = format == "json"; },
          "output format")
      ->check(CLI::IsMember({"table", "json"}))
      ->default_str("table");
}

void AddPodOptions(CLI::App& verb, std::string& pod, std::string& ns, const std::string& what) {
  verb.add_option("pod", pod, what)->type_name("[NAMESPACE/]POD");
  auto* of_one = verb.add_option("-n,--namespace", ns, "pods of this namespace");
  const std::string all = "pods of all namespaces, as without this flag";
  verb.add_flag("-A,--all-namespaces", all)->excludes(of_one);
}

void AddLimit(CLI::App& verb, const std::string& name, int64_t& limit, const std::string& what) {
  verb.add_option(name, limit, what)->check(CLI::NonNegativeNumber)->capture_default_str();
}

void DeclareQueue(CLI::App& app, LiveQueueOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "queue", "the pending pods of a running kubesched: where each stands, and what holds it");
  AddLiveOptions(*verb, options.live);
  AddPodOptions(*verb, options.pod, options.ns, "this pod only");
  verb->add_option("--plugin", options.plugin, "pods that this plugin rejected or holds");
  verb->add_option("--queue", options.part, "pods of this part of the queue")
      ->check(CLI::IsMember({"active", "backoff", "inFlight", "waiting", "binding", "unschedulable",
                             "gated", "incomplete", "pending"}));
  AddLimit(*verb, "--limit", options.limit, "pods shown at most; 0: all");
  verb->callback([&options, &status] { status = RunLiveQueue(options); });
}

void DeclareDecisions(CLI::App& app, LiveDecisionsOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "decisions", "the last decisions of a running kubesched, newest first, with their scores");
  AddLiveOptions(*verb, options.live);
  AddPodOptions(*verb, options.pod, options.ns, "of this pod only");
  verb->add_option("--node", options.node, "decisions for this node");
  verb->add_option("--result", options.result, "decisions that came to this")
      ->check(CLI::IsMember(
          {"UnderWay", "Scheduled", "Bound", "Unschedulable", "Error", "BindingFailed"}));
  AddLimit(*verb, "--limit", options.limit, "decisions shown at most; 0: all that are kept");
  verb->callback([&options, &status] { status = RunLiveDecisions(options); });
}

void DeclareCache(CLI::App& app, LiveCacheOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "cache", "what a running kubesched knows of the nodes; --compare checks it");
  verb->footer("Status: 0 an answer, 1 none, or a comparison that found differences.");
  AddLiveOptions(*verb, options.live);
  auto* node =
      verb->add_option("node", options.node, "this node only, with its pods")->type_name("NODE");
  verb->add_flag("--pods", options.pods, "list the pods of all nodes");
  verb->add_flag("--compare", options.compare, "name what differs from the API server")
      ->excludes(node);
  verb->callback([&options, &status] { status = RunLiveCache(options); });
}

void DeclareSimulate(CLI::App& app, LiveSimulateOptions& options, int& status) {
  CLI::App* verb =
      app.add_subcommand("simulate",
                         "where pods would go now, without creating them: a manifest and a running "
                         "kubesched");
  verb->footer(
      "Pod, Deployment, ReplicaSet, StatefulSet, ReplicationController and Job, also in Lists and "
      "several\ndocuments, and the claims and groups of pods that they name. Replicas are placed "
      "one "
      "after the other,\nthe members of a group together, on a copy of the scheduler's state; "
      "nothing "
      "is preempted.");
  AddLiveOptions(*verb, options.live);
  verb->add_option("-f,--filename", options.file, "manifest, JSON or YAML; - is standard input")
      ->required()
      ->type_name("FILE");
  auto* replicas =
      verb->add_option("--replicas", options.replicas, "instead of the manifests' numbers");
  replicas->check(CLI::NonNegativeNumber);
  verb->add_flag("--fill", options.fill,
                 "how many more pods of each object fit, and what runs out first")
      ->excludes(replicas);
  verb->add_option("--more-nodes", options.more_nodes,
                   "as if there were COUNT nodes more like NODE; can be repeated")
      ->type_name("NODE:COUNT");
  verb->add_option("--without-nodes", options.without_nodes,
                   "as if the node, or those with the label, were gone with their pods; can be "
                   "repeated")
      ->type_name("NODE|LABEL=VALUE");
  verb->add_option("--weight", options.weights,
                   "as if the plugin scored with that weight in every profile; can be repeated")
      ->type_name("PLUGIN:WEIGHT");
  verb->callback([&options, &status] { status = RunLiveSimulate(options); });
}

void DeclareTop(CLI::App& app, TopOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "top", "what a running kubesched does: queue, attempts, latencies, plugins");
  verb->footer("Refreshed on a terminal until Ctrl-C; else printed once, or --rounds times.");
  AddLiveOptions(*verb, options.live);
  verb->add_option_function<int64_t>(
          "--interval",
          [&options](const int64_t& seconds) { options.interval = std::chrono::seconds(seconds); },
          "seconds between two looks")
      ->check(CLI::Range(1, 3600))
      ->default_str("2");
  AddLimit(*verb, "--rounds", options.rounds, "looks; 0: without end on a terminal, else one");
  verb->callback([&options, &status] { status = RunTop(options); });
}

}  // namespace

void AddDaemonOptions(CLI::App& verb, DaemonOptions& options) {
  // kubectl's names are left to what kubectl means by them.
  const std::string own = IsKubectlPlugin() ? "" : "--server,";
  const std::string own_ca = IsKubectlPlugin() ? "" : "--certificate-authority,";
  const std::string own_insecure = IsKubectlPlugin() ? "" : "--insecure-skip-tls-verify,";
  auto* server = verb.add_option(own + "--scheduler-url", options.server,
                                 "straight to kubesched's HTTPS port (default: through the API "
                                 "server's pod proxy)");
  server->type_name("https://HOST:10259")->group(kGroup);
  verb.add_option(own_ca + "--scheduler-certificate-authority", options.certificate_authority,
                  "what kubesched's certificate is checked with")
      ->type_name("FILE")
      ->needs(server)
      ->group(kGroup);
  verb.add_flag(own_insecure + "--scheduler-insecure-skip-tls-verify",
                options.insecure_skip_tls_verify, "do not check kubesched's certificate")
      ->needs(server)
      ->group(kGroup);
  verb.add_option("--scheduler-namespace", options.ns, "of its pods and its lease")
      ->capture_default_str()
      ->excludes(server)
      ->group(kGroup);
  auto* pod = verb.add_option("--scheduler-pod", options.pod,
                              "this pod (default: the one that holds the lease)");
  pod->type_name("POD")->excludes(server)->group(kGroup);
  verb.add_option("--lease", options.lease, "the lease that its leader holds")
      ->capture_default_str()
      ->excludes(server)
      ->excludes(pod)
      ->group(kGroup);
  verb.add_option("--scheduler-port", options.port, "of the pod")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str()
      ->excludes(server)
      ->group(kGroup);
  AddApiOptions(verb, options);
}

struct LiveVerbs::Options {
  LiveQueueOptions queue;
  LiveDecisionsOptions decisions;
  LiveCacheOptions cache;
  LiveSimulateOptions simulate;
  TopOptions top;
};

LiveVerbs::LiveVerbs(CLI::App& app, int& status) : options_(std::make_unique<Options>()) {
  DeclareQueue(app, options_->queue, status);
  DeclareDecisions(app, options_->decisions, status);
  DeclareCache(app, options_->cache, status);
  DeclareSimulate(app, options_->simulate, status);
  DeclareTop(app, options_->top, status);
}

LiveVerbs::~LiveVerbs() = default;

}  // namespace ks::ctl
