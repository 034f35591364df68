// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster in this process: the in-memory API server on a real port, and the production client
// against it. Delays between the client's tries are a twentieth of the real ones; nothing else is
// changed.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/delta.h"
#include "apiserver/http/credentials.h"
#include "apiserver/http/https_front.h"
#include "apiserver/service/service.h"
#include "base/check.h"
#include "base/mutex.h"
#include "client/rest/connection.h"
#include "client/watch/reflector.h"
#include "client/write/writer.h"

namespace ks::integration {

// Delays of retries, shortened.
class HastyTimers final : public client::TimerService {
 public:
  static constexpr int kHaste = 20;

  HastyTimers() : timers_(client::NewTimerThread()) {}

  const Clock& clock() const override { return timers_->clock(); }
  client::TimerId Schedule(Duration delay, std::function<void()> task) override {
    return timers_->Schedule(delay / kHaste, std::move(task));
  }
  bool Cancel(client::TimerId id) override { return timers_->Cancel(id); }

 private:
  std::unique_ptr<client::TimerService> timers_;
};

// The server side. The state outlives restarts of the front, as etcd's does.
class Server {
 public:
  explicit Server(apiserver::ServiceOptions options = {})
      : authority_(apiserver::MakeAuthority("integration-ca", Now()).value()),
        service_(RealClock(), options) {
    front_options_.certificate = apiserver::MakeServerCertificate(authority_, {}, Now()).value();
    front_options_.client_ca_pem = authority_.certificate_pem;
    Start();
  }

  void Start() {
    auto front = apiserver::HttpsFront::Listen(front_options_, service_);
    KS_CHECK(front.ok(), front.ok() ? "" : front.error().message);
    front_ = std::move(front).value();
    front_options_.port = front_->port();
    front_->Serve();
  }
  void Stop() { front_.reset(); }

  // On the thread that owns the service: the front's, or this one while the front is stopped.
  template <class F>
  void Run(F task) {
    if (front_) {
      front_->Run([&] { task(service_); });
    } else {
      task(service_);
    }
  }
  void Faults(const std::string& json) {
    front_->Run([&] {
      const Result<void> loaded = front_->faults().Load(json);
      KS_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
    });
  }
  std::string FaultCounts() {
    std::string text;
    front_->Run([&] { text = front_->faults().Describe(); });
    return text;
  }

  std::string url() const { return "https://127.0.0.1:" + std::to_string(front_options_.port); }
  client::ClusterAccess Access() const {
    const auto pair = apiserver::MakeClientCertificate(
        authority_, {.name = "system:kube-scheduler", .groups = {"system:masters"}}, Now());
    return {.server = url(),
            .ca_data = authority_.certificate_pem,
            .client_cert_data = pair->chain_pem,
            .client_key_data = pair->key_pem};
  }

  void CreateNode(const std::string& name) {
    Create("nodes", "", {{"metadata", {{"name", name}}}});
  }
  // In one turn of the event loop, so that a watch gets them together.
  void CreateNodes(const std::set<std::string>& names) {
    Run([&names](apiserver::Service& service) {
      for (const std::string& name : names) {
        const auto made = service.registry().Create(*apiserver::FindResource("", "v1", "nodes"), "",
                                                    {{"metadata", {{"name", name}}}});
        KS_CHECK(made.ok(), made.ok() ? "" : made.failure().message);
      }
    });
  }
  void CreatePod(const std::string& name) {
    Create("pods", "default",
           {{"metadata", {{"name", name}}},
            {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  }
  void Delete(const std::string& plural, const std::string& ns, const std::string& name) {
    Run([&](apiserver::Service& service) {
      const auto done = service.registry().Delete(*apiserver::FindResource("", "v1", plural), ns,
                                                  name, {.grace_period_seconds = 0});
      KS_CHECK(done.ok(), done.ok() ? "" : done.failure().message);
    });
  }
  void ForgetHistory() {
    Run([](apiserver::Service& service) {
      service.store().ForgetHistory();
      service.EndWatches();
    });
  }

  // Every node a pod has ever been bound to, in order, by the pod's name: from the log of changes.
  std::map<std::string, std::vector<std::string>> Bindings() {
    std::map<std::string, std::vector<std::string>> bindings;
    Run([&bindings](apiserver::Service& service) {
      const apiserver::Store& store = service.store();
      const apiserver::KindInfo& pods = *apiserver::FindResource("", "v1", "pods");
      for (uint64_t i = store.FirstSequence(pods); i < store.NextSequence(pods); ++i) {
        const apiserver::Change& change = *store.At(pods, i);
        const std::string after = NodeOf(change.object);
        if (!after.empty() && (change.before == nullptr || NodeOf(change.before) != after)) {
          bindings[change.object->name].push_back(after);
        }
      }
    });
    return bindings;
  }

 private:
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               RealClock().WallNow().time_since_epoch())
        .count();
  }
  static std::string NodeOf(const apiserver::ObjectPtr& pod) {
    return pod->Parse()["spec"].value("nodeName", "");
  }
  void Create(const std::string& plural, const std::string& ns, apiserver::Json object) {
    Run([&](apiserver::Service& service) {
      const auto made = service.registry().Create(*apiserver::FindResource("", "v1", plural), ns,
                                                  std::move(object));
      KS_CHECK(made.ok(), made.ok() ? "" : made.failure().message);
    });
  }

  apiserver::CertificateAuthority authority_;
  apiserver::Service service_;
  apiserver::FrontOptions front_options_;
  std::unique_ptr<apiserver::HttpsFront> front_;
};

// The client side: what a scheduler has.
class Client {
 public:
  explicit Client(const Server& server, client::TransportOptions options = {}) {
    client::InitializeClientProcess();
    credentials_ = client::NewCredentials(server.Access()).value();
    options.server = server.url();
    options.tls = credentials_->InitialTls();
    transport_ = client::NewCpprestTransport(std::move(options), *real_timers_).value();
    rest_ = NewRest();
  }

  std::unique_ptr<client::RestClient> NewRest() {
    return std::make_unique<client::RestClient>(
        *transport_, *credentials_, timers_,
        client::RestOptions{.qps = -1, .user_agent = "integration"});
  }
  client::RestClient& rest() { return *rest_; }

 private:
  std::unique_ptr<client::TimerService> real_timers_ = client::NewTimerThread();
  HastyTimers timers_;
  std::unique_ptr<client::Credentials> credentials_;
  std::unique_ptr<client::Transport> transport_;
  std::unique_ptr<client::RestClient> rest_;
};

// A consumer of a reflector: the state as it stands, and every delivery.
template <class T>
class Mirror {
 public:
  Mirror(Client& cluster, const std::string& plural)
      : reflector_(
            cluster.rest(),
            {.path = "/api/v1/" + plural, .type_name = plural, .resource = plural, .seed = 1},
            [this](std::vector<api::Delta<T>> batch) { Take(batch); }) {
    reflector_.Start();
  }
  ~Mirror() { reflector_.Stop(); }

  // Waits until the objects are exactly these.
  void WaitFor(const std::set<std::string>& names) {
    MutexLock lock(mutex_);
    while (Names() != names) changed_.Wait(mutex_);
  }
  void WaitForLists(size_t count) {
    MutexLock lock(mutex_);
    while (replaces_ < count) changed_.Wait(mutex_);
  }
  // How often a version of an object came by an event; every value is 1 when nothing is repeated.
  std::map<std::string, int> Deliveries() {
    MutexLock lock(mutex_);
    return deliveries_;
  }
  std::shared_ptr<const T> Find(const std::string& name) {
    MutexLock lock(mutex_);
    const auto found = objects_.find(name);
    return found == objects_.end() ? nullptr : found->second;
  }
  client::ReflectorStatus Status() { return reflector_.Status(); }

 private:
  void Take(const std::vector<api::Delta<T>>& batch) {
    MutexLock lock(mutex_);
    for (const api::Delta<T>& delta : batch) {
      if (delta.type == api::Delta<T>::Type::kReplace) {
        objects_.clear();
        ++replaces_;
        for (const auto& each : delta.items) objects_[each->meta.name] = each;
      } else if (delta.type == api::Delta<T>::Type::kUpsert) {
        objects_[delta.object->meta.name] = delta.object;
        ++deliveries_[delta.object->meta.name + " " + delta.object->meta.resource_version];
      } else {
        objects_.erase(delta.object->meta.name);
      }
    }
    changed_.NotifyAll();
  }
  std::set<std::string> Names() const KS_REQUIRES(mutex_) {
    std::set<std::string> names;
    for (const auto& [name, object] : objects_) names.insert(name);
    return names;
  }

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::shared_ptr<const T>> objects_ KS_GUARDED_BY(mutex_);
  std::map<std::string, int> deliveries_ KS_GUARDED_BY(mutex_);
  size_t replaces_ KS_GUARDED_BY(mutex_) = 0;
  client::Reflector<T> reflector_;
};

// Where the results of writes arrive.
class Results {
 public:
  framework::ApiWriter::Done Expect(const std::string& name) {
    return [this, name](std::optional<api::ApiError> error) {
      MutexLock lock(mutex_);
      results_[name] = error ? error->message : "";
      ++calls_;
      changed_.NotifyAll();
    };
  }
  // By name: empty for success, else the error's message. Waits for `count` calls in all.
  std::map<std::string, std::string> Wait(size_t count) {
    MutexLock lock(mutex_);
    while (calls_ < count) changed_.Wait(mutex_);
    return results_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::string> results_ KS_GUARDED_BY(mutex_);
  size_t calls_ KS_GUARDED_BY(mutex_) = 0;
};

// "a0", "a1", …
inline std::set<std::string> Numbered(const std::string& prefix, int count) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) names.insert(prefix + std::to_string(i));
  return names;
}

}  // namespace ks::integration
