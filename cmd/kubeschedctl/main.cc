// SPDX-License-Identifier: Apache-2.0
// kubeschedctl: the operator's tool. Verbs and flags; the work is in one file a verb.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/controllers/device_kinds.h"
#include "client/http/transport.h"
#include "kubeschedctl/apiserver.h"
#include "kubeschedctl/cli/completion.h"
#include "kubeschedctl/config/config_verbs.h"
#include "kubeschedctl/config/known_plugins.h"
#include "kubeschedctl/demo/demo.h"
#include "kubeschedctl/explain/explain_verbs.h"
#include "kubeschedctl/live/live_declare.h"
#include "kubeschedctl/live/live_verbs.h"
#include "kubeschedctl/text/called_as.h"
#include "kubeschedctl/text/duration_option.h"
#include "kubeschedctl/text/status.h"
#include "kubeschedctl/ui/ui.h"

namespace ks::ctl {
namespace {

constexpr const char* kDemoFooter =
    "Starts an API server of its own (unless --kubeconfig is given), makes nodes, starts the "
    "scheduler as a\nprocess of its own and lets pods arrive; shows it live on a terminal, else a "
    "line a second; checks the\nresult. Nothing runs on the nodes.\n"
    "The scheduler is called with --kubeconfig=F --leader-elect=false --secure-port=0 "
    "--kube-api-qps=N\n--kube-api-burst=N; with --scheduler-config: --config=COPY "
    "--secure-port=0.\n"
    "A workload file is YAML or JSON: Pods (documents, a List, or a list), or entries\n"
    "  - count: 20        # pods web-00000 to web-00019; default: one pod\n"
    "    name: web        # default: metadata.name\n"
    "    expect: bound    # or pending: it is meant to fit nowhere\n"
    "    pod: {spec: ...}\n"
    "and the ResourceClaims and ResourceClaimTemplates that they name (with --devices), and their "
    "PodGroups\nand CompositePodGroups (the scheduler is called with the feature gates that these "
    "need).\n"
    "Status: 0 all that can be placed is placed, 1 it is not, 130 interrupted.";

void AddDemoScheduler(CLI::App& verb, DemoOptions& options) {
  auto* scheduler = verb.add_option("--scheduler,--kubesched", options.scheduler,
                                    "the scheduler (default: kubesched next to this program)");
  scheduler->type_name("FILE");
  verb.add_option("--scheduler-arg", options.scheduler_args,
                  "a further flag of the scheduler; can be repeated: --scheduler-arg=-v=3")
      ->type_name("FLAG")
      ->allow_extra_args(false);
  verb.add_option("--scheduler-config", options.scheduler_config,
                  "KubeSchedulerConfiguration of the scheduler")
      ->type_name("FILE");
  verb.add_option("--scheduler-kubeconfig", options.scheduler_kubeconfig,
                  "kubeconfig of the scheduler (default: the server's, or --kubeconfig)")
      ->type_name("FILE");
  verb.add_flag("--no-scheduler", options.no_scheduler, "start none: another one is running")
      ->excludes(scheduler);
  verb.add_option("--qps", options.qps, "the scheduler's limit of requests a second; 0: its own")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void AddDemoWorkload(CLI::App& verb, DemoOptions& options) {
  Workload& workload = options.workload;
  verb.add_option("--nodes", workload.nodes, "number of nodes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto* pods = verb.add_option("--pods", workload.pods, "number of pods");
  pods->check(CLI::PositiveNumber)->capture_default_str();
  verb.add_option("--zones", workload.zones, "number of zones; 0: nodes without a zone")
      ->capture_default_str();
  AddTimeout(verb, "--arrival", options.arrival, "period over which the pods arrive; 0: at once");
  verb.add_option("--workload", options.workload_file,
                  "the pods and what they claim, instead of the made-up mix; - is standard input")
      ->type_name("FILE")
      ->excludes(pods);
  verb.add_option("--seed", options.seed, "of chance: order and times of the pods")
      ->capture_default_str();
  verb.add_option("--namespace", workload.ns, "namespace of the pods")->capture_default_str();
  verb.add_option("--in-flight", workload.in_flight, "requests at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  const CLI::Range size(int64_t{1}, int64_t{1} << 40);
  const char* fits = "so that everything fits";
  verb.add_option("--node-cpu", workload.node.cpu, "CPUs of a node")
      ->check(size)
      ->default_str(fits);
  verb.add_option("--node-memory", workload.node.memory_gi, "memory of a node, GiB")
      ->check(size)
      ->default_str(fits);
  verb.add_option("--node-pods", workload.node.pods, "pods a node takes")
      ->check(size)
      ->default_str(fits);
}

void DeclareDemo(CLI::App& app, DemoOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "demo", "schedule made-up pods on made-up nodes, live, and check the result");
  verb->footer(kDemoFooter);
  AddDemoWorkload(*verb, options);
  AddDemoScheduler(*verb, options);
  auto* kubeconfig = verb->add_option("--kubeconfig", options.kubeconfig,
                                      "an existing cluster, as administrator, instead of a server");
  kubeconfig->type_name("FILE");
  verb->add_option("--dir", options.dir, "folder of the server (default: a temporary one)")
      ->type_name("FOLDER")
      ->excludes(kubeconfig);
  verb->add_option("--devices", options.devices,
                   "simulated devices on each node of the server: 8xgpu (see apiserver --help)")
      ->type_name("COUNTxNAME")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        std::vector<apiserver::DeviceKind> kinds;
        const Result<void> parsed = apiserver::ParseDeviceKinds(text, kinds);
        return parsed.ok() ? std::string() : parsed.error().message;
      })
      ->excludes(kubeconfig);
  verb->add_flag("--clean-up", options.clean_up,
                 "remove nodes and pods of an existing cluster at the end")
      ->needs(kubeconfig);
  verb->add_flag("--keep", options.keep, "server and scheduler stay until Ctrl-C");
  verb->add_flag("--ui", options.ui,
                 "serve the page of the verb ui about this scheduler; implies --keep");
  verb->add_flag("--plain", options.plain, "lines instead of the live view");
  AddTimeout(*verb, "--timeout", options.timeout,
             "for the rest to be bound when all pods have arrived");
  verb->callback([&options, &status] { status = RunDemo(options); });
}

void AddOutput(CLI::App& verb, bool& json) {
  verb.add_option_function<std::string>(
          "-o,--output", [&json](const std::string& format) { json = format == "json"; },
          "output format")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
}

// Loads them while the flags are read: everything else may name their plugins.
void AddPluginLibraries(CLI::App& verb) {
  verb.add_option_function<std::vector<std::string>>(
          "--plugin-library",
          [](const std::vector<std::string>& flags) {
            const Result<void> loaded = UsePluginLibraries(flags);
            if (!loaded.ok()) {
              throw CLI::ParseError(loaded.error().message, CLI::ExitCodes::ValidationError);
            }
          },
          "the scheduler's --plugin-library, a library each; its code runs here, too")
      ->type_name("FILE[=NAME]")
      ->allow_extra_args(false);
}

void AddFeatureGates(CLI::App& verb, std::vector<std::string>& values) {
  verb.add_option("--feature-gates", values, "the scheduler's --feature-gates")
      ->type_name("NAME=BOOL,...")
      ->allow_extra_args(false);
}

constexpr const char* kManifests =
    "\nA configuration may also stand in a key of a ConfigMap, alone or among other objects.";

void AddKey(CLI::App& verb, std::string& key, const char* text) {
  verb.add_option("--key", key, text)->type_name("[NAME/]KEY");
}

void DeclareCheckConfig(CLI::App& app, CheckConfigOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "check-config", "tell whether a scheduler would start with these files, without a cluster");
  verb->footer(
      "Status: 0 all files are good, 1 a file is refused, 2 wrong use.\n"
      "Text: \"FILE: ok\" or \"FILE: refused: ERROR\" with kube-scheduler's error, then a line a "
      "finding:\n  FILE:LINE:COLUMN: PATH: MESSAGE (HINT)\n"
      "JSON: {\"files\": [{\"file\", \"valid\", \"error\", \"findings\": [{\"severity\": "
      "\"error\" or\n\"warning\", \"path\", \"message\", \"line\", \"column\", \"hint\"}]}]}; "
      "line, column and hint only\nwhere they are known, \"object\" and \"key\" beside \"file\" "
      "for "
      "what a manifest holds." +
      std::string(kManifests));
  verb->add_option("files", options.files, "KubeSchedulerConfiguration files")
      ->required()
      ->type_name("FILE");
  AddFeatureGates(*verb, options.feature_gates);
  AddPluginLibraries(*verb);
  verb->add_option("--master", options.master, "the scheduler's --master")->type_name("URL");
  verb->add_flag("--elsewhere", options.elsewhere,
                 "the files that the configuration names (kubeconfig, certificates) are on another "
                 "machine: do not look at them");
  AddKey(*verb, options.key, "of the configurations that a manifest holds, check this one only");
  AddOutput(*verb, options.json);
  verb->callback([&options, &status] { status = RunCheckConfig(options); });
}

void DeclareDiffConfig(CLI::App& app, DiffConfigOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "diff-config",
      "what two files make a scheduler do differently: defaults filled in, plugins "
      "expanded to their extension points");
  verb->footer(
      "Status: 0 no difference, 1 differences, 2 a file is refused or wrong use.\n"
      "JSON: {\"same\", \"differences\": [{\"path\", \"before\", \"after\"}]}; before or after is "
      "left out\nfor what is not there." +
      std::string(kManifests));
  verb->add_option("before", options.before, "the one file")->required()->type_name("A");
  verb->add_option("after", options.after, "the other file")->required()->type_name("B");
  AddFeatureGates(*verb, options.feature_gates);
  AddPluginLibraries(*verb);
  AddKey(*verb, options.key, "which of the configurations that a manifest holds");
  AddOutput(*verb, options.json);
  verb->callback([&options, &status] { status = RunDiffConfig(options); });
}

void DeclareConvert(CLI::App& app, ConvertConfigOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "convert", "a Policy file or a KubeSchedulerConfiguration of v1alpha1 to v1beta3 as v1");
  verb->footer(
      "What could not be kept is listed on standard error and on top of the result.\n"
      "Status: 0 converted, 1 not readable or the result is not valid as it is, 2 wrong use." +
      std::string(kManifests));
  auto* in = verb->add_option("--in", options.in, "the old file (default: standard input)");
  in->type_name("FILE");
  verb->add_option("file", options.in, "the same")->type_name("FILE")->excludes(in);
  verb->add_option("-o,--out", options.out, "the new file (default: standard output)")
      ->type_name("OUT");
  AddKey(*verb, options.key, "which of the configurations that a manifest holds");
  verb->add_flag("--legacy", options.keep_legacy,
                 "keep NodeLabel, ServiceAffinity, SelectorSpread and NodePreferAvoidPods as "
                 "kubesched's plugins of these names (kube-scheduler has none of them)");
  verb->callback([&options, &status] { status = RunConvert(options); });
}

int RunExplainAsAsked(const ExplainOptions& options, LiveExplainOptions& live) {
  if (!options.files.empty()) return RunExplain(options);
  if (options.pod.empty()) {
    return Fail("name the pod that the running kubesched is to explain, or a dump with --dump");
  }
  live.pod = options.pod;
  live.node = options.node;
  live.preemption = options.preemption;
  live.suggest = options.suggest;
  live.live.json = options.json;
  return RunLiveExplain(live);
}

void DeclareExplain(CLI::App& app, ExplainOptions& options, LiveExplainOptions& live, int& status) {
  CLI::App* verb = app.add_subcommand(
      "explain",
      "why a pod goes where it goes, or nowhere: every plugin on every node, asked of a running "
      "kubesched or of a cluster dump");
  verb->footer(
      "Without --dump the running kubesched is asked about one pod, pending or not. With --dump "
      "all pending\npods of the dump, or one of them, are explained.\n"
      "The dump is what this prints:\n"
      "kubectl get nodes,pods,namespaces,services,rc,rs,sts,pdb,pv,pvc,sc,csinodes,csidrivers,"
      "csistoragecapacities,volumeattachments -A -o json\n"
      "(and podgroups,compositepodgroups where they exist)\n"
      "Nothing is scheduled: each pod is judged as if it were the only pending one; a group of "
      "pods "
      "is judged\nas a whole, behind its members or by its name (with --dump: --feature-gates "
      "GenericWorkload=true).\n"
      "Status: 0 explained, 1 the dump or the configuration is refused, or wrong use.");
  verb->add_option("pod", options.pod,
                   "this pod only, or this group: podgroup/[NAMESPACE/]NAME or "
                   "compositepodgroup/… (before --dump)")
      ->type_name("[NAMESPACE/]POD");
  // kubectl has another --cluster.
  auto* cluster =
      verb->add_option(IsKubectlPlugin() ? "--dump" : "--cluster,--dump", options.files,
                       "dumps, JSON or YAML, together one cluster; - is standard input");
  cluster->type_name("FILE");
  verb->add_option("--config", options.config_file,
                   "the scheduler's configuration, with --dump (default: the default profile)")
      ->needs(cluster)
      ->type_name("FILE");
  AddFeatureGates(*verb, options.feature_gates);
  verb->get_option("--feature-gates")->needs(cluster);
  AddPluginLibraries(*verb);
  verb->get_option("--plugin-library")->needs(cluster);
  AddDaemonOptions(*verb, live.live.daemon);
  for (const char* name : {"--scheduler-url", "--scheduler-pod", "--context", "--kubeconfig"}) {
    verb->get_option(name)->excludes(cluster);
  }
  verb->add_option("-n,--namespace", live.ns,
                   "of a pod that is named without one (default: the context's, else \"default\")")
      ->excludes(cluster);
  verb->add_option("--node", options.node, "show this node only")->type_name("NODE");
  verb->add_flag("--preemption", options.preemption,
                 "also what preemption would do for pods that fit nowhere");
  verb->add_flag(
      "--suggest", options.suggest,
      "also what would have to change for a pod that fits nowhere: each change was tried");
  verb->add_option_function<std::string>(
          "-o,--output", [&options](const std::string& format) { options.json = format == "json"; },
          "output format; json is one line a pod")
      ->check(CLI::IsMember({"table", "json"}))
      ->default_str("table");
  verb->callback([&options, &live, &status] { status = RunExplainAsAsked(options, live); });
}

void DeclareReplay(CLI::App& app, ReplayOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "replay",
      "a recording of kubesched --record once more, without a cluster, and the first decision that "
      "differs");
  verb->footer(
      "Compared is with what was recorded, or with --against. A decision differs if another pod, "
      "result,\nnode, nominated node or text of a failure comes out, or another victim is evicted. "
      "Feature gates and\nchance are those of the recording; a configuration given here stays in "
      "force over recorded reloads.\n"
      "Status: 0 no decision differs, 1 one does, 2 the recording or a configuration is refused, "
      "or "
      "wrong use.");
  verb->add_option("recording", options.recording, "the file; - is standard input")
      ->required()
      ->type_name("RECORDING");
  verb->add_option("--config", options.config_file,
                   "the configuration to replay with (default: the recorded one)")
      ->type_name("A");
  verb->add_option("--against", options.against_file,
                   "compare with a second replay, with this configuration (default: compare with "
                   "what was recorded)")
      ->type_name("B");
  AddPluginLibraries(*verb);
  verb->add_flag("--partial", options.partial,
                 "replay a recording that has no end, of a kubesched that runs or was killed");
  AddOutput(*verb, options.json);
  verb->callback([&options, &status] { status = RunReplay(options); });
}

void DeclareCompletion(CLI::App& app, std::string& shell, int& status) {
  CLI::App* verb = app.add_subcommand(
      "completion", "print a script that completes this program's command lines in a shell");
  const std::string kubectl =
      "kubectl: " + std::string(ProgramName()) +
      " completion kubectl > ~/.local/bin/kubectl_complete-sched, made executable: kubectl's\n"
      "         own completion then completes \"kubectl sched\", too (kubectl completion --help).";
  // kubectl's plugin is completed by kubectl alone.
  const bool plugin = IsKubectlPlugin();
  verb->footer((plugin ? std::string()
                       : "bash:    source <(kubeschedctl completion bash)    # in ~/.bashrc\n"
                         "zsh:     source <(kubeschedctl completion zsh)     # in ~/.zshrc, after "
                         "compinit\n"
                         "fish:    kubeschedctl completion fish > "
                         "~/.config/fish/completions/kubeschedctl.fish\n") +
               kubectl);
  const std::vector<std::string> shells = {"bash", "zsh", "fish", "kubectl"};
  verb->add_option("shell", shell, "for what")
      ->required()
      ->check(CLI::IsMember(plugin ? std::vector<std::string>{"kubectl"} : shells));
  verb->callback([&shell, &status] {
    const std::string script = CompletionScript(shell, "kubeschedctl");
    status = std::fputs(script.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
  });
}

// What is to be completed, if that is what this call is for.
std::optional<std::vector<std::string>> WordsToComplete(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (HowCalled() == CalledAs::kPluginCompletion) return words;
  if (words.empty() || words.front() != "__complete") return std::nullopt;
  words.erase(words.begin());
  return words;
}

int Main(int argc, char** argv) {
  CLI::App app(std::string(ProgramName()) + " is the tool for operators of kubesched.",
               ProgramName());
  app.require_subcommand(1);
  int status = 0;
  DemoOptions demo;
  ApiserverOptions apiserver;
  DeclareDemo(app, demo, status);
  DeclareApiserver(app, apiserver, status);
  CheckConfigOptions check_config;
  DiffConfigOptions diff_config;
  ConvertConfigOptions convert;
  DeclareCheckConfig(app, check_config, status);
  DeclareDiffConfig(app, diff_config, status);
  DeclareConvert(app, convert, status);
  ExplainOptions explain;
  LiveExplainOptions live_explain;
  DeclareExplain(app, explain, live_explain, status);
  ReplayOptions replay;
  DeclareReplay(app, replay, status);
  const LiveVerbs live_verbs(app, status);
  std::string shell;
  DeclareCompletion(app, shell, status);
  UiOptions ui;
  DeclareUi(app, ui, status);
  app.add_subcommand("version", "print the version")->callback([] {
    std::printf("%s %s\n", ProgramName(), KS_VERSION);
  });
  if (const auto words = WordsToComplete(argc, argv); words.has_value()) {
    std::fputs(CompletionText(Complete(app, *words)).c_str(), stdout);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return 0;
    const bool judges = app.got_subcommand("check-config") || app.got_subcommand("diff-config") ||
                        app.got_subcommand("convert") || app.got_subcommand("replay");
    return judges ? kUsageStatus : 1;
  }
  return status;
}

}  // namespace
}  // namespace ks::ctl

int main(int argc, char** argv) {
  ks::client::InitializeClientProcess();
  return ks::ctl::Main(argc, argv);
}
