// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/apiserver.h"

#include <semaphore.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "apiserver/registry/snapshot.h"
#include "base/file_text.h"
#include "golang/durations.h"
#include "kubeschedctl/cluster/workload.h"
#include "kubeschedctl/text/status.h"

namespace ks::ctl {
namespace {

void AddDuration(CLI::App& verb, const char* name, Duration& target, const char* help) {
  verb.add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            const Result<Duration> duration = golang::ParseDuration(text);
            if (!duration.ok() || *duration < Duration{}) {
              throw CLI::ValidationError(
                  name, duration.ok() ? "must not be negative" : duration.error().message);
            }
            target = *duration;
          },
          help)
      ->type_name("DURATION")
      ->default_str(FormatDuration(target));
}

void AddAgents(CLI::App& verb, ApiserverOptions& options) {
  apiserver::NodeAgentOptions& agents = options.server.agent_options;
  CLI::Option* on = verb.add_flag("--agents", options.server.agents,
                                  "simulate node agents: bound pods run, end and go away");
  AddDuration(verb, "--agent-start-delay", agents.start_delay, "from binding to Running");
  AddDuration(verb, "--agent-lifetime", agents.lifetime,
              "of pods without annotation kubesched.io/lifetime; 0s: for ever");
  AddDuration(verb, "--agent-termination", agents.termination, "from deletion to gone");
  AddDuration(verb, "--agent-lease-interval", agents.lease_interval, "of node leases; 0s: none");
  AddDuration(verb, "--agent-failure-interval", agents.mean_time_between_failures,
              "mean time between failures of a node; 0s: nodes do not fail");
  AddDuration(verb, "--agent-failure-duration", agents.failure_duration, "how long one lasts");
  for (CLI::Option* each : verb.get_options()) {
    if (each->get_name().starts_with("--agent-")) {
      each->needs(on);
    }
  }
}

void AddDevices(CLI::App& verb, ApiserverOptions& options) {
  apiserver::DeviceDriverOptions& devices = options.server.devices;
  const auto parse = [&devices](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const Result<void> parsed = apiserver::ParseDeviceKinds(text, devices.kinds);
      if (!parsed.ok()) throw CLI::ValidationError("--devices", parsed.error().message);
    }
  };
  CLI::Option* on = verb.add_option_function<std::vector<std::string>>(
      "--devices", parse,
      "simulated devices on each node: 8xgpu, or 8xgpu,2xnic; with :binding (their driver must say "
      "that they are ready), :shared (by capacity), :tainted (the last one)");
  on->type_name("COUNTxNAME")->allow_extra_args(false);
  AddDuration(verb, "--device-ready-delay", devices.ready_delay,
              "from allocation to the binding conditions of devices that are :binding");
  verb.get_option("--device-ready-delay")->needs(on);
  verb.add_flag("--claims", options.server.claims,
                "make resource claims of templates and give back what is unused; always with "
                "--devices");
}

sem_t g_ended;  // posted by the signal handler: nothing else is allowed there

Result<void> AwaitSignal() {
  struct sigaction action {};
  action.sa_handler = [](int) { sem_post(&g_ended); };
  sigemptyset(&action.sa_mask);
  if (sem_init(&g_ended, 0, 0) != 0 || sigaction(SIGTERM, &action, nullptr) != 0 ||
      sigaction(SIGINT, &action, nullptr) != 0) {
    return Error{"the signal handlers cannot be set"};
  }
  return {};
}

// Each client is a connection: as many as the system allows.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

Result<void> MakeNodes(apiserver::Service& service, const ApiserverOptions& options) {
  const Workload workload{.label = "kubeschedctl-apiserver", .zones = options.zones};
  const apiserver::KindInfo& kind = *apiserver::FindResource("", "v1", "nodes");
  for (size_t i = 0; i < options.nodes; ++i) {
    const auto made =
        service.registry().Create(kind, "", nlohmann::json::parse(NodeBody(workload, i)));
    if (!made.ok()) {
      return Error{"node " + NodeName(i) + ": " + made.failure().message};
    }
  }
  return {};
}

void SayHello(const apiserver::ApiServer& server, const ApiserverOptions& options) {
  std::printf(
      "serving on %s\n"
      "  kubectl --kubeconfig %s get nodes\n"
      "  kubesched --kubeconfig %s\n"
      "in memory only: everything is gone when it ends%s\n",
      server.url().c_str(), server.admin_kubeconfig().c_str(),
      server.scheduler_kubeconfig().c_str(),
      options.snapshot_on_exit.empty() ? " (--snapshot-on-exit FILE keeps it)"
                                       : (", but for " + options.snapshot_on_exit).c_str());
  if (!server.left_out().empty()) {
    std::printf("left out: %s", server.left_out().c_str());
  }
  std::fflush(stdout);
}

Result<void> Serve(const ApiserverOptions& options) {
  RaiseFileLimit();
  if (Result<void> set = AwaitSignal(); !set.ok()) {
    return set;
  }
  apiserver::ApiServerOptions server_options = options.server;
  server_options.before_serving = [&options](apiserver::Service& service) {
    return MakeNodes(service, options);
  };
  Result<std::unique_ptr<apiserver::ApiServer>> started =
      apiserver::ApiServer::Start(server_options);
  if (!started.ok()) {
    return started.error();
  }
  apiserver::ApiServer& server = **started;
  SayHello(server, options);
  while (sem_wait(&g_ended) != 0 && errno == EINTR) {
  }
  server.Stop();
  if (options.snapshot_on_exit.empty()) {
    return {};
  }
  return WriteFileAtomically(options.snapshot_on_exit,
                             apiserver::SnapshotText(server.service().store()), 0600);
}

}  // namespace

void DeclareApiserver(CLI::App& app, ApiserverOptions& options, int& status) {
  CLI::App* verb = app.add_subcommand(
      "apiserver", "run an in-memory Kubernetes API server for tests and demonstrations");
  verb->footer(
      "Writes DIR/admin.kubeconfig and DIR/scheduler.kubeconfig; ready when GET /readyz answers.\n"
      "Ends on SIGTERM or SIGINT with status 0. Nothing is durable. See docs/apiserver.md.");
  apiserver::ApiServerOptions& server = options.server;
  verb->add_option("--secure-port", server.port, "port; 0: any free one")->capture_default_str();
  verb->add_option("--bind-address", server.bind_address, "address to listen on")
      ->capture_default_str();
  verb->add_option("--dir", server.dir, "folder for kubeconfigs, certificates and tokens")
      ->required()
      ->type_name("DIR");
  verb->add_option("--nodes", options.nodes, "made-up nodes to begin with")->capture_default_str();
  verb->add_option("--zones", options.zones, "zones of these nodes; 0: nodes without a zone")
      ->capture_default_str();
  verb->add_option("--load", server.load, "dumps to begin with: a v1 List in JSON or YAML")
      ->type_name("FILE");
  verb->add_option("--snapshot-on-exit", options.snapshot_on_exit,
                   "write everything as a v1 List when it ends")
      ->type_name("FILE");
  verb->add_option("--policy", server.policy_file,
                   "who may do what, in the ABAC format (default: everybody everything)")
      ->type_name("FILE");
  verb->add_option("--faults", server.faults_file, "fault rules, see docs/apiserver.md")
      ->type_name("FILE");
  AddDuration(*verb, "--event-ttl", server.service.event_ttl, "how long events are kept");
  verb->add_option("--history", server.service.store.history,
                   "changes kept of each kind, for watches that begin in the past")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_flag("--volumes", server.volumes, "bind and provision persistent volumes");
  AddDevices(*verb, options);
  verb->add_option("--seed", server.seed, "of names, uids and chance")->capture_default_str();
  AddAgents(*verb, options);
  verb->callback([&options, &status] {
    options.server.agent_options.seed = options.server.seed;
    status = RunApiserver(options);
  });
}

int RunApiserver(const ApiserverOptions& options) {
  const Result<void> done = Serve(options);
  return done.ok() ? 0 : Fail(done.error().message);
}

}  // namespace ks::ctl
