// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/https_front.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <future>
#include <utility>

#include "apiserver/http/front_session.h"
#include "apiserver/http/front_state.h"
#include "apiserver/service/request_info.h"
#include "base/check.h"
#include "base/logging.h"
#include "server/http/http_date.h"
#include "server/tls/tls_context.h"
#include "server/tls/x509.h"

namespace ks::apiserver {
namespace {

namespace asio = boost::asio;

// Verification does not end the handshake: the answer to a bad certificate is 401, as upstream's.
int AcceptAnyCertificate(int, X509_STORE_CTX*) { return 1; }

Result<void> AskForCertificates(SSL_CTX* tls, const std::string& ca_pem) {
  const server::Certificate ca = server::ReadCertificate(ca_pem);
  if (!ca || X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), ca.get()) != 1 ||
      SSL_CTX_add_client_CA(tls, ca.get()) != 1) {
    return Error{"the authority for client certificates is not a PEM certificate"};
  }
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, AcceptAnyCertificate);
  return {};
}

std::string UrlOf(const server::ServerListener& listener) {
  const std::string& address = listener.address();
  if (address.starts_with("[::]:") || address.starts_with("0.0.0.0:")) {
    return "https://127.0.0.1:" + std::to_string(listener.port());
  }
  return "https://" + address;
}

server::ServerLimits LimitsOf(const FrontOptions& options) {
  return {.max_connections = options.max_sessions,
          .header_bytes = 64 << 10,
          .linger_bytes = 16U << 20,
          .handshake_timeout = options.handshake_timeout,
          .first_timeout = options.idle_timeout,
          .request_timeout = options.request_timeout,
          .idle_timeout = options.idle_timeout,
          .write_timeout = options.write_timeout,
          .close_timeout = options.close_timeout};
}

}  // namespace

HttpsFront::State::State(FrontOptions front_options, Service& served)
    : ServerListener(LimitsOf(front_options)),
      options(std::move(front_options)),
      service(served),
      faults(options.fault_seed),
      step_timer(io()) {}

std::shared_ptr<server::ServerConnection> HttpsFront::State::MakeConnection(Tcp::socket socket) {
  return std::make_shared<FrontSession>(*this, std::move(socket));
}

void HttpsFront::State::BeginStop() {
  step_timer.cancel();
  ServerListener::BeginStop();
  woken.clear();
}

Outcome<UserInfo> HttpsFront::State::Authenticate(const std::optional<UserInfo>& certificate,
                                                  bool bad_certificate,
                                                  std::string_view authorization) const {
  if (certificate) {
    return *certificate;
  }
  if (std::optional<Outcome<UserInfo>> bearer = UserOfHeader(authorization, options.tokens)) {
    return *std::move(bearer);
  }
  if (bad_certificate) {
    return Unauthorized();
  }
  return UserInfo{};
}

std::optional<Fault> HttpsFront::State::DecideFault(const ApiRequest& request) {
  if (faults.empty() || request.target.starts_with("/kubesched/")) {
    return std::nullopt;
  }
  const Outcome<RequestInfo> info = ParseRequest(request);
  return info.ok() ? faults.Decide(request.user, info.value()) : std::nullopt;
}

ApiResponse HttpsFront::State::Handle(const ApiRequest& request) {
  StepSoon();
  if (std::optional<ApiResponse> answer = AnswerAdmin(request, faults, service)) {
    return *std::move(answer);
  }
  return service.Handle(request);
}

void HttpsFront::State::Age(const ApiRequest& request, bool stale, ApiResponse& response) {
  if (!faults.MakesStaleLists()) {
    earlier.Clear();
    return;
  }
  if (request.method != "GET" || response.status != 200 || response.watch) {
    return;
  }
  const Outcome<RequestInfo> info = ParseRequest(request);
  if (!info.ok() || info->verb != "list") {
    return;
  }
  const std::string* body = stale ? earlier.Find(request) : nullptr;
  if (body != nullptr) {
    response.body = *body;
  } else {
    earlier.Remember(request, response.body);
  }
}

void HttpsFront::State::StepSoon() {
  if (!step_posted) {
    step_posted = true;
    asio::post(io(), [this] { Step(); });
  }
}

void HttpsFront::State::Step() {
  step_posted = false;
  if (stopping()) {
    return;
  }
  service.Step();
  const std::optional<TimePoint> due = service.NextDue();
  if (due == step_due) {
    return;
  }
  step_due = due;
  if (!due) {
    step_timer.cancel();
    return;
  }
  step_timer.expires_after(std::max<Duration>(*due - service.clock().Now(), Duration{}));
  step_timer.async_wait([this](const ErrorCode& error) {
    if (!error) {
      step_due.reset();
      Step();
    }
  });
}

void HttpsFront::State::Wake(std::shared_ptr<FrontSession> session) {
  woken.push_back(std::move(session));
  if (woken.size() > 1) {
    return;
  }
  asio::post(io(), [this] {
    for (const std::shared_ptr<FrontSession>& each : std::exchange(woken, {})) {
      each->Pump();
    }
  });
}

const std::string& HttpsFront::State::Date() {
  const TimePoint now = RealClock().WallNow();
  const int64_t unix_s =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (unix_s != date_unix_s) {
    date_unix_s = unix_s;
    date = server::HttpDate(now);
  }
  return date;
}

HttpsFront::HttpsFront(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpsFront::~HttpsFront() { Stop(); }

Result<std::unique_ptr<HttpsFront>> HttpsFront::Listen(FrontOptions options, Service& service) {
  auto state = std::make_unique<State>(std::move(options), service);
  const FrontOptions& kept = state->options;
  if (Result<void> bound = state->Bind({.bind_address = kept.bind_address, .port = kept.port});
      !bound.ok()) {
    return bound.error();
  }
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  if (Result<void> set = server::ConfigureTls(*tls, kept.certificate, {}); !set.ok()) {
    return set.error();
  }
  SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);  // of idle connections
  if (!kept.client_ca_pem.empty()) {
    if (Result<void> set = AskForCertificates(tls->native_handle(), kept.client_ca_pem);
        !set.ok()) {
      return set.error();
    }
  }
  state->SetTls(std::move(tls));
  return std::unique_ptr<HttpsFront>(new HttpsFront(std::move(state)));
}

uint16_t HttpsFront::port() const { return state_->port(); }

std::string HttpsFront::url() const { return UrlOf(*state_); }

FaultRules& HttpsFront::faults() { return state_->faults; }

size_t HttpsFront::sessions() const { return state_->connection_count(); }

void HttpsFront::Serve() {
  state_->StepSoon();
  state_->Serve();
}

void HttpsFront::Run(const std::function<void()>& task) {
  KS_CHECK(state_->serving(), "Run needs a serving front");
  std::promise<void> done;
  asio::post(state_->io(), [&] {
    task();
    state_->StepSoon();
    done.set_value();
  });
  done.get_future().wait();
}

void HttpsFront::Stop() { state_->Stop(); }

}  // namespace ks::apiserver
