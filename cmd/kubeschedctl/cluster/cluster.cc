// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/cluster.h"

#include <optional>
#include <utility>

#include "api/decode/decoder.h"
#include "base/mutex.h"

namespace ks::ctl {
namespace {

constexpr Duration kRequestTimeout = std::chrono::seconds(60);

std::string Text(const client::RestRequest& request, const api::ApiError& error) {
  return request.method + " " + request.target + ": " + error.message;
}

// What SendAll and its handlers share. Lives until the last handler has run.
struct Batch {
  Mutex mutex;
  CondVar changed;
  size_t active KS_GUARDED_BY(mutex) = 0;
  std::optional<Error> failure KS_GUARDED_BY(mutex);
};

void Finish(Batch& batch, std::optional<Error> failure) {
  const MutexLock lock(batch.mutex);
  --batch.active;
  if (failure && !batch.failure) {
    batch.failure = std::move(failure);
  }
  batch.changed.NotifyAll();
}

template <class T>
Result<std::vector<std::shared_ptr<const T>>> List(client::RestClient& rest,
                                                   const std::string& path,
                                                   const std::string& selector) {
  std::vector<std::shared_ptr<const T>> all;
  std::string continue_token;
  api::Decoder decoder;
  do {
    std::string target = path + "?limit=1000";
    target += selector.empty() ? "" : "&labelSelector=" + client::EscapeUrl(selector);
    target += continue_token.empty() ? "" : "&continue=" + client::EscapeUrl(continue_token);
    const client::RestReply reply = rest.Get(target, kRequestTimeout);
    if (!reply.ok()) {
      return Error{"GET " + target + ": " + reply.error->message};
    }
    Result<api::ListPage<T>> page = decoder.List<T>(reply.body);
    if (!page.ok()) {
      return Error{"GET " + target + ": " + page.error().message};
    }
    all.insert(all.end(), page->items.begin(), page->items.end());
    continue_token = page->continue_token;
  } while (!continue_token.empty());
  return all;
}

}  // namespace

Result<std::unique_ptr<Cluster>> Cluster::Open(const std::string& kubeconfig) {
  const Result<client::ClusterAccess> access = client::LoadKubeconfig(kubeconfig);
  if (!access.ok()) {
    return access.error();
  }
  Result<std::unique_ptr<client::Connection>> connection = client::Connection::Make(*access);
  if (!connection.ok()) {
    return connection.error();
  }
  std::unique_ptr<Cluster> cluster(new Cluster());
  cluster->connection_ = std::move(connection).value();
  cluster->rest_ = cluster->connection_->NewRestClient(
      {.qps = -1,
       .burst = 1,
       .user_agent = client::UserAgent("kubeschedctl", "operator"),
       .accept = std::string(client::kProtobufOrJson)});
  return cluster;
}

Result<void> Cluster::SendAll(size_t count, size_t in_flight,
                              const std::function<client::RestRequest(size_t)>& make,
                              const std::function<void(size_t)>& done) {
  Batch batch;
  for (size_t i = 0; i < count; ++i) {
    {
      const MutexLock lock(batch.mutex);
      while (batch.active >= in_flight && !batch.failure) {
        batch.changed.Wait(batch.mutex);
      }
      if (batch.failure) {
        break;
      }
      ++batch.active;
    }
    client::RestRequest request = make(i);
    request.timeout = kRequestTimeout;
    const client::RestRequest named{.method = request.method, .target = request.target};
    rest_->Send(std::move(request), [&batch, &done, i, named](client::RestReply reply) {
      std::optional<Error> failure;
      if (!reply.ok()) {
        failure = Error{Text(named, *reply.error)};
      } else if (done) {
        done(i);
      }
      Finish(batch, std::move(failure));
    });
  }
  const MutexLock lock(batch.mutex);
  while (batch.active > 0) {
    batch.changed.Wait(batch.mutex);
  }
  return batch.failure ? Result<void>(*batch.failure) : Result<void>();
}

Result<std::vector<api::NodePtr>> Cluster::ListNodes(const std::string& selector) {
  return List<api::Node>(*rest_, "/api/v1/nodes", selector);
}

Result<std::vector<api::PodPtr>> Cluster::ListPods(const std::string& ns,
                                                   const std::string& selector) {
  const std::string scope = ns.empty() ? "" : "/namespaces/" + client::EscapeUrl(ns);
  return List<api::Pod>(*rest_, "/api/v1" + scope + "/pods", selector);
}

Result<void> Cluster::DeleteAll(const std::string& path, const std::string& selector) {
  const client::RestReply reply =
      rest_->Delete(path + "?gracePeriodSeconds=0&labelSelector=" + client::EscapeUrl(selector),
                    std::chrono::minutes(5));
  return reply.ok() ? Result<void>()
                    : Result<void>(Error{"DELETE " + path + ": " + reply.error->message});
}

}  // namespace ks::ctl
