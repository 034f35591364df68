// SPDX-License-Identifier: Apache-2.0
#pragma once
// An API server's front with a service behind it, for tests of the bytes on the wire.

#include <memory>
#include <string>
#include <utility>

#include "apiserver/http/credentials.h"
#include "apiserver/http/https_front.h"
#include "apiserver/service/service.h"
#include "base/check.h"
#include "testing/tls_client.h"

namespace ks::apiserver {

inline constexpr int64_t kFrontNow = 1795219413;
inline constexpr const char* kAdminToken = "admin-token";
inline constexpr const char* kUserToken = "user-token";

// One authority for the whole program: making keys takes time.
inline const CertificateAuthority& FrontAuthority() {
  static const CertificateAuthority authority = MakeAuthority("test-ca", kFrontNow).value();
  return authority;
}

inline FrontOptions TestFront() {
  static const server::ServingCertificate certificate =
      MakeServerCertificate(FrontAuthority(), {}, kFrontNow).value();
  return {.certificate = certificate,
          .client_ca_pem = FrontAuthority().certificate_pem,
          .tokens = {{kAdminToken,
                      {.name = "admin", .groups = {"system:masters", "system:authenticated"}}},
                     {kUserToken, {.name = "alice", .groups = {"system:authenticated"}}}},
          .close_timeout = std::chrono::milliseconds(200)};
}

inline testing::TestIdentity Identity(const CertificateAuthority& authority, const UserInfo& user) {
  const auto pair = MakeClientCertificate(authority, user, kFrontNow);
  KS_CHECK(pair.ok(), pair.ok() ? "" : pair.error().message);
  return {pair->chain_pem, pair->key_pem};
}

class FrontFixture {
 public:
  explicit FrontFixture(FrontOptions options = TestFront()) : service_(RealClock()) {
    auto front = HttpsFront::Listen(std::move(options), service_);
    KS_CHECK(front.ok(), front.ok() ? "" : front.error().message);
    front_ = std::move(front).value();
    front_->Serve();
  }

  HttpsFront& front() { return *front_; }
  int port() const { return front_->port(); }
  // On the front's thread.
  void Run(const std::function<void(Service&)>& task) {
    front_->Run([&] { task(service_); });
  }
  void Faults(const std::string& json) {
    front_->Run([&] {
      const Result<void> loaded = front_->faults().Load(json);
      KS_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
    });
  }
  size_t Sessions() {
    size_t count = 0;
    front_->Run([&] { count = front_->sessions(); });
    return count;
  }
  void CreateConfigMap(const std::string& name, const std::string& data = "") {
    Run([&](Service& service) {
      const auto made = service.registry().Create(
          *FindResource("", "v1", "configmaps"), "default",
          Json{{"metadata", {{"name", name}}}, {"data", {{"key", data}}}});
      KS_CHECK(made.ok(), made.ok() ? "" : made.failure().message);
    });
  }

 private:
  Service service_;
  std::unique_ptr<HttpsFront> front_;
};

// A request of the administrator, with a body when there is one.
inline std::string RequestText(const std::string& method, const std::string& target,
                               const std::string& body = "", const std::string& headers = "") {
  std::string text = method + " " + target +
                     " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kAdminToken +
                     "\r\n" + headers;
  if (!body.empty()) {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text + "\r\n" + body;
}

inline constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";

inline std::string ConfigMapText(const std::string& name, const std::string& data = "") {
  return Json{{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", name}}},
              {"data", {{"key", data}}}}
      .dump();
}

}  // namespace ks::apiserver
