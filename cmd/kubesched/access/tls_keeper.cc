// SPDX-License-Identifier: Apache-2.0
#include "kubesched/access/tls_keeper.h"

#include <utility>

#include "base/logging.h"
#include "base/text.h"
#include "server/tls/client_certificate.h"
#include "server/tls/tls_settings.h"

namespace ks::daemon {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
constexpr Duration kRenewBefore = 30 * kDay;

// One value of --tls-sni-cert-key: "certificate,key" or "certificate,key:name,name".
struct NamedFiles {
  std::string certificate;
  std::string key;
  std::vector<std::string> names;

  explicit NamedFiles(std::string_view flag) {
    const size_t colon = flag.find(':');
    const std::vector<std::string_view> files = SplitTrimmed(flag.substr(0, colon), ',');
    certificate = files[0];
    key = files.size() > 1 ? files[1] : "";
    if (colon == std::string_view::npos || Trimmed(flag.substr(colon + 1)).empty()) return;
    for (const std::string_view name : SplitTrimmed(flag.substr(colon + 1), ',')) {
      names.emplace_back(name);
    }
  }
};

// The pair's files; empty: it is in none.
std::pair<std::string, std::string> PairFiles(const ServingOptions& options) {
  if (!options.tls_cert_file.empty() || !options.tls_private_key_file.empty()) {
    return {options.tls_cert_file, options.tls_private_key_file};
  }
  if (options.cert_dir.empty()) return {};
  const std::string start =
      options.cert_dir + (options.cert_dir.ends_with('/') ? "" : "/") + "kube-scheduler.";
  return {start + "crt", start + "key"};
}

}  // namespace

Result<server::ServingCertificate> MakePairInMemory(const ServingOptions& options,
                                                    int64_t now_unix_s) {
  const bool chosen = !options.cipher_suites.empty() || !options.curve_preferences.empty();
  return server::MakeSelfSignedCertificate(
      options.bind_address, now_unix_s,
      chosen ? server::KeyKind::kRsa2048 : server::KeyKind::kP256);
}

// The daily look. Outlives the keeper in the timer's queue.
struct TlsKeeper::Renewal {
  Mutex mutex;
  TlsKeeper* keeper KS_GUARDED_BY(mutex) = nullptr;  // null: it is gone
  client::TimerId timer KS_GUARDED_BY(mutex) = 0;

  static void Look(const std::shared_ptr<Renewal>& self) {
    const MutexLock lock(self->mutex);
    if (self->keeper == nullptr) return;
    self->keeper->RenewIfDue();
    self->timer = self->keeper->timers_.Schedule(kDay, [self] { Look(self); });
  }
};

TlsKeeper::TlsKeeper(ServingOptions options, client::TimerService& timers, Apply apply)
    : options_(std::move(options)), timers_(timers), apply_(std::move(apply)) {}

TlsKeeper::~TlsKeeper() {
  watcher_.reset();
  if (!renewal_) return;
  client::TimerId timer = 0;
  {
    const MutexLock lock(renewal_->mutex);
    renewal_->keeper = nullptr;
    timer = renewal_->timer;
  }
  timers_.Cancel(timer);
}

Result<std::unique_ptr<TlsKeeper>> TlsKeeper::Make(
    const ServingOptions& options, const std::optional<server::ServingCertificate>& generated,
    client::TimerService& timers, Apply apply) {
  std::unique_ptr<TlsKeeper> made(new TlsKeeper(options, timers, std::move(apply)));
  const MutexLock lock(made->mutex_);
  made->in_memory_ = PairFiles(options).first.empty() && PairFiles(options).second.empty();
  if (generated) made->setup_.certificate = *generated;
  if (Result<void> loaded = made->Load(); !loaded.ok()) return loaded.error();
  std::vector<std::string> warnings;
  auto settings = server::MakeTlsSettings(options.cipher_suites, options.curve_preferences,
                                          options.tls_min_version, &warnings);
  if (!settings.ok()) return settings.error();
  for (const std::string& warning : warnings) log::Plain('W', warning);
  made->setup_.settings = std::move(settings).value();
  if (Result<void> applied = made->apply_(made->setup_); !applied.ok()) return applied.error();
  return made;
}

std::vector<std::string> TlsKeeper::Files() const {
  std::vector<std::string> files;
  const auto add = [&files](const std::string& file) {
    if (!file.empty()) files.push_back(file);
  };
  add(PairFiles(options_).first);
  add(PairFiles(options_).second);
  for (const std::string& flag : options_.sni_cert_keys) {
    const NamedFiles pair(flag);
    add(pair.certificate);
    add(pair.key);
  }
  return files;
}

// Reads all files anew into `setup_`.
Result<void> TlsKeeper::Load() {
  if (!in_memory_) {
    const auto& [certificate, key] = PairFiles(options_);
    auto pair = server::LoadServingCertificate(certificate, key);
    if (!pair.ok()) return pair.error();
    setup_.certificate = std::move(pair).value();
  }
  std::vector<server::NamedCertificate> named;
  for (const std::string& flag : options_.sni_cert_keys) {
    const NamedFiles files(flag);
    auto pair = server::LoadServingCertificate(files.certificate, files.key);
    if (!pair.ok()) return Error{"failed to load SNI cert and key: " + pair.error().message};
    named.push_back({.certificate = std::move(pair).value(), .names = files.names});
  }
  setup_.named = std::move(named);
  return {};
}

void TlsKeeper::Reload() {
  const MutexLock lock(mutex_);
  const server::TlsSetup before = setup_;
  Result<void> done = Load();
  if (done.ok()) done = apply_(setup_);
  if (done.ok()) {
    log::Info(1, "Serving certificates read again; new connections get them");
    return;
  }
  setup_ = before;
  // Often one of two files only; the next change mends it.
  log::Error(done.error().message, "Changed serving certificates are left aside");
}

void TlsKeeper::RenewIfDue() {
  const MutexLock lock(mutex_);
  if (!in_memory_) return;
  const TimePoint now = timers_.clock().WallNow();
  const auto present = server::ClientCertificate::FromPem(setup_.certificate.chain_pem);
  if (present && present->NotAfter() - now > kRenewBefore) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  auto pair = MakePairInMemory(options_, seconds);
  if (!pair.ok()) {
    log::Error(pair.error().message, "The self-signed certificate could not be renewed");
    return;
  }
  server::TlsSetup next = setup_;
  next.certificate = std::move(pair).value();
  if (Result<void> applied = apply_(next); !applied.ok()) {
    log::Error(applied.error().message, "The self-signed certificate could not be renewed");
    return;
  }
  setup_ = std::move(next);
  log::Info(0, "Renewed the self-signed certificate in memory");
}

void TlsKeeper::SetAuthorities(const std::string& pem) {
  const MutexLock lock(mutex_);
  if (pem == setup_.client_ca_pem) return;
  server::TlsSetup next = setup_;
  next.client_ca_pem = pem;
  if (Result<void> applied = apply_(next); !applied.ok()) {
    log::Error(applied.error().message, "The authorities of client certificates are left aside");
    return;
  }
  setup_ = std::move(next);
}

void TlsKeeper::Start() {
  if (std::vector<std::string> files = Files(); !files.empty()) {
    auto watcher = ConfigWatcher::Start(std::move(files), [this] { Reload(); });
    if (watcher.ok()) {
      watcher_ = std::move(watcher).value();
    } else {
      log::Error(watcher.error().message, "Changes of serving certificates go unnoticed");
    }
  }
  renewal_ = std::make_shared<Renewal>();
  const MutexLock lock(renewal_->mutex);
  renewal_->keeper = this;
  renewal_->timer = timers_.Schedule(kDay, [renewal = renewal_] { Renewal::Look(renewal); });
}

}  // namespace ks::daemon
