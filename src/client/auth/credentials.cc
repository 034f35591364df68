// SPDX-License-Identifier: Apache-2.0
#include "client/auth/credentials.h"

#include <condition_variable>
#include <deque>
#include <thread>

#include "base/file_text.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/text.h"
#include "client/auth/exec_plugin.h"
#include "client/http/server_url.h"
#include "client/http/tls_context.h"
#include "config/read/extenders_tls.h"
#include "golang/base64.h"

namespace ks::client {
namespace {

constexpr Duration kTokenLife = std::chrono::seconds(50);
constexpr Duration kFileCheck = std::chrono::minutes(5);

// The data, else the content of the file, else nothing.
Result<std::string> DataOrFile(const std::string& data, const std::string& file) {
  if (!data.empty() || file.empty()) return data;
  return ReadFile(file);
}

Result<TlsConfig> ReadTls(const ClusterAccess& access) {
  TlsConfig tls;
  tls.insecure_skip_verify = access.insecure_skip_tls_verify;
  tls.server_name = access.tls_server_name;
  for (const auto& [what, data, file, into] :
       {std::tuple("certificate-authority", &access.ca_data, &access.ca_file, &tls.ca_pem),
        std::tuple("client-certificate", &access.client_cert_data, &access.client_cert_file,
                   &tls.client_cert_pem),
        std::tuple("client-key", &access.client_key_data, &access.client_key_file,
                   &tls.client_key_pem)}) {
    Result<std::string> text = DataOrFile(*data, *file);
    if (!text.ok()) return Error{std::string(what) + ": " + text.error().message};
    *into = std::move(*text);
  }
  return tls;
}

// What upstream finds wrong with the certificates before it starts. A pair of files that do not fit
// each other is read anew once a server asks for it: it is no error, and no certificate either.
Result<void> CheckAtStart(const ClusterAccess& access, TlsConfig* tls) {
  if (!access.ca_data.empty()) {
    Result<void> checked = config::CheckAuthorities(tls->ca_pem);
    if (!checked.ok()) return checked;
  }
  if (access.client_cert_file.empty() && access.client_cert_data.empty()) return {};
  Result<void> pair = config::CheckKeyPair(tls->client_cert_pem, tls->client_key_pem);
  if (pair.ok()) return {};
  if (!access.client_cert_data.empty() || !access.client_key_data.empty()) return pair;
  log::Error(pair.error().message, "Loading client cert failed",
             {{"file", access.client_cert_file}});
  tls->client_cert_pem.clear();
  tls->client_key_pem.clear();
  return {};
}

bool SameContent(const TlsConfig& a, const TlsConfig& b) {
  return a.ca_pem == b.ca_pem && a.client_cert_pem == b.client_cert_pem &&
         a.client_key_pem == b.client_key_pem;
}

// Runs the plugin on a thread of its own, one run at a time; everybody who asks meanwhile waits for
// the same answer.
class ExecRunner {
 public:
  using Handler = std::function<void(Result<ExecCredential>)>;

  // `metrics` may be null.
  ExecRunner(ExecPlugin plugin, ExecClusterInfo cluster, ConnectionMetrics* metrics)
      : plugin_(std::move(plugin)),
        cluster_(std::move(cluster)),
        metrics_(metrics),
        thread_([this] { Run(); }) {}

  ~ExecRunner() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    stop_.Set();
    wake_.NotifyAll();
    thread_.join();
  }

  void Ask(Handler handler) {
    {
      MutexLock lock(mutex_);
      waiting_.push_back(std::move(handler));
    }
    wake_.NotifyAll();
  }

 private:
  void Run() {
    while (Wait()) {
      const Result<ExecCredential> credential = RunExecPlugin(plugin_, cluster_, stop_, metrics_);
      std::deque<Handler> handlers;
      {
        MutexLock lock(mutex_);
        handlers.swap(waiting_);
      }
      for (const Handler& handler : handlers) handler(credential);
    }
    std::deque<Handler> handlers;
    {
      MutexLock lock(mutex_);
      handlers.swap(waiting_);
    }
    for (const Handler& handler : handlers) handler(Error{"the client is shut down"});
  }

  bool Wait() {
    MutexLock lock(mutex_);
    while (waiting_.empty() && !stopping_) wake_.Wait(mutex_);
    return !stopping_;
  }

  const ExecPlugin plugin_;
  const ExecClusterInfo cluster_;
  ConnectionMetrics* const metrics_;
  StopFlag stop_;

  Mutex mutex_;
  CondVar wake_;
  std::deque<Handler> waiting_ KS_GUARDED_BY(mutex_);
  bool stopping_ KS_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it uses everything above
};

class ConfiguredCredentials final : public Credentials {
 public:
  // `metrics` may be null.
  ConfiguredCredentials(ClusterAccess access, TlsConfig tls, std::string host, const Clock& clock,
                        ConnectionMetrics* metrics)
      : access_(std::move(access)), host_(std::move(host)), clock_(clock), metrics_(metrics) {
    tls.generation = 1;
    MutexLock lock(mutex_);
    tls_checked_ = token_read_ = clock_.Now();
    tls_ = std::make_shared<const TlsConfig>(std::move(tls));
    token_ = Trimmed(access_.token, kSpace);
    if (!access_.token_file.empty()) ReadToken();
    if (access_.exec.has_value()) {
      exec_ = std::make_unique<ExecRunner>(
          *access_.exec,
          ExecClusterInfo{.server = access_.server,
                          .proxy_url = access_.proxy_url,
                          .tls_server_name = access_.tls_server_name,
                          .insecure_skip_tls_verify = access_.insecure_skip_tls_verify,
                          .ca_pem = tls_->ca_pem},
          metrics_);
    }
  }
  ~ConfiguredCredentials() override {
    exec_.reset();
    if (metrics_ != nullptr) metrics_->SetCertificateEnd(this, std::nullopt);
  }

  void Get(Handler done) override {
    {
      MutexLock lock(mutex_);
      CheckFiles();
      if (exec_ == nullptr || ExecValid()) {
        // Called below, outside of the lock.
      } else {
        exec_->Ask([this, done = std::move(done)](const Result<ExecCredential>& credential) {
          Executed(credential, done);
        });
        return;
      }
    }
    done(Current());
  }

  std::shared_ptr<const TlsConfig> InitialTls() const override {
    MutexLock lock(mutex_);
    return tls_;
  }

  void Rejected(const Access& access) override {
    if (exec_ == nullptr) return;
    MutexLock lock(mutex_);
    // An answer to outdated credentials says nothing about the present ones.
    if (access.serial == serial_) exec_credential_.reset();
  }

 private:
  Access Current() {
    MutexLock lock(mutex_);
    Access access;
    access.serial = serial_;
    const std::string& token = exec_credential_.has_value() ? exec_credential_->token : token_;
    if (!token.empty()) {
      access.headers.emplace_back("Authorization", "Bearer " + token);
    } else if (!access_.username.empty()) {
      access.headers.emplace_back(
          "Authorization",
          "Basic " + golang::EncodeBase64(access_.username + ":" + access_.password));
    }
    access.headers.insert(access.headers.end(), access_.impersonation.begin(),
                          access_.impersonation.end());
    access.tls = tls_;
    return access;
  }

  bool ExecValid() KS_REQUIRES(mutex_) {
    if (!exec_credential_.has_value()) return false;
    const std::optional<TimePoint>& expires = exec_credential_->expires;
    return !expires.has_value() || clock_.WallNow() < *expires;
  }

  void Executed(const Result<ExecCredential>& credential, const Handler& done) {
    if (!credential.ok()) {
      done(Error{"getting credentials: " + credential.error().message});
      return;
    }
    {
      MutexLock lock(mutex_);
      if (!exec_credential_.has_value() || !(*exec_credential_ == *credential)) {
        ++serial_;
        exec_credential_ = *credential;
        ShowCertificate(credential->client_cert_pem);
        TlsConfig changed = *tls_;
        changed.client_cert_pem = credential->client_cert_pem;
        changed.client_key_pem = credential->client_key_pem;
        Adopt(std::move(changed));
      }
    }
    done(Current());
  }

  // Tells the metrics which certificate the plugin gave; empty: none.
  void ShowCertificate(const std::string& pem) KS_REQUIRES(mutex_) {
    if (metrics_ == nullptr) return;
    const std::string& former = tls_->client_cert_pem;
    if (pem == former) return;
    const auto past = LifeOfCertificate(former);
    if (past.has_value()) metrics_->CertificateReplaced(past->from);
    const auto next = LifeOfCertificate(pem);
    metrics_->SetCertificateEnd(this, next.has_value() ? std::optional(next->end) : std::nullopt);
  }

  // After a check of the files that began with `former` in force.
  void CountCaReload(const std::string& former) KS_REQUIRES(mutex_) {
    if (metrics_ == nullptr || access_.ca_file.empty() || !access_.ca_data.empty()) return;
    const Result<std::string> text = ReadFile(access_.ca_file);
    CaReload outcome = CaReload::kUnusable;
    if (!text.ok()) {
      outcome = CaReload::kUnreadable;
    } else if (text->empty()) {
      outcome = CaReload::kEmpty;
    } else if (tls_->ca_pem != former) {
      outcome = CaReload::kUpdated;
    } else if (*text == former) {
      outcome = CaReload::kUnchanged;
    }
    metrics_->CountCaReload(outcome);
  }

  void CheckFiles() KS_REQUIRES(mutex_) {
    const TimePoint now = clock_.Now();
    if (!access_.token_file.empty() && now - token_read_ >= kTokenLife) {
      token_read_ = now;
      ReadToken();
    }
    const bool files = !access_.ca_file.empty() || !access_.client_cert_file.empty() ||
                       !access_.client_key_file.empty();
    if (!files || now - tls_checked_ < kFileCheck) return;
    tls_checked_ = now;
    const std::string former_ca = tls_->ca_pem;
    ReloadTls();
    CountCaReload(former_ca);
  }

  void ReloadTls() KS_REQUIRES(mutex_) {
    Result<TlsConfig> fresh = ReadTls(access_);
    if (!fresh.ok()) {
      log::Error(fresh.error().message,
                 "Unable to reload the certificate files, keeping the old ones");
      return;
    }
    if (exec_ != nullptr) {
      fresh->client_cert_pem = tls_->client_cert_pem;
      fresh->client_key_pem = tls_->client_key_pem;
    }
    Adopt(std::move(*fresh));
  }

  // Takes over usable settings that differ from the present ones.
  void Adopt(TlsConfig fresh) KS_REQUIRES(mutex_) {
    if (fresh.ca_pem.empty()) fresh.ca_pem = tls_->ca_pem;
    if (SameContent(fresh, *tls_)) return;
    const Result<std::shared_ptr<TlsContext>> usable = TlsContext::Make(fresh, host_);
    if (!usable.ok()) {
      log::Error(usable.error().message, "Ignoring changed certificate files that are unusable");
      return;
    }
    fresh.generation = tls_->generation + 1;
    tls_ = std::make_shared<const TlsConfig>(std::move(fresh));
    log::Info(1, "Certificates have changed, opening new connections");
  }

  void ReadToken() KS_REQUIRES(mutex_) {
    const Result<std::string> text = ReadFile(access_.token_file);
    const std::string token = text.ok() ? std::string(Trimmed(*text, kSpace)) : std::string();
    if (!token.empty()) {
      token_ = token;
      return;
    }
    log::Error(text.ok() ? "read empty token from file \"" + access_.token_file + "\""
                         : text.error().message,
               "Unable to rotate token");
  }

  const ClusterAccess access_;
  const std::string host_;
  const Clock& clock_;
  ConnectionMetrics* const metrics_;

  mutable Mutex mutex_;
  std::string token_ KS_GUARDED_BY(mutex_);
  TimePoint token_read_ KS_GUARDED_BY(mutex_);
  TimePoint tls_checked_ KS_GUARDED_BY(mutex_);
  std::shared_ptr<const TlsConfig> tls_ KS_GUARDED_BY(mutex_);
  std::optional<ExecCredential> exec_credential_ KS_GUARDED_BY(mutex_);
  uint64_t serial_ KS_GUARDED_BY(mutex_) = 0;  // of exec_credential_

  std::unique_ptr<ExecRunner> exec_;  // last: its thread calls Executed
};

class AnonymousCredentials final : public Credentials {
 public:
  void Get(Handler done) override { done(Access{}); }
  void Rejected(const Access&) override {}
  std::shared_ptr<const TlsConfig> InitialTls() const override { return nullptr; }
};

}  // namespace

Result<std::unique_ptr<Credentials>> NewCredentials(ClusterAccess access, const Clock& clock,
                                                    ConnectionMetrics* metrics) {
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  if (!url.ok()) return url.error();
  Result<TlsConfig> tls = ReadTls(access);
  if (!tls.ok()) return tls.error();
  if (url->tls) {
    const Result<void> checked = CheckAtStart(access, &tls.value());
    if (!checked.ok()) return checked.error();
    const Result<std::shared_ptr<TlsContext>> usable = TlsContext::Make(*tls, url->host);
    if (!usable.ok()) return usable.error();
  }
  // A token beside the file serves until the file can be read.
  if (!access.token_file.empty() && access.token.empty()) {
    const Result<std::string> token = ReadFile(access.token_file);
    if (!token.ok()) return Error{"tokenFile: " + token.error().message};
    if (Trimmed(*token, kSpace).empty()) {
      return Error{"tokenFile: read empty token from file \"" + access.token_file + "\""};
    }
  }
  return std::unique_ptr<Credentials>(std::make_unique<ConfiguredCredentials>(
      std::move(access), std::move(*tls), url->host, clock, metrics));
}

std::unique_ptr<Credentials> NewAnonymousCredentials() {
  return std::make_unique<AnonymousCredentials>();
}

}  // namespace ks::client
