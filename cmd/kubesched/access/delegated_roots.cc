// SPDX-License-Identifier: Apache-2.0
#include "kubesched/access/delegated_roots.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/logging.h"
#include "base/mutex.h"
#include "client/watch/frame_splitter.h"

namespace ks::daemon {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/api/v1/namespaces/kube-system/configmaps";
constexpr const char* kName = "extension-apiserver-authentication";
constexpr const char* kSelector =
    "fieldSelector=metadata.name%3Dextension-apiserver-authentication";
constexpr Duration kTimeout = std::chrono::seconds(10);
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::seconds(30);

// Empty: no such key.
std::string TextAt(const json& data, const std::string& key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::vector<std::string>> ListAt(const json& data, const std::string& key) {
  const std::string text = TextAt(data, key);
  std::vector<std::string> list;
  if (text.empty()) return list;
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_array()) return Error{key + ": not a JSON list of texts"};
  for (const json& item : parsed) {
    if (!item.is_string()) return Error{key + ": not a JSON list of texts"};
    list.push_back(item.get<std::string>());
  }
  return list;
}

Result<std::optional<server::FrontProxyTrust>> FrontProxyOf(const json& data) {
  const std::string key = "requestheader-client-ca-file";
  const std::string bundle = TextAt(data, key);
  if (bundle.empty()) return std::optional<server::FrontProxyTrust>();
  auto authorities = server::CertificateAuthorities::FromPem(bundle);
  if (!authorities.ok()) return Error{key + ": " + authorities.error().message};
  server::FrontProxyTrust trust{.authorities = std::move(authorities).value()};
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"requestheader-allowed-names", &trust.allowed_names},
      {"requestheader-username-headers", &trust.username_headers},
      {"requestheader-group-headers", &trust.group_headers},
      {"requestheader-uid-headers", &trust.uid_headers},
      {"requestheader-extra-headers-prefix", &trust.extra_header_prefixes}};
  for (const auto& [name, list] : lists) {
    auto read = ListAt(data, name);
    if (!read.ok()) return read.error();
    *list = std::move(read).value();
  }
  return std::optional<server::FrontProxyTrust>(std::move(trust));
}

Result<server::TrustRoots> RootsOf(const json& config_map) {
  server::TrustRoots roots;
  const auto data = config_map.find("data");
  if (data == config_map.end() || !data->is_object()) return roots;
  if (std::string bundle = TextAt(*data, "client-ca-file"); !bundle.empty()) {
    auto authorities = server::CertificateAuthorities::FromPem(std::move(bundle));
    if (!authorities.ok()) return Error{"client-ca-file: " + authorities.error().message};
    roots.clients = std::move(authorities).value();
  }
  auto front_proxy = FrontProxyOf(*data);
  if (!front_proxy.ok()) return front_proxy.error();
  roots.front_proxy = std::move(front_proxy).value();
  return roots;
}

std::string VersionOf(const json& object) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return "";
  return TextAt(*metadata, "resourceVersion");
}

}  // namespace

Result<server::TrustRoots> ReadTrustRoots(const std::string& config_map) {
  const json parsed = json::parse(config_map, nullptr, false);
  if (!parsed.is_object()) return Error{"the ConfigMap is no JSON object"};
  return RootsOf(parsed);
}

struct PublishedRoots::State : std::enable_shared_from_this<State> {
  State(client::RestClient& rest, Changed callback) : client(rest), changed(std::move(callback)) {}

  void Take(const json& config_map) KS_EXCLUDES(mutex);
  void List() KS_EXCLUDES(mutex);
  void OnList(const client::RestReply& reply) KS_EXCLUDES(mutex);
  void OpenWatch(const std::string& version) KS_EXCLUDES(mutex);
  void ScheduleList(const std::string& what, const std::string& error) KS_EXCLUDES(mutex);

  client::RestClient& client;
  const Changed changed;
  Mutex mutex;
  bool stopped KS_GUARDED_BY(mutex) = false;
  Duration pause KS_GUARDED_BY(mutex) = kFirstPause;
  client::TimerId timer KS_GUARDED_BY(mutex) = 0;
  std::shared_ptr<client::Exchange> exchange KS_GUARDED_BY(mutex);
};

// One watch. Ends are turned into another list.
class PublishedRoots::Stream final : public client::WatchSink {
 public:
  explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}

  void OnOpened() override {
    const MutexLock lock(state_->mutex);
    state_->pause = kFirstPause;
  }
  client::StreamSink::Flow OnData(std::string_view data) override {
    frames_.Append(data);
    std::string_view frame;
    while (frames_.Next(&frame)) {
      const json event = json::parse(frame, nullptr, false);
      if (!event.is_object() || !event.contains("object")) continue;
      const std::string type = TextAt(event, "type");
      if (type == "ADDED" || type == "MODIFIED") state_->Take(event["object"]);
    }
    return client::StreamSink::Flow::kContinue;
  }
  void OnEnd(std::optional<api::ApiError> error) override {
    state_->ScheduleList("Failed to watch", error ? error->message : "");
  }

 private:
  const std::shared_ptr<State> state_;
  client::FrameSplitter frames_{8 << 20};
};

void PublishedRoots::State::Take(const json& config_map) {
  auto roots = RootsOf(config_map);
  if (!roots.ok()) {
    log::Error(roots.error().message, "The published authentication configuration is left aside",
               {{"configMap", std::string("kube-system/") + kName}});
    return;
  }
  {
    const MutexLock lock(mutex);
    if (stopped) return;
  }
  changed(std::move(roots).value());
}

void PublishedRoots::State::List() {
  const MutexLock lock(mutex);
  if (stopped) return;
  exchange = client.Send(
      {.target = std::string(kPath) + "?" + kSelector + "&limit=500",
       .timeout = kTimeout,
       .verb = "list",
       .resource = "configmaps"},
      [self = shared_from_this()](const client::RestReply& reply) { self->OnList(reply); });
}

void PublishedRoots::State::OnList(const client::RestReply& reply) {
  if (!reply.ok()) {
    ScheduleList("Failed to list", reply.error->message);
    return;
  }
  const json list = json::parse(reply.body, nullptr, false);
  if (!list.is_object()) {
    ScheduleList("Failed to list", "the answer is no JSON object");
    return;
  }
  if (const auto items = list.find("items"); items != list.end() && items->is_array()) {
    for (const json& item : *items) Take(item);
  }
  OpenWatch(VersionOf(list));
}

void PublishedRoots::State::OpenWatch(const std::string& version) {
  const MutexLock lock(mutex);
  if (stopped) return;
  exchange = client.Watch({.target = std::string(kPath) + "?allowWatchBookmarks=true&" + kSelector +
                                     "&resourceVersion=" + client::EscapeUrl(version) +
                                     "&timeoutSeconds=480&watch=true",
                           .timeout = kTimeout,
                           .verb = "watch",
                           .resource = "configmaps"},
                          std::make_shared<Stream>(shared_from_this()));
}

// A clean end of a watch is no failure; it is listed again at once, a second later at most.
void PublishedRoots::State::ScheduleList(const std::string& what, const std::string& error) {
  const MutexLock lock(mutex);
  if (stopped) return;
  if (!error.empty()) {
    log::Error(error, what,
               {{"type", "*v1.ConfigMap"}, {"name", std::string("kube-system/") + kName}});
  }
  timer = client.timers().Schedule(error.empty() ? kFirstPause : pause,
                                   [self = shared_from_this()] { self->List(); });
  pause = error.empty() ? kFirstPause : std::min(2 * pause, kLongestPause);
}

PublishedRoots::PublishedRoots(client::RestClient& client, Changed changed)
    : state_(std::make_shared<State>(client, std::move(changed))) {}

PublishedRoots::~PublishedRoots() { Stop(); }

Result<server::TrustRoots> PublishedRoots::ReadOnce() {
  const client::RestReply reply =
      state_->client.SendAndWait({.target = std::string(kPath) + "/" + kName,
                                  .timeout = kTimeout,
                                  .verb = "get",
                                  .resource = "configmaps",
                                  .name = kName});
  if (!reply.ok()) return Error{reply.error->message};
  return ReadTrustRoots(reply.body);
}

void PublishedRoots::Watch() { state_->List(); }

void PublishedRoots::Stop() {
  std::shared_ptr<client::Exchange> exchange;
  client::TimerId timer = 0;
  {
    const MutexLock lock(state_->mutex);
    if (std::exchange(state_->stopped, true)) return;  // the client may be gone by now
    exchange = std::move(state_->exchange);
    timer = state_->timer;
  }
  if (exchange) exchange->Cancel();
  state_->client.timers().Cancel(timer);
}

}  // namespace ks::daemon
