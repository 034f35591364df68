// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/executor.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "ksdev/perf/claim_allocation.h"
#include "ksdev/perf/node_objects.h"
#include "ksdev/perf/object_template.h"

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kSecond{1};

std::string OwnNamespace(const std::optional<std::string>& ns, size_t index) {
  return ns ? *ns : fmt::format("namespace-{}", index);
}

std::string PodsOf(const std::string& ns) {
  return "/api/v1/namespaces/" + client::EscapeUrl(ns) + "/pods";
}

std::string SelectorOf(const TextMap& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text;
}

// What one template of a churn has made: a name a round, or none.
struct Churned {
  Json object;
  std::string ns;
  std::vector<std::string> names;
};

Result<std::vector<Churned>> ChurnedOf(const Churn& churn, const std::string& ns,
                                       ObjectClient& objects) {
  std::vector<Churned> all;
  for (const std::string& path : churn.template_paths) {
    const Result<ObjectTemplate> loaded = ObjectTemplate::LoadPlain(path);
    if (!loaded.ok()) return loaded.error();
    const Result<Json> object = loaded->Make(0, 1, {});
    if (!object.ok()) return object.error();
    const Result<bool> namespaced = objects.Namespaced(*object);
    if (!namespaced.ok()) return namespaced.error();
    all.push_back({.object = *object,
                   .ns = *namespaced ? ns : "",
                   .names = std::vector<std::string>(churn.recreate ? churn.number : 1)});
  }
  return all;
}

// An object that cannot be created is passed over, as upstream does.
Result<void> ChurnOne(ObjectClient& objects, Churned& churned, size_t slot, bool recreate) {
  std::string& name = churned.names[slot];
  if (recreate && !name.empty()) {
    return objects.Delete(churned.object, churned.ns, std::exchange(name, {}));
  }
  const Result<Json> made = objects.Create(churned.object, churned.ns);
  if (made.ok()) name = made->at("metadata").value("name", "");
  return {};
}

}  // namespace

Executor::Executor(Cluster& cluster, PodWatch& pods, MeasuredScheduler& scheduler,
                   const ExecutorOptions& options)
    : options_(options),
      pods_(pods),
      scheduler_(scheduler),
      objects_(cluster.rest(), options.embedded_server),
      collector_(pods, scheduler, options.perf_case.metrics) {}

Result<void> Executor::Run(const std::vector<Operation>& operations) {
  for (size_t i = 0; i < operations.size(); ++i) {
    const Result<void> done =
        std::visit([this, i](const auto& operation) { return Do(operation, i); }, operations[i]);
    if (done.ok()) continue;
    (void)background_.Stop();
    return Error{fmt::format("op {}: {}", i, done.error().message)};
  }
  const Result<void> ended = background_.Stop();
  return ended.ok() ? ended : Result<void>(Error{"in the background: " + ended.error().message});
}

Result<void> Executor::Do(const CreateNodes& nodes, size_t index) {
  const auto made = NodeObjects::Make(nodes, index, nodes_, DeclaredFeatures(options_.perf_case));
  if (!made.ok()) return made.error();
  nodes_ += nodes.count;
  return InParallel(nodes.count, kWorkers, [&](size_t i) -> Result<void> {
    const Result<Json> node = made->Node(i);
    if (!node.ok()) return node.error();
    const Result<Json> created = objects_.Create(*node, "");
    if (!created.ok()) return created.error();
    const Json csi = made->CsiNode(node->at("metadata").value("name", ""));
    if (csi.is_null()) return {};
    const Result<Json> with = objects_.Create(csi, "");
    return with.ok() ? Result<void>() : Result<void>(with.error());
  });
}

Result<void> Executor::Do(const CreateNamespaces& namespaces, size_t) {
  Json object = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object()}};
  if (!namespaces.template_path.empty()) {
    const Result<ObjectTemplate> loaded = ObjectTemplate::LoadPlain(namespaces.template_path);
    if (!loaded.ok()) return loaded.error();
    const Result<Json> made = loaded->Make(0, namespaces.count, {});
    if (!made.ok()) return made.error();
    object.update(*made);
  }
  return InParallel(namespaces.count, kWorkers, [&](size_t i) -> Result<void> {
    Json one = object;
    one["metadata"]["name"] = fmt::format("{}-{}", namespaces.prefix, i);
    return objects_.EnsureNamespace(one);
  });
}

Result<void> Executor::Do(const CreateAny& any, size_t) {
  const Result<ObjectTemplate> loaded = ObjectTemplate::Load(any.template_path);
  if (!loaded.ok()) return loaded.error();
  if (!any.ns.empty()) {
    if (Result<void> there = objects_.EnsureNamespace(any.ns); !there.ok()) return there;
  }
  return InParallel(any.count, kWorkers, [&](size_t i) -> Result<void> {
    const Result<Json> object = loaded->Make(i, any.count, any.template_params);
    if (!object.ok()) return object.error();
    const Result<Json> created = objects_.Create(*object, any.ns);
    return created.ok() ? Result<void>() : Result<void>(created.error());
  });
}

Result<void> Executor::UpdateOne(const UpdateAny& any, const Json& object) {
  std::string part;
  for (const std::string& name : any.subresources) part += (part.empty() ? "" : "/") + name;
  if (Result<void> updated = objects_.Update(object, any.ns, part); !updated.ok()) return updated;
  return objects_.Update(object, any.ns, "status");
}

Result<void> Executor::Do(const UpdateAny& any, size_t) {
  const Result<ObjectTemplate> loaded = ObjectTemplate::Load(any.template_path);
  if (!loaded.ok()) return loaded.error();
  return Paced(any.count, any.per_second, [&](size_t i) -> Result<void> {
    const Result<Json> object = loaded->Make(i, any.count, {});
    return object.ok() ? UpdateOne(any, *object) : Result<void>(object.error());
  });
}

Result<void> Executor::Paced(size_t count, size_t per_second,
                             const std::function<Result<void>(size_t)>& work) {
  auto next = steady_clock::now();
  for (size_t i = 0; i < count; ++i) {
    if (per_second > 0) {
      next += std::chrono::nanoseconds(kSecond) / per_second;
      std::this_thread::sleep_until(next);
    }
    if (Result<void> done = work(i); !done.ok()) return done;
  }
  return {};
}

Result<void> Executor::Do(const DeletePods& pods, size_t) {
  if (pods.per_second == 0) {
    const std::string target =
        PodsOf(pods.ns) + "?labelSelector=" + client::EscapeUrl(SelectorOf(pods.labels));
    if (!pods.skip_wait) return objects_.DeleteAt(target);
    background_.Every({}, [this, target](size_t) -> Result<bool> {
      const Result<void> deleted = objects_.DeleteAt(target);
      return deleted.ok() ? Result<bool>(false) : Result<bool>(deleted.error());
    });
    return {};
  }
  auto names = std::make_shared<const std::vector<std::string>>(
      pods_.Names({.namespaces = {pods.ns}, .labels = pods.labels}));
  const auto remove = [this, names, ns = pods.ns](size_t i) {
    return objects_.DeleteAt(PodsOf(ns) + "/" + client::EscapeUrl((*names)[i]));
  };
  if (!pods.skip_wait) return Paced(names->size(), pods.per_second, remove);
  background_.Every(std::chrono::nanoseconds(kSecond) / pods.per_second,
                    [names, remove](size_t i) -> Result<bool> {
                      if (i >= names->size()) return false;
                      const Result<void> done = remove(i);
                      return done.ok() ? Result<bool>(true) : Result<bool>(done.error());
                    });
  return {};
}

Result<void> Executor::Do(const Churn& churn, size_t index) {
  const std::string ns = OwnNamespace(churn.ns, index);
  if (Result<void> there = objects_.EnsureNamespace(ns); !there.ok()) return there;
  Result<std::vector<Churned>> all = ChurnedOf(churn, ns, objects_);
  if (!all.ok()) return all.error();
  auto churned = std::make_shared<std::vector<Churned>>(std::move(all).value());
  background_.Every(churn.interval,
                    [this, churned, recreate = churn.recreate,
                     number = churn.number](size_t round) -> Result<bool> {
                      for (Churned& one : *churned) {
                        const size_t slot = recreate ? round % number : 0;
                        const Result<void> done = ChurnOne(objects_, one, slot, recreate);
                        if (!done.ok()) return done.error();
                      }
                      return recreate || number == 0 || round + 1 < number;
                    });
  return {};
}

Result<void> Executor::Do(const Sleep& sleep, size_t) {
  std::this_thread::sleep_for(sleep.duration);
  return {};
}

Result<void> Executor::Do(const StartCollecting& start, size_t) {
  return collector_.Start(
      start.name.empty() ? "all" : start.name,
      {.namespaces = {start.namespaces.begin(), start.namespaces.end()}, .labels = start.labels});
}

Result<void> Executor::Do(const StopCollecting&, size_t) { return collector_.Stop(); }

Result<void> Executor::Do(const AllocateClaims& claims, size_t) {
  return AllocateClaimsOf(objects_, claims.ns);
}

}  // namespace ks::ctl::dev::perf
