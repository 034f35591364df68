// SPDX-License-Identifier: Apache-2.0
#include "kubesched/access/delegated_access.h"

#include <iterator>
#include <utility>
#include <vector>

#include "base/file_text.h"
#include "base/logging.h"
#include "client/auth/kubeconfig.h"

namespace ks::daemon {
namespace {

constexpr float kQps = 200;
constexpr int kBurst = 400;

Result<std::shared_ptr<const server::CertificateAuthorities>> ReadAuthorities(
    const std::string& file) {
  auto text = ReadFile(file);
  if (!text.ok()) return text.error();
  auto authorities = server::CertificateAuthorities::FromPem(std::move(text).value());
  if (!authorities.ok()) {
    return Error{"error loading " + file + ": " + authorities.error().message};
  }
  return authorities;
}

void WarnOfMissingLookUp(const std::string& key, const char* what) {
  log::Plain('W', "No authentication-kubeconfig provided in order to lookup " + key +
                      " in configmap/extension-apiserver-authentication in kube-system, so " +
                      what + " won't work.");
}

}  // namespace

DelegatedAccess::DelegatedAccess(const AuthenticationOptions& who, metrics::Registry& registry)
    : who_(who), metrics_(registry) {}

DelegatedAccess::~DelegatedAccess() { Stop(); }

// Empty without a kubeconfig outside of a cluster.
Result<DelegatedAccess::Side> DelegatedAccess::Connect(const std::string& kubeconfig,
                                                       const std::string& start,
                                                       client::RestMetrics& metrics) {
  auto access = kubeconfig.empty() ? client::LoadInCluster(client::InClusterFromEnvironment())
                                   : client::LoadClientConfig(kubeconfig, "");
  if (!access.ok()) {
    if (kubeconfig.empty()) return Side{};
    return Error{start + access.error().message};
  }
  auto connection =
      client::Connection::Make(access.value(), RealClock(), {}, &metrics.connections());
  if (!connection.ok()) return Error{start + connection.error().message};
  Side side;
  side.connection = std::move(connection).value();
  client::RestOptions rest;
  rest.qps = kQps;
  rest.burst = kBurst;
  rest.user_agent = client::UserAgent("kubesched", "delegated-access");
  rest.metrics = &metrics.For(side.connection->server());
  side.rest = side.connection->NewRestClient(rest);
  return side;
}

Result<std::unique_ptr<DelegatedAccess>> DelegatedAccess::Prepare(
    const AuthenticationOptions& who, const AuthorizationOptions& may, metrics::Registry& registry,
    client::RestMetrics& rest_metrics) {
  std::unique_ptr<DelegatedAccess> made(new DelegatedAccess(who, registry));
  const std::string start = "failed to get delegated authentication kubeconfig: ";
  auto authentication = Connect(who.kubeconfig, start + start, rest_metrics);
  if (!authentication.ok()) return authentication.error();
  made->authentication_ = std::move(authentication).value();
  server::TrustRoots files;
  if (Result<void> loaded = made->LoadFiles(&files); !loaded.ok()) return loaded.error();
  {
    const MutexLock lock(made->mutex_);
    made->from_files_ = std::move(files);
  }
  if (Result<void> found = made->LookUp(); !found.ok()) return found.error();
  made->Compose();

  auto authorization =
      Connect(may.kubeconfig, "failed to get delegated authorization kubeconfig: ", rest_metrics);
  if (!authorization.ok()) return authorization.error();
  made->authorization_ = std::move(authorization).value();
  auto open = server::PathAuthorization::Make(may.always_allow_paths);
  if (!open.ok()) return open.error();

  const Clock& clock = RealClock();
  if (made->authentication_.rest) {
    made->token_reviewer_ =
        std::make_unique<ApiTokenReviewer>(*made->authentication_.rest, made->metrics_);
    made->tokens_ = std::make_unique<server::CachedTokenReviewer>(
        *made->token_reviewer_, clock, who.token_cache_ttl, made->metrics_);
  }
  if (made->authorization_.rest) {
    made->access_reviewer_ =
        std::make_unique<ApiAccessReviewer>(*made->authorization_.rest, made->metrics_);
    made->access_ = std::make_unique<server::CachedAccessReviewer>(
        *made->access_reviewer_, clock,
        server::AccessLives{.allowed = may.authorized_ttl, .refused = may.unauthorized_ttl});
  } else {
    log::Plain('W',
               "No authorization-kubeconfig provided, so SubjectAccessReview of authorization "
               "tokens won't work.");
  }
  made->authenticator_ = std::make_unique<server::Authenticator>(made->roots_, made->tokens_.get(),
                                                                 clock, made->metrics_);
  made->authorizer_ = std::make_unique<server::Authorizer>(
      std::move(open).value(), made->access_.get(), clock, made->metrics_);
  return made;
}

Result<void> DelegatedAccess::LoadFiles(server::TrustRoots* roots) const {
  if (!who_.client_ca_file.empty()) {
    auto authorities = ReadAuthorities(who_.client_ca_file);
    if (!authorities.ok()) {
      return Error{"unable to load client CA provider: " + authorities.error().message};
    }
    roots->clients = std::move(authorities).value();
  }
  if (!who_.request_header_ca_file.empty()) {
    auto authorities = ReadAuthorities(who_.request_header_ca_file);
    if (!authorities.ok()) {
      return Error{"unable to create request header authentication config: " +
                   authorities.error().message};
    }
    roots->front_proxy =
        server::FrontProxyTrust{.authorities = std::move(authorities).value(),
                                .allowed_names = who_.allowed_names,
                                .username_headers = who_.username_headers,
                                .group_headers = who_.group_headers,
                                .uid_headers = who_.uid_headers,
                                .extra_header_prefixes = who_.extra_header_prefixes};
  }
  return {};
}

// The published roots, where they are missing from the flags.
Result<void> DelegatedAccess::LookUp() {
  const bool needed = who_.client_ca_file.empty() || who_.request_header_ca_file.empty();
  if (who_.skip_lookup || !needed) return {};
  if (!authentication_.rest) {
    if (who_.client_ca_file.empty()) {
      WarnOfMissingLookUp("client-ca-file", "client certificate authentication");
    }
    if (who_.request_header_ca_file.empty()) {
      WarnOfMissingLookUp("requestheader-client-ca-file",
                          "request-header client certificate authentication");
    }
    return {};
  }
  publisher_ = std::make_unique<PublishedRoots>(
      *authentication_.rest, [this](server::TrustRoots roots) { OnPublished(std::move(roots)); });
  auto read = publisher_->ReadOnce();
  if (read.ok()) {
    const MutexLock lock(mutex_);
    published_ = std::move(read).value();
    front_proxy_known_ = true;
    return {};
  }
  if (!who_.tolerate_lookup_failure) {
    return Error{"unable to load configmap based request-header-client-ca-file: " +
                 read.error().message};
  }
  log::Plain('W',
             "Error looking up in-cluster authentication configuration: " + read.error().message);
  log::Plain('W',
             "Continuing without authentication configuration. This may treat all requests as "
             "anonymous.");
  log::Plain('W',
             "To require authentication configuration lookup to succeed, set "
             "--authentication-tolerate-lookup-failure=false");
  return {};
}

void DelegatedAccess::OnFiles() {
  server::TrustRoots files;
  if (Result<void> loaded = LoadFiles(&files); !loaded.ok()) {
    log::Error(loaded.error().message, "Changed certificate authorities are left aside");
    return;
  }
  {
    const MutexLock lock(mutex_);
    from_files_ = std::move(files);
  }
  log::Info(1, "Certificate authorities of callers read again");
  Compose();
}

void DelegatedAccess::OnPublished(server::TrustRoots roots) {
  {
    const MutexLock lock(mutex_);
    published_ = std::move(roots);
  }
  Compose();
}

void DelegatedAccess::Compose() {
  std::function<void()> changed;
  {
    const MutexLock lock(mutex_);
    server::TrustRoots roots = from_files_;
    if (!roots.clients) roots.clients = published_.clients;
    if (!roots.front_proxy && front_proxy_known_) roots.front_proxy = published_.front_proxy;
    roots_.Set(std::move(roots));
    changed = roots_changed_;
  }
  if (changed) changed();
}

std::string DelegatedAccess::AuthoritiesPem() const {
  const auto roots = roots_.Get();
  std::string pem;
  if (roots->clients) pem += roots->clients->pem() + "\n";
  if (roots->front_proxy) pem += roots->front_proxy->authorities->pem() + "\n";
  return pem;
}

server::Guard DelegatedAccess::MakeGuard() const {
  return server::MakeGuard(*authenticator_, *authorizer_);
}

void DelegatedAccess::Start(std::function<void()> roots_changed) {
  {
    const MutexLock lock(mutex_);
    roots_changed_ = std::move(roots_changed);
  }
  std::vector<std::string> files;
  for (const std::string& file : {who_.client_ca_file, who_.request_header_ca_file}) {
    if (!file.empty()) files.push_back(file);
  }
  if (!files.empty()) {
    auto watcher = ConfigWatcher::Start(std::move(files), [this] { OnFiles(); });
    if (watcher.ok()) {
      watcher_ = std::move(watcher).value();
    } else {
      log::Error(watcher.error().message, "Changes of certificate authorities go unnoticed");
    }
  }
  if (publisher_) publisher_->Watch();
}

void DelegatedAccess::Stop() {
  watcher_.reset();
  if (publisher_) publisher_->Stop();
  if (token_reviewer_) token_reviewer_->Stop();
  if (access_reviewer_) access_reviewer_->Stop();
  // Ends what is under way; its callbacks still find everything they need.
  authentication_.rest.reset();
  authorization_.rest.reset();
  authentication_.connection.reset();
  authorization_.connection.reset();
}

}  // namespace ks::daemon
