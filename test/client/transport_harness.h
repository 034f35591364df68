// SPDX-License-Identifier: Apache-2.0
#pragma once
// Both real transports, one at a time, against a scripted server: makes them, and waits for
// answers.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/http/transport.h"
#include "testing/scripted_server.h"

namespace ks::client {

// A place where one answer arrives.
class ReplySlot {
 public:
  HttpReplyHandler Handler() {
    return [this](HttpReply reply) {
      MutexLock lock(mutex_);
      reply_ = std::move(reply);
      changed_.NotifyAll();
    };
  }
  HttpReply Wait() {
    MutexLock lock(mutex_);
    while (!reply_.has_value()) changed_.Wait(mutex_);
    return std::move(*reply_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<HttpReply> reply_ KS_GUARDED_BY(mutex_);
};

// Collects a stream.
class RecordingSink final : public StreamSink {
 public:
  void OnHeaders(const HttpResponse& head) override {
    MutexLock lock(mutex_);
    status_ = head.status;
    changed_.NotifyAll();
  }
  Flow OnData(std::string_view data) override {
    MutexLock lock(mutex_);
    data_.append(data);
    ++pieces_;
    changed_.NotifyAll();
    return Flow::kContinue;
  }
  void OnEnd(std::optional<TransportError> error) override {
    MutexLock lock(mutex_);
    ended_ = true;
    error_ = std::move(error);
    changed_.NotifyAll();
  }

  void WaitHeaders() {
    MutexLock lock(mutex_);
    while (status_ == 0 && !ended_) changed_.Wait(mutex_);
  }
  void WaitData(size_t size) {
    MutexLock lock(mutex_);
    while (data_.size() < size && !ended_) changed_.Wait(mutex_);
  }
  std::optional<TransportError> WaitEnd() {
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(mutex_);
    return error_;
  }
  std::string data() {
    MutexLock lock(mutex_);
    return data_;
  }
  int status() {
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int status_ KS_GUARDED_BY(mutex_) = 0;
  size_t pieces_ KS_GUARDED_BY(mutex_) = 0;
  std::string data_ KS_GUARDED_BY(mutex_);
  bool ended_ KS_GUARDED_BY(mutex_) = false;
  std::optional<TransportError> error_ KS_GUARDED_BY(mutex_);
};

enum class TransportKind : uint8_t { kBeast, kCpprest };

inline std::string NameOf(TransportKind kind) {
  return kind == TransportKind::kBeast ? "Beast" : "Cpprest";
}

inline Result<std::unique_ptr<Transport>> NewTransport(TransportKind kind, TransportOptions options,
                                                       TimerService& timers) {
  InitializeClientProcess();
  return kind == TransportKind::kBeast ? NewBeastTransport(std::move(options))
                                       : NewCpprestTransport(std::move(options), timers);
}

// Suites of tests that both must pass: KS_EACH_TRANSPORT(Suite), TEST_P(Suite, …) with
// GetParam().
class EachTransport : public ::testing::TestWithParam<TransportKind> {};
// The same with a table: TEST_P(Suite, …) with kind() and row().
template <class Row>
class EachTransportAndRow : public ::testing::TestWithParam<std::tuple<TransportKind, Row>> {
 protected:
  TransportKind kind() const { return std::get<0>(this->GetParam()); }
  const Row& row() const { return std::get<1>(this->GetParam()); }
};

inline auto BothTransports() {
  return ::testing::Values(TransportKind::kBeast, TransportKind::kCpprest);
}
// Names of the instances: "Beast", and "Beast_" with the row's name.
struct TransportNames {
  std::string operator()(const ::testing::TestParamInfo<TransportKind>& test) const {
    return NameOf(test.param);
  }
  template <class Row>
  std::string operator()(
      const ::testing::TestParamInfo<std::tuple<TransportKind, Row>>& test) const {
    return NameOf(std::get<0>(test.param)) + "_" + std::get<1>(test.param).name;
  }
};

// One authority for the whole binary: making keys takes time.
inline const ks::testing::TestAuthority& Authority() {
  static const ks::testing::TestAuthority* authority = new ks::testing::TestAuthority("test-ca");
  return *authority;
}

inline std::shared_ptr<const TlsConfig> TrustingTls() {
  auto tls = std::make_shared<TlsConfig>();
  tls->generation = 1;
  tls->ca_pem = Authority().ca_pem();
  return tls;
}

// A server under a certificate for `names`.
inline ks::testing::ScriptedServerOptions Https(
    const std::string& names = "IP:127.0.0.1,IP:::1,DNS:localhost") {
  return {.identity = Authority().Issue("server", names)};
}

class Harness {
 public:
  Harness(TransportKind kind, ks::testing::ScriptedServer::Script script,
          ks::testing::ScriptedServerOptions server_options = Https(),
          TransportOptions options = {})
      : timers_(NewTimerThread()),
        server_(std::make_unique<ks::testing::ScriptedServer>(std::move(server_options),
                                                              std::move(script))) {
    options.server =
        options.server.empty() ? server_->url() : options.server + std::to_string(server_->port());
    if (options.tls == nullptr) options.tls = TrustingTls();
    Result<std::unique_ptr<Transport>> made = NewTransport(kind, std::move(options), *timers_);
    KS_CHECK(made.ok(), made.ok() ? "" : made.error().message);
    transport_ = std::move(*made);
  }

  HttpReply Send(HttpRequest request) {
    ReplySlot slot;
    transport_->Send(std::move(request), slot.Handler());
    return slot.Wait();
  }
  HttpReply Get(const std::string& target) { return Send({.target = target}); }
  HttpReply Post(const std::string& target, const std::string& body) {
    return Send({.method = "POST",
                 .target = target,
                 .headers = {{"Content-Type", "application/json"}},
                 .body = body});
  }
  std::shared_ptr<RecordingSink> Open(HttpRequest request,
                                      std::shared_ptr<Exchange>* exchange = nullptr) {
    auto sink = std::make_shared<RecordingSink>();
    std::shared_ptr<Exchange> running = transport_->OpenStream(std::move(request), sink);
    if (exchange != nullptr) *exchange = std::move(running);
    return sink;
  }

  ks::testing::ScriptedServer& server() { return *server_; }
  Transport& transport() { return *transport_; }
  TimerService& timers() { return *timers_; }
  void DropTransport() { transport_.reset(); }

 private:
  std::unique_ptr<TimerService> timers_;
  std::unique_ptr<ks::testing::ScriptedServer> server_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace ks::client
