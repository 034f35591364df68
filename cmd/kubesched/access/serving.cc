// SPDX-License-Identifier: Apache-2.0
#include "kubesched/access/serving.h"

#include <utility>

#include "base/clock.h"
#include "base/logging.h"
#include "server/tls/certificate.h"

namespace ks::daemon {

Result<std::optional<server::ServingCertificate>> PrepareCertificate(
    const ServingOptions& options) {
  const bool files = !options.tls_cert_file.empty() || !options.tls_private_key_file.empty();
  if (options.secure_port == 0 || files) return std::optional<server::ServingCertificate>();
  const auto now = std::chrono::floor<std::chrono::seconds>(RealClock().WallNow());
  const int64_t now_unix_s = now.time_since_epoch().count();
  bool made = true;
  auto pair = options.cert_dir.empty()
                  ? MakePairInMemory(options, now_unix_s)
                  : server::LoadOrMakeCertificate(options.cert_dir, options.bind_address,
                                                  now_unix_s, &made);
  if (!pair.ok()) return pair.error();
  if (options.cert_dir.empty()) {
    log::Plain('I', "Generated self-signed cert in-memory");
  } else if (made) {
    log::Plain('I', "Generated self-signed cert (" + options.cert_dir + "/kube-scheduler.crt, " +
                        options.cert_dir + "/kube-scheduler.key)");
  }
  return std::optional<server::ServingCertificate>(std::move(pair).value());
}

Result<std::unique_ptr<Serving>> Serving::Prepare(
    const Options& options, const std::optional<server::ServingCertificate>& generated,
    metrics::Registry& registry, client::RestMetrics& rest_metrics) {
  const ServingOptions& serving = options.serving;
  if (serving.secure_port == 0) return std::unique_ptr<Serving>();
  server::HttpsOptions https;
  https.bind_address = serving.bind_address;
  https.port = static_cast<uint16_t>(serving.secure_port);
  https.share_port = serving.permit_port_sharing;
  auto bound = server::HttpsServer::Bind(std::move(https));
  if (!bound.ok()) return bound.error();

  std::unique_ptr<Serving> made(new Serving);
  made->https_ = std::move(bound).value();
  made->timers_ = client::NewTimerThread();
  auto tls = TlsKeeper::Make(serving, generated, *made->timers_,
                             [server = made->https_.get()](const server::TlsSetup& setup) {
                               return server->Secure(setup);
                             });
  if (!tls.ok()) return tls.error();
  made->tls_ = std::move(tls).value();
  auto access = DelegatedAccess::Prepare(options.authentication, options.authorization, registry,
                                         rest_metrics);
  if (!access.ok()) return access.error();
  made->access_ = std::move(access).value();
  made->tls_->SetAuthorities(made->access_->AuthoritiesPem());
  made->https_->SetGuard(made->access_->MakeGuard());
  return made;
}

Serving::~Serving() { Stop(); }

void Serving::Start() {
  tls_->Start();
  access_->Start([this] { tls_->SetAuthorities(access_->AuthoritiesPem()); });
  https_->Serve();
}

// The server first: what it still waits for then gets no answer.
void Serving::Stop() {
  https_->Stop();
  if (access_) access_->Stop();
}

}  // namespace ks::daemon
