// SPDX-License-Identifier: Apache-2.0
#include "client/extender_client.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/file_text.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "client/http/proxy.h"
#include "client/http/server_url.h"
#include "client/http/transport.h"
#include "config/read/extenders_tls.h"
#include "golang/url.h"

namespace ks::client {
namespace {

using framework::ExtenderReply;
using framework::ExtenderRequest;

constexpr Duration kDefaultTimeout = std::chrono::seconds(5);

Result<std::string> BytesOrFile(const std::string& bytes, const std::string& file) {
  if (!bytes.empty() || file.empty()) return bytes;
  return ReadFile(file);
}

// What tells one content of a file from another.
struct FileStamp {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  int64_t size = -1;
  bool operator==(const FileStamp&) const = default;
};

FileStamp StampOf(const std::string& file) {
  struct stat found {};
  if (file.empty() || stat(file.c_str(), &found) != 0) return {};
  return {found.st_mtim.tv_sec, found.st_mtim.tv_nsec, found.st_size};
}

// `data` wins over files; HTTPS without authorities is not verified, as upstream.
Result<TlsConfig> TlsOf(const config::Extender& extender) {
  const config::ExtenderTls tls = extender.tls_config.value_or(config::ExtenderTls{});
  const bool has_authorities = !tls.ca_data.empty() || !tls.ca_file.empty();
  TlsConfig made;
  made.insecure_skip_verify = tls.insecure || (extender.enable_https && !has_authorities);
  made.server_name = tls.server_name;
  auto authorities = BytesOrFile(tls.ca_data, tls.ca_file);
  if (!authorities.ok()) return authorities.error();
  made.ca_pem = std::move(authorities).value();
  const bool has_certificate = (!tls.cert_data.empty() || !tls.cert_file.empty()) &&
                               (!tls.key_data.empty() || !tls.key_file.empty());
  if (!has_certificate) return made;
  auto certificate = BytesOrFile(tls.cert_data, tls.cert_file);
  if (!certificate.ok()) return certificate.error();
  auto key = BytesOrFile(tls.key_data, tls.key_file);
  if (!key.ok()) return key.error();
  // Upstream's client reads a pair of files when a server asks for it, so a bad one is no error
  // before.
  const auto usable = config::CheckKeyPair(*certificate, *key);
  if (!usable.ok() && tls.cert_data.empty() && tls.key_data.empty()) {
    log::Error(usable.error().message, "The extender's client certificate is unusable",
               {{"extender", extender.ShownUrl()}});
    return made;
  }
  made.client_cert_pem = std::move(certificate).value();
  made.client_key_pem = std::move(key).value();
  return made;
}

// Upstream's client joins prefix and verb as texts, whatever the prefix is.
std::string CalledUrl(const config::Extender& extender, const std::string& verb) {
  std::string prefix = extender.url_prefix;
  while (prefix.ends_with('/')) prefix.pop_back();
  return prefix + "/" + verb;
}

// Whether cpprestsdk sends a request as it is meant: it refuses some characters, and tidies paths.
bool SuitsCpprest(const ServerUrl& address, std::string_view target) {
  const auto plain = [](std::string_view text, std::string_view others) {
    return std::all_of(text.begin(), text.end(), [others](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != others.npos;
    });
  };
  return plain(address.host, ".-:") && plain(target, "-._~/%?=&:,;+") &&
         target.find("//") == target.npos && target.find("/.") == target.npos;
}

// One verb of an extender.
struct Target {
  // Null: it cannot be called, and `error` says why.
  Transport* transport = nullptr;
  std::string error{};
  std::string path{};           // with the query, as the request line has it
  std::string shown_url{};      // for messages
  std::string authorization{};  // of the URL's user; empty: none
};

// One extender. Threads: any.
class Endpoint {
 public:
  Endpoint(config::Extender extender, TimerService& timers,
           const std::shared_ptr<const WriteFence>& fence)
      : config_(std::move(extender)), timers_(timers), fence_(fence) {}
  ~Endpoint() {
    MutexLock lock(mutex_);
    while (refusals_ > 0) refused_.Wait(mutex_);
  }

  // Error: unusable TLS settings. A URL that cannot be called is found out by its calls.
  Result<void> Open() {
    auto tls = TlsOf(config_);
    if (!tls.ok()) return tls.error();
    {
      MutexLock lock(mutex_);
      tls_ = std::make_shared<const TlsConfig>(std::move(tls).value());
      stamps_ = Stamps();
    }
    for (const std::string* verb : {&config_.filter_verb, &config_.prioritize_verb,
                                    &config_.bind_verb, &config_.preempt_verb}) {
      if (verb->empty() || targets_.contains(*verb)) continue;
      auto target = TargetOf(*verb);
      if (!target.ok()) return target.error();
      targets_.emplace(*verb, std::move(target).value());
    }
    return {};
  }

  void Call(ExtenderRequest request, framework::ExtenderTransport::Done done) {
    const Target& target = targets_.at(request.verb);
    if (target.transport == nullptr) return Refuse(target.error, std::move(done));
    HttpRequest http;
    http.method = "POST";
    http.target = target.path;
    http.shown_url = target.shown_url;
    http.headers = {{"Content-Type", "application/json"}};
    if (!target.authorization.empty()) {
      http.headers.emplace_back("Authorization", target.authorization);
    }
    http.body = std::move(request.body);
    http.timeout = Timeout();
    http.repeat_when_lost = request.repeatable;
    http.tls = PresentTls();
    if (!request.repeatable) http.fence = fence_;
    target.transport->Send(std::move(http), [done = std::move(done)](HttpReply reply) {
      ExtenderReply answer;
      if (reply.error) {
        answer.error = std::move(reply.error->message);
        constexpr std::string_view kDeadline = "context deadline exceeded";
        if (answer.error.ends_with(kDeadline)) {
          answer.error += " (Client.Timeout exceeded while awaiting headers)";
        }
      } else {
        answer.status = reply.response.status;
        answer.body = std::move(reply.response.body);
      }
      done(std::move(answer));
    });
  }

 private:
  Result<Target> TargetOf(const std::string& verb) {
    Target target;
    auto url = golang::ParseUrl(CalledUrl(config_, verb));
    if (!url.ok()) {
      target.error = url.error().message;
      return target;
    }
    if (url->host.ends_with(':')) url->host.pop_back();  // "http://h:/x"
    const ServerUrl address = AddressOf(*url);
    target.path = url->RequestTarget();
    target.shown_url = url->RedactedText();
    target.authorization = address.authorization;
    if (!address.refusal.empty()) {
      target.error = "Post \"" + target.shown_url + "\": " + address.refusal;
      return target;
    }
    const std::shared_ptr<const Proxy> proxy = ChooseProxy("", address);
    auto transport =
        TransportTo(*url, proxy, proxy == nullptr && SuitsCpprest(address, target.path));
    if (!transport.ok()) return transport.error();
    target.transport = *transport;
    return target;
  }

  // Verbs of one address share a transport.
  Result<Transport*> TransportTo(const golang::Url& url, const std::shared_ptr<const Proxy>& proxy,
                                 bool cpprest) {
    golang::Url origin;
    origin.scheme = url.scheme;
    origin.host = url.host;
    std::unique_ptr<Transport>& transport = transports_[{origin.Text(), cpprest}];
    if (transport != nullptr) return transport.get();
    TransportOptions options;
    options.server = origin.Text();
    options.tls = PresentTls();
    options.proxy = proxy;
    // The deadline of the whole call ends a silent one.
    options.idle_timeout = std::max(options.idle_timeout, Timeout() + std::chrono::seconds(1));
    auto made = cpprest ? NewCpprestTransport(std::move(options), timers_)
                        : NewBeastTransport(std::move(options));
    if (!made.ok()) return made.error();
    transport = std::move(made).value();
    return transport.get();
  }

  // Answers a call that cannot be made, on the timers' thread.
  void Refuse(const std::string& error, framework::ExtenderTransport::Done done) {
    {
      MutexLock lock(mutex_);
      ++refusals_;
    }
    timers_.Schedule(Duration::zero(), [this, error, done = std::move(done)]() mutable {
      done({.error = error, .status = 0, .body = ""});
      done = nullptr;
      MutexLock lock(mutex_);
      --refusals_;
      refused_.NotifyAll();
    });
  }

  Duration Timeout() const {
    return config_.http_timeout > Duration::zero() ? config_.http_timeout : kDefaultTimeout;
  }

  std::pair<FileStamp, FileStamp> Stamps() const {
    if (!config_.tls_config || !config_.tls_config->cert_data.empty() ||
        !config_.tls_config->key_data.empty()) {
      return {};
    }
    return {StampOf(config_.tls_config->cert_file), StampOf(config_.tls_config->key_file)};
  }

  // The client certificate may be exchanged while we run. One that cannot be read leaves the former
  // one in force.
  std::shared_ptr<const TlsConfig> PresentTls() {
    const auto stamps = Stamps();
    MutexLock lock(mutex_);
    if (stamps == stamps_) return tls_;
    auto tls = TlsOf(config_);
    if (!tls.ok()) return tls_;
    tls->generation = tls_->generation + 1;
    tls_ = std::make_shared<const TlsConfig>(std::move(tls).value());
    stamps_ = stamps;
    return tls_;
  }

  const config::Extender config_;
  TimerService& timers_;
  const std::shared_ptr<const WriteFence> fence_;
  std::map<std::string, Target> targets_;  // by verb; constant after Open
  std::map<std::pair<std::string, bool>, std::unique_ptr<Transport>> transports_;  // same

  Mutex mutex_;
  CondVar refused_;
  int refusals_ KS_GUARDED_BY(mutex_) = 0;  // under way
  std::shared_ptr<const TlsConfig> tls_ KS_GUARDED_BY(mutex_);
  std::pair<FileStamp, FileStamp> stamps_ KS_GUARDED_BY(mutex_);
};

class ExtenderClient final : public framework::ExtenderTransport {
 public:
  explicit ExtenderClient(std::vector<std::unique_ptr<Endpoint>> endpoints)
      : endpoints_(std::move(endpoints)) {}

  void Call(ExtenderRequest request, Done done) override {
    Endpoint& endpoint = *endpoints_.at(request.extender);
    endpoint.Call(std::move(request), std::move(done));
  }

 private:
  const std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace

Result<std::shared_ptr<framework::ExtenderTransport>> NewExtenderClient(
    const std::vector<config::Extender>& extenders, TimerService& timers,
    const std::shared_ptr<const WriteFence>& fence) {
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (const config::Extender& extender : extenders) {
    endpoints.push_back(std::make_unique<Endpoint>(extender, timers, fence));
    const Result<void> opened = endpoints.back()->Open();
    if (!opened.ok()) {
      return Error{"couldn't build extenders: " + extender.ShownUrl() + ": " +
                   opened.error().message};
    }
  }
  return std::shared_ptr<framework::ExtenderTransport>(
      std::make_shared<ExtenderClient>(std::move(endpoints)));
}

}  // namespace ks::client
