// SPDX-License-Identifier: Apache-2.0
#include "client/extender_client.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "client/transport.h"

namespace ks::client {
namespace {

using framework::ExtenderReply;
using framework::ExtenderRequest;

constexpr Duration kDefaultTimeout = std::chrono::seconds(5);

Result<std::string> BytesOrFile(const std::string& bytes, const std::string& file) {
  if (!bytes.empty() || file.empty()) return bytes;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error{"open " + file + ": the file cannot be read"};
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
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
  made.client_cert_pem = std::move(certificate).value();
  made.client_key_pem = std::move(key).value();
  return made;
}

std::string TrimmedPrefix(const config::Extender& extender) {
  std::string prefix = extender.url_prefix;
  while (prefix.ends_with('/')) prefix.pop_back();
  return prefix;
}

// One extender. Threads: any.
class Endpoint {
 public:
  Endpoint(config::Extender config, std::shared_ptr<const WriteFence> fence)
      : config_(std::move(config)), fence_(std::move(fence)) {}

  Result<void> Open(TimerService& timers) {
    const bool silent = config_.filter_verb.empty() && config_.prioritize_verb.empty() &&
                        config_.bind_verb.empty() && config_.preempt_verb.empty();
    if (silent) return {};  // never called; its URL may be anything
    auto tls = TlsOf(config_);
    if (!tls.ok()) return tls.error();
    TransportOptions options;
    options.server = TrimmedPrefix(config_);
    options.tls = std::make_shared<const TlsConfig>(std::move(tls).value());
    // The deadline of the whole call ends a silent one.
    options.idle_timeout = std::max(options.idle_timeout, Timeout() + std::chrono::seconds(1));
    auto transport = NewCpprestTransport(options, timers);
    if (!transport.ok()) return transport.error();
    transport_ = std::move(transport).value();
    MutexLock lock(mutex_);
    tls_ = options.tls;
    stamps_ = Stamps();
    return {};
  }

  void Call(ExtenderRequest request, framework::ExtenderTransport::Done done) {
    HttpRequest http;
    http.method = "POST";
    http.target = "/" + request.verb;
    http.headers = {{"Content-Type", "application/json"}};
    http.body = std::move(request.body);
    http.timeout = Timeout();
    http.repeat_when_lost = request.repeatable;
    http.tls = PresentTls();
    if (!request.repeatable) http.fence = fence_;
    transport_->Send(std::move(http), [done = std::move(done)](HttpReply reply) {
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
  const std::shared_ptr<const WriteFence> fence_;
  std::unique_ptr<Transport> transport_;

  Mutex mutex_;
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
    endpoints.push_back(std::make_unique<Endpoint>(extender, fence));
    const Result<void> opened = endpoints.back()->Open(timers);
    if (!opened.ok()) {
      return Error{"couldn't build extenders: " + extender.url_prefix + ": " +
                   opened.error().message};
    }
  }
  return std::shared_ptr<framework::ExtenderTransport>(
      std::make_shared<ExtenderClient>(std::move(endpoints)));
}

}  // namespace ks::client
