// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/debug_endpoints.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/print/print_json.h"
#include "inspect/cache_report.h"
#include "inspect/cluster_changes.h"
#include "inspect/decision_json.h"
#include "inspect/explain_group.h"
#include "inspect/fill.h"
#include "inspect/live_explain.h"
#include "inspect/queue_report.h"
#include "inspect/simulate.h"
#include "kubesched/endpoints/debug_worker.h"
#include "kubesched/endpoints/list_cluster.h"

namespace ks::daemon {
namespace {

using inspect::AnsweringReplica;
using inspect::Refusal;
using scheduler::Scheduler;
using server::Reply;
using server::Request;
using server::Response;

constexpr std::string_view kRoot = "/debug/kubesched/";
constexpr std::string_view kNoScheduler =
    "kubesched is starting or stopping: no scheduler runs at this moment";
constexpr size_t kMostManifestBytes = size_t{1} << 20;
constexpr size_t kMostListed = 1'000'000;

Response Json(std::string body) {
  return {.content_type = "application/json", .body = std::move(body) + "\n"};
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    default:
      return "InternalError";
  }
}

// As the API server writes errors, so that its clients show the text.
Response Refused(int status, std::string_view text) {
  config::JsonBuilder json;
  json.BeginObject();
  json.Key("kind").Text("Status");
  json.Key("apiVersion").Text("v1");
  json.Key("metadata").BeginObject().EndObject();
  json.Key("status").Text("Failure");
  json.Key("message").Text(text);
  json.Key("reason").Text(ReasonOf(status));
  json.Key("code").Number(status);
  json.EndObject();
  Response response = Json(json.Take());
  response.status = status;
  return response;
}
Response Refused(const Refusal& refusal) { return Refused(refusal.status, refusal.text); }

// The parameters of a question. The first fault counts; the question is not put then.
class Parameters {
 public:
  Parameters(const Request& request, std::initializer_list<std::string_view> known)
      : query_(request.query) {
    for (const std::string_view key : Keys(request.query)) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string text = "unknown parameter \"" + std::string(key) + "\"; known are:";
      for (const std::string_view name : known) text += " " + std::string(name);
      fault_ = std::move(text);
      return;
    }
  }

  std::string Text(std::string_view key) const { return std::string(query_.Get(key)); }
  // "namespace/name"; without a namespace, default.
  std::string Key(std::string_view key) const {
    const std::string text = Text(key);
    return text.empty() || text.find('/') != std::string::npos ? text : "default/" + text;
  }
  bool Flag(std::string_view key) {
    if (!query_.Has(key)) return false;
    const std::string_view text = query_.Get(key);
    if (text.empty() || text == "true" || text == "1") return true;
    if (text != "false" && text != "0") Fault(key, text, "true or false");
    return false;
  }
  // 0: all.
  size_t Limit(size_t otherwise) {
    if (!query_.Has("limit")) return otherwise;
    const std::string_view text = query_.Get("limit");
    size_t limit = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (error != std::errc() || end != text.data() + text.size()) {
      Fault("limit", text, "a number; 0 is all");
    }
    return limit == 0 ? kMostListed : limit;
  }
  void Fault(std::string_view key, std::string_view value, std::string_view wanted) {
    Fault(key, "\"" + std::string(value) + "\" is not " + std::string(wanted));
  }
  void Fault(std::string_view key, const std::string& what) {
    if (fault_.empty()) fault_ = "parameter " + std::string(key) + ": " + what;
  }
  const std::string& fault() const { return fault_; }

 private:
  static std::vector<std::string_view> Keys(std::string_view query) {
    std::vector<std::string_view> keys;
    while (!query.empty()) {
      const size_t end = std::min(query.find('&'), query.size());
      const std::string_view pair = query.substr(0, end);
      if (!pair.empty()) keys.push_back(pair.substr(0, pair.find('=')));
      query.remove_prefix(std::min(end + 1, query.size()));
    }
    return keys;
  }

  server::Query query_;
  std::string fault_;
};

// Threads: the scheduling thread.
AnsweringReplica ReplicaOf(const DebugSources& sources, const Scheduler& scheduler) {
  return {.standby = !scheduler.leading(),
          .identity = sources.identity ? sources.identity() : std::string()};
}

// Carries questions to the scheduling thread and what was found there to the worker. Copies share
// the worker; the last one, which is a handler's, ends it.
class QuestionDispatcher {
 public:
  explicit QuestionDispatcher(const DebugSources& sources)
      : sources_(sources), worker_(std::make_shared<DebugWorker>()) {}

  const DebugSources& sources() const { return sources_; }
  const std::shared_ptr<DebugWorker::JobQueue>& queue() const { return worker_->queue(); }

  // `look` runs on the scheduling thread, `tell` with its result and who it is on the worker.
  template <class Look, class Tell>
  void AskScheduler(const Reply& reply, Look look, Tell tell) const {
    const bool asked = sources_.scheduler.Post([sources = sources_, queue = worker_->queue(), reply,
                                                look = std::move(look),
                                                tell = std::move(tell)](Scheduler& scheduler) {
      auto found = std::make_shared<decltype(look(scheduler))>(look(scheduler));
      AnsweringReplica replica = ReplicaOf(sources, scheduler);
      // What was found is large and is to end on the worker, too.
      auto job = [reply, found = std::move(found), tell, replica = std::move(replica)] {
        reply(tell(*found, replica));
      };
      if (!queue->Enqueue(std::move(job))) RefuseBusy(reply);
    });
    if (!asked) reply(Refused(503, kNoScheduler));
  }
  // `tell` runs on the worker.
  template <class Tell>
  void RunOnWorker(const Reply& reply, Tell tell) const {
    if (!worker_->queue()->Enqueue([reply, tell = std::move(tell)] { reply(tell()); })) {
      RefuseBusy(reply);
    }
  }

 private:
  static void RefuseBusy(const Reply& reply) {
    reply(Refused(429, "too many questions at once; ask again in a moment"));
  }

  DebugSources sources_;
  std::shared_ptr<DebugWorker> worker_;
};

// True: the request is not to be answered otherwise.
bool RefuseMethod(const Request& request, std::string_view method, const Reply& reply) {
  if (request.method == method || (method == "GET" && request.method == "HEAD")) return false;
  Response response = Refused(405, request.path + " is asked with " + std::string(method));
  response.headers.emplace_back("Allow", method);
  reply(std::move(response));
  return true;
}

bool RefuseParameters(const Parameters& parameters, const Reply& reply) {
  if (parameters.fault().empty()) return false;
  reply(Refused(400, parameters.fault()));
  return true;
}

void AnswerQueue(const QuestionDispatcher& dispatcher, const Request& request, const Reply& reply) {
  Parameters parameters(request, {"namespace", "pod", "plugin", "queue", "limit"});
  inspect::QueueFilter filter{.ns = parameters.Text("namespace"),
                              .pod = parameters.Key("pod"),
                              .plugin = parameters.Text("plugin"),
                              .limit = parameters.Limit(500)};
  if (const std::string part = parameters.Text("queue"); !part.empty()) {
    filter.part = inspect::ParseQueuePart(part);
    if (!filter.part) {
      parameters.Fault("queue", part,
                       "active, backoff, inFlight, waiting, binding, unschedulable, gated, "
                       "incomplete or pending");
    }
  }
  if (RefuseParameters(parameters, reply)) return;
  dispatcher.AskScheduler(reply, inspect::CollectQueue,
                          [filter](inspect::QueueReport& report, const AnsweringReplica& replica) {
                            inspect::SortQueue(&report);
                            return Json(inspect::QueueJson(report, filter, replica));
                          });
}

void AnswerExplainGroup(const QuestionDispatcher& dispatcher, const framework::PodGroupKey& group,
                        inspect::ExplainPreemption preemption, const Reply& reply) {
  dispatcher.AskScheduler(
      reply, inspect::CopyCluster,
      [group, preemption](const std::variant<inspect::ClusterCopy, Refusal>& copy,
                          const AnsweringReplica& replica) {
        if (const auto* refusal = std::get_if<Refusal>(&copy)) {
          return Refused(*refusal);
        }
        const auto answer = inspect::LiveGroupJson(std::get<inspect::ClusterCopy>(copy), group,
                                                   replica, preemption);
        if (const auto* refusal = std::get_if<Refusal>(&answer)) {
          return Refused(*refusal);
        }
        return Json(std::get<std::string>(answer));
      });
}

void AnswerExplain(const QuestionDispatcher& dispatcher, const Request& request,
                   const Reply& reply) {
  Parameters parameters(request, {"pod", "podGroup", "node", "preemption", "suggest"});
  inspect::ExplainQuestion question{.pod = parameters.Key("pod"), .node = parameters.Text("node")};
  if (parameters.Flag("preemption")) question.preemption = inspect::ExplainPreemption::kYes;
  question.suggest = parameters.Flag("suggest");
  const std::string group = parameters.Text("podGroup");
  if (question.pod.empty() && group.empty()) {
    parameters.Fault("pod", "", "the pod to explain, namespace/name");
  }
  const auto key = inspect::ParseGroupName(group);
  if (!group.empty() && !key) {
    parameters.Fault("podGroup", group, "podgroup/NAMESPACE/NAME or compositepodgroup/…");
  }
  if (RefuseParameters(parameters, reply)) return;
  if (key) return AnswerExplainGroup(dispatcher, *key, question.preemption, reply);
  dispatcher.AskScheduler(
      reply, [question](Scheduler& scheduler) { return inspect::ExplainLive(scheduler, question); },
      [question](std::variant<inspect::LiveExplanation, Refusal>& answer,
                 const AnsweringReplica& replica) {
        if (const auto* refusal = std::get_if<Refusal>(&answer)) return Refused(*refusal);
        inspect::SuggestFor(&std::get<0>(answer), question);
        inspect::ExplainGroupOf(&std::get<0>(answer), question.preemption);
        return Json(inspect::LiveExplanationJson(std::get<0>(answer), replica));
      });
}

void AnswerDecisions(const QuestionDispatcher& dispatcher, const Request& request,
                     const Reply& reply) {
  Parameters parameters(request, {"namespace", "pod", "node", "result", "limit"});
  const std::string ns = parameters.Text("namespace");
  const std::string pod = parameters.Key("pod");
  const std::string node = parameters.Text("node");
  const std::string result = parameters.Text("result");
  const size_t limit = parameters.Limit(100);
  if (RefuseParameters(parameters, reply)) return;
  const auto wanted = [=](const scheduler::Decision& decision) {
    if (!ns.empty() && decision.pod->meta.ns.view() != ns) return false;
    if (!pod.empty() && decision.pod->meta.Key() != pod) return false;
    if (!node.empty() && decision.node != node) return false;
    return result.empty() || scheduler::DecisionResultText(decision.result) == result;
  };
  dispatcher.AskScheduler(
      reply,
      [=](Scheduler& scheduler) {
        const scheduler::DecisionRing& ring = scheduler.context().decisions;
        return inspect::DecisionList{.kept = ring.capacity(),
                                     .made = ring.newest(),
                                     .decisions = ring.Newest(limit, wanted)};
      },
      [](const inspect::DecisionList& list, const AnsweringReplica& replica) {
        return Json(inspect::DecisionsJson(list, replica));
      });
}

// On the worker: the API server and the scheduling thread are asked in turn. A difference counts if
// it is there twice, as both go on while they are asked.
Response CompareCache(const DebugSources& sources, DebugWorker::JobQueue& queue,
                      const inspect::CacheJsonOptions& options) {
  constexpr Duration kBetweenRounds = std::chrono::seconds(1);
  inspect::CacheComparison comparison;
  for (comparison.rounds = 1;; ++comparison.rounds) {
    const auto account = ListCluster(sources.access);
    if (!account.ok()) return Refused(502, account.error().message);
    const auto answer = sources.scheduler.Ask([&sources](Scheduler& scheduler) {
      return std::make_pair(inspect::CollectCache(scheduler), ReplicaOf(sources, scheduler));
    });
    if (!answer) return Refused(503, kNoScheduler);
    const auto& [dump, replica] = *answer;
    if (!dump.synced) return Refused(503, "the scheduler has not read the cluster yet");
    comparison.nodes = account->nodes.size();
    comparison.pods = account->pods.size();
    auto differences = inspect::Compare(dump, *account);
    const bool last = comparison.rounds == 2;
    comparison.differences =
        last ? inspect::Lasting(comparison.differences, differences) : std::move(differences);
    if (last || comparison.differences.empty()) {
      inspect::CacheJsonOptions with_result = options;
      with_result.comparison = &comparison;
      return Json(inspect::CacheJson(dump, with_result, replica));
    }
    if (!queue.WaitFor(kBetweenRounds)) return Refused(503, kNoScheduler);
  }
}

void AnswerCache(const QuestionDispatcher& dispatcher, const Request& request, const Reply& reply) {
  Parameters parameters(request, {"node", "pods", "compare", "nodes", "label"});
  const std::string node = parameters.Text("node");
  const bool compare = parameters.Flag("compare");
  inspect::CacheJsonOptions options{.list_pods = parameters.Flag("pods") || !node.empty()};
  options.label = parameters.Text("label");
  // A comparison is asked for its differences.
  options.list_nodes = compare ? parameters.Flag("nodes") : true;
  if (compare && !node.empty()) parameters.Fault("node", node, "possible together with compare");
  if (RefuseParameters(parameters, reply)) return;
  if (compare) {
    dispatcher.RunOnWorker(reply, [sources = dispatcher.sources(), queue = dispatcher.queue(),
                                   options] { return CompareCache(sources, *queue, options); });
    return;
  }
  dispatcher.AskScheduler(
      reply,
      [node, pods = options.list_pods](Scheduler& scheduler) {
        return inspect::CollectCache(scheduler, {.node = node, .pods = pods, .pending = false});
      },
      [node, options](const inspect::CacheDump& dump, const AnsweringReplica& replica) {
        if (!node.empty() && dump.nodes.empty()) {
          return Refused(404, "no node " + node + " is known to the scheduler");
        }
        return Json(inspect::CacheJson(dump, options, replica));
      });
}

struct SimulateQuestion {
  std::string manifests;
  int64_t replicas = -1;  // negative: theirs
  bool fill = false;
  inspect::ClusterChanges changes{};
};

// On the worker.
Response AnswerOnCopy(const inspect::ClusterCopy& cluster, const inspect::SimulatedPods& pods,
                      bool fill, const AnsweringReplica& replica) {
  if (fill) {
    const auto filled = inspect::Fill(cluster, pods);
    if (!filled.ok()) return Refused(400, filled.error().message);
    return Json(inspect::FillJson(cluster, *filled, replica));
  }
  const auto simulation = inspect::Simulate(cluster, pods);
  if (!simulation.ok()) return Refused(500, simulation.error().message);
  return Json(inspect::SimulationJson(*simulation, pods, replica));
}

// On the worker.
Response SimulatePods(const DebugSources& sources, const SimulateQuestion& question) {
  const auto pods = inspect::ReadManifests(question.manifests, question.replicas);
  if (!pods.ok()) return Refused(400, pods.error().message);
  auto answer = sources.scheduler.Ask([&sources](Scheduler& scheduler) {
    return std::make_pair(inspect::CopyCluster(scheduler), ReplicaOf(sources, scheduler));
  });
  if (!answer) return Refused(503, kNoScheduler);
  auto& [copy, replica] = *answer;
  if (const auto* refusal = std::get_if<Refusal>(&copy)) return Refused(*refusal);
  if (auto changed = inspect::Change(question.changes, &std::get<0>(copy)); !changed.ok()) {
    return Refused(400, changed.error().message);
  }
  return AnswerOnCopy(std::get<0>(copy), *pods, question.fill, replica);
}

// A parameter that is a list; what cannot be read is told as the error says.
template <typename Entries>
void ReadList(Parameters& parameters, std::string_view key,
              Result<Entries> (*parse)(std::string_view text), Entries* into) {
  auto entries = parse(parameters.Text(key));
  if (!entries.ok()) return parameters.Fault(key, entries.error().message);
  *into = std::move(entries).value();
}

void AnswerSimulate(const QuestionDispatcher& dispatcher, const Request& request,
                    const Reply& reply) {
  Parameters parameters(request, {"replicas", "fill", "moreNodes", "withoutNodes", "weights"});
  SimulateQuestion question{.manifests = request.body, .fill = parameters.Flag("fill")};
  if (question.fill) question.replicas = 1;
  if (const std::string text = parameters.Text("replicas"); !text.empty()) {
    int64_t& replicas = question.replicas;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), replicas);
    const bool number = error == std::errc() && end == text.data() + text.size();
    if (!number || replicas < 0 || static_cast<uint64_t>(replicas) > inspect::kMostSimulatedPods) {
      parameters.Fault("replicas", text,
                       "a number up to " + std::to_string(inspect::kMostSimulatedPods));
    }
    if (question.fill) parameters.Fault("replicas", text, "left out: fill counts them");
  }
  ReadList(parameters, "moreNodes", inspect::ParseFurtherNodes, &question.changes.further);
  ReadList(parameters, "withoutNodes", inspect::ParseGoneNodes, &question.changes.gone);
  ReadList(parameters, "weights", inspect::ParseWeights, &question.changes.weights);
  if (RefuseParameters(parameters, reply)) return;
  dispatcher.RunOnWorker(reply, [sources = dispatcher.sources(), question = std::move(question)] {
    return SimulatePods(sources, question);
  });
}

using Answer = void (*)(const QuestionDispatcher& dispatcher, const Request& request,
                        const Reply& reply);

}  // namespace

void InstallDebugEndpoints(server::HttpsServer& https, const DebugSources& sources) {
  const QuestionDispatcher dispatcher(sources);
  const auto install = [&](std::string_view name, std::string_view method, Answer answer,
                           server::RouteOptions options = {}) {
    https.HandleAsync(
        std::string(kRoot) + std::string(name),
        [dispatcher, method, answer](const Request& request, const Reply& reply) {
          if (!RefuseMethod(request, method, reply)) answer(dispatcher, request, reply);
        },
        options);
  };
  install("queue", "GET", AnswerQueue);
  install("explain", "GET", AnswerExplain);
  install("decisions", "GET", AnswerDecisions);
  install("cache", "GET", AnswerCache);
  install("simulate", "POST", AnswerSimulate, {.body_limit = kMostManifestBytes});
  https.HandlePrefix(std::string(kRoot), [](const Request&, const Reply& reply) {
    reply(Refused(404, "there are: cache, decisions, explain, queue, simulate"));
  });
}

}  // namespace ks::daemon
