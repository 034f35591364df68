// SPDX-License-Identifier: Apache-2.0
#include "client/election/candidacy.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/decode/decoder.h"
#include "api/kinds.h"
#include "base/clock.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/rest/backoff.h"
#include "client/watch/reflector.h"

namespace ks::client {
namespace {

constexpr Duration kRenewEvery = std::chrono::minutes(5);
constexpr Duration kAnswerWithin = std::chrono::seconds(5);
constexpr Duration kGoneWithin = std::chrono::seconds(1);
constexpr const api::KindInfo& kKind = api::kKindOf<api::LeaseCandidate>;
constexpr const char* kNoSuchApi = "the server could not find the requested resource";

std::string TextOf(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string NewCandidateBody(const CandidacyOptions& options, const std::string& now) {
  return TextOf({{"kind", kKind.kind},
                 {"apiVersion", kKind.ApiVersion()},
                 {"metadata", {{"name", options.identity}, {"namespace", options.lease_namespace}}},
                 {"spec",
                  {{"leaseName", options.lease_name},
                   {"renewTime", now},
                   {"binaryVersion", options.binary_version},
                   {"emulationVersion", options.emulation_version},
                   {"strategy", "OldestEmulationVersion"}}}});
}

// The object as received, with another renewTime. Empty: it was none.
std::string RenewedCandidateBody(const std::string& text, const std::string& renew_time) {
  auto object = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object["spec"].is_object()) return "";
  // Texts of a watch go without them.
  object["kind"] = kKind.kind;
  object["apiVersion"] = kKind.ApiVersion();
  object["spec"]["renewTime"] = renew_time;
  return TextOf(object);
}

}  // namespace

// At most one request of its own is under way, beside the watch; `timer_` waits for the next one,
// after an error, or until the five minutes are over.
class Candidacy::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient& client, CandidacyOptions options)
      : client_(client),
        options_(std::move(options)),
        collection_("/apis/" + kKind.ApiVersion() + "/namespaces/" +
                    EscapeUrl(options_.lease_namespace) + "/" + std::string(kKind.plural)),
        name_(options_.lease_namespace + "/" + options_.identity),
        random_(options_.seed) {}

  void Start() KS_EXCLUDES(mutex_);
  void Stop() KS_EXCLUDES(mutex_);
  void Withdraw(std::function<void()> done) KS_EXCLUDES(mutex_);
  bool Synced() const KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return watch_ != nullptr && watch_->Synced();
  }

 private:
  using Object = api::LeaseCandidate;
  using OnReply = void (Core::*)(const RestReply&);
  struct Known {
    std::shared_ptr<const Object> object;
    std::string text;
  };

  void FinishWithdrawal() KS_EXCLUDES(mutex_);
  void EnsureCandidate() KS_REQUIRES(mutex_);
  void Create() KS_REQUIRES(mutex_);
  void Renew() KS_REQUIRES(mutex_);
  void Send(RestRequest request, OnReply next) KS_REQUIRES(mutex_);
  void OnCreated(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnRenewed(const RestReply& reply) KS_REQUIRES(mutex_);
  void OnWritten(const RestReply& reply) KS_REQUIRES(mutex_);
  void RetryLater(const char* what, const api::ApiError& error) KS_REQUIRES(mutex_);
  void WaitFor(Duration delay) KS_REQUIRES(mutex_);
  void Watch() KS_REQUIRES(mutex_);

  void Apply(std::vector<api::Delta<Object>> deltas) KS_EXCLUDES(mutex_);
  void Observe(std::shared_ptr<const Object> object, std::string_view text) KS_REQUIRES(mutex_);
  bool IsOutdated(const Object& object) const KS_REQUIRES(mutex_);
  bool IsPinged() const KS_REQUIRES(mutex_) {
    const Object& object = *known_->object;
    return object.ping_time && (!object.renew_time || *object.ping_time > *object.renew_time);
  }

  RestClient& client_;
  const CandidacyOptions options_;
  const std::string collection_;
  const std::string name_;  // in log lines

  mutable Mutex mutex_;
  bool stopped_ KS_GUARDED_BY(mutex_) = false;
  Random random_ KS_GUARDED_BY(mutex_);
  Backoff backoff_ KS_GUARDED_BY(mutex_);
  api::Decoder decoder_ KS_GUARDED_BY(mutex_);
  std::optional<Known> known_ KS_GUARDED_BY(mutex_);  // absent: it is not there
  bool due_ KS_GUARDED_BY(mutex_) = false;            // the five minutes are over
  bool waits_ KS_GUARDED_BY(mutex_) = false;          // after an error
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
  TimerId timer_ KS_GUARDED_BY(mutex_) = 0;
  std::function<void()> withdrawn_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<Reflector<Object>> watch_ KS_GUARDED_BY(mutex_);
};

void Candidacy::Core::Start() {
  MutexLock lock(mutex_);
  EnsureCandidate();
}

void Candidacy::Core::Stop() {
  std::shared_ptr<Exchange> exchange;
  Reflector<Object>* watch = nullptr;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    exchange = std::exchange(exchange_, nullptr);
    if (timer_ != 0) client_.timers().Cancel(std::exchange(timer_, 0));
    watch = watch_.get();
  }
  if (exchange != nullptr) exchange->Cancel();
  // Nobody makes another one any more.
  if (watch != nullptr) watch->Stop();
}

void Candidacy::Core::Withdraw(std::function<void()> done) {
  Stop();
  MutexLock lock(mutex_);
  withdrawn_ = std::move(done);
  timer_ = client_.timers().Schedule(kGoneWithin, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->FinishWithdrawal();
  });
  exchange_ =
      client_.Send({.method = "DELETE",
                    .target = collection_ + "/" + EscapeUrl(options_.identity),
                    .timeout = kGoneWithin,
                    .resource = std::string(kKind.plural),
                    .name = options_.identity},
                   [self = shared_from_this()](const RestReply& reply) {
                     if (!reply.ok() && !reply.error->IsNotFound()) {
                       log::Info(2, "The LeaseCandidate stays behind",
                                 {{"candidate", self->name_}, {"err", reply.error->message}});
                     }
                     self->FinishWithdrawal();
                   });
}

// Whichever comes first: the answer or the end of the second.
void Candidacy::Core::FinishWithdrawal() {
  std::function<void()> done;
  {
    MutexLock lock(mutex_);
    done = std::exchange(withdrawn_, nullptr);
  }
  if (done) done();
}

// ---- what to do ----

void Candidacy::Core::EnsureCandidate() {
  if (stopped_ || waits_ || exchange_ != nullptr) return;
  if (!known_) return Create();
  if (due_ || IsPinged()) return Renew();
}

void Candidacy::Core::Create() {
  Send({.method = "POST",
        .target = collection_,
        .body = NewCandidateBody(options_, FormatMicroTime(client_.clock().WallNow()))},
       &Core::OnCreated);
}

void Candidacy::Core::Renew() {
  TimePoint now = client_.clock().WallNow();
  if (known_->object->ping_time) {
    now = std::max<TimePoint>(now, *known_->object->ping_time + std::chrono::microseconds(1));
  }
  std::string body = RenewedCandidateBody(known_->text, FormatMicroTime(now));
  Send({.method = "PUT",
        .target = collection_ + "/" + EscapeUrl(options_.identity),
        .body = std::move(body)},
       &Core::OnRenewed);
}

void Candidacy::Core::Send(RestRequest request, OnReply next) {
  request.timeout = kAnswerWithin;
  request.resource = std::string(kKind.plural);
  request.name = options_.identity;
  exchange_ =
      client_.Send(std::move(request), [self = shared_from_this(), next](const RestReply& reply) {
        MutexLock lock(self->mutex_);
        if (self->stopped_) return;
        self->exchange_ = nullptr;
        (self.get()->*next)(reply);
      });
}

void Candidacy::Core::OnCreated(const RestReply& reply) {
  // Its own creation, whose answer was lost: the watch brings it.
  const bool exists = !reply.ok() && reply.error->IsAlreadyExists();
  if (!reply.ok() && !exists) {
    return RetryLater("Failed to create the LeaseCandidate", *reply.error);
  }
  if (reply.ok()) log::Info(0, "Standing for coordinated leader election", {{"candidate", name_}});
  Watch();
  OnWritten(reply);
}

void Candidacy::Core::OnRenewed(const RestReply& reply) {
  if (reply.ok()) return OnWritten(reply);
  if (!reply.error->IsNotFound()) {
    return RetryLater("Failed to renew the LeaseCandidate", *reply.error);
  }
  known_.reset();
  EnsureCandidate();
}

void Candidacy::Core::OnWritten(const RestReply& reply) {
  std::shared_ptr<const Object> object;
  if (reply.ok()) {
    auto read = decoder_.Object<Object>(reply.body);
    if (read.ok()) object = std::move(read).value();
  }
  if (object == nullptr || object->meta.name != options_.identity) {
    // The watch knows better, and ends this wait.
    waits_ = true;
    return WaitFor(backoff_.Next(client_.clock().Now(), random_.Unit()));
  }
  backoff_ = Backoff();
  Observe(std::move(object), reply.body);
  due_ = false;
  WaitFor(kRenewEvery);
  EnsureCandidate();
}

void Candidacy::Core::RetryLater(const char* what, const api::ApiError& error) {
  if (error.message.starts_with(kNoSuchApi)) {
    log::Error(error.message, what,
               {{"candidate", name_},
                {"cure",
                 "the API server needs --feature-gates=CoordinatedLeaderElection=true and "
                 "--runtime-config=coordination.k8s.io/v1beta1=true"}});
  } else if (error.IsConflict()) {
    log::Info(2, what, {{"candidate", name_}, {"err", error.message}});
  } else {
    log::Error(error.message, what, {{"candidate", name_}});
  }
  waits_ = true;
  WaitFor(backoff_.Next(client_.clock().Now(), random_.Unit()));
}

void Candidacy::Core::WaitFor(Duration delay) {
  if (timer_ != 0) client_.timers().Cancel(timer_);
  timer_ = client_.timers().Schedule(delay, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    MutexLock lock(self->mutex_);
    self->timer_ = 0;
    // Whether after an error or after five minutes: time to write.
    self->waits_ = false;
    self->due_ = true;
    self->EnsureCandidate();
  });
}

// ---- what the server says ----

void Candidacy::Core::Watch() {
  if (watch_ != nullptr) return;
  watch_ = std::make_unique<Reflector<Object>>(
      client_,
      ReflectorOptions{.path = collection_,
                       .field_selector = "metadata.name=" + options_.identity,
                       .type_name = kKind.GoType(),
                       .resource = std::string(kKind.plural),
                       .seed = random_.Next(),
                       .keep_texts = api::KeepTexts::kJson},
      [weak = weak_from_this()](std::vector<api::Delta<Object>> deltas) {
        if (const auto self = weak.lock()) self->Apply(std::move(deltas));
      });
  watch_->Start();
}

void Candidacy::Core::Apply(std::vector<api::Delta<Object>> deltas) {
  using Type = api::Delta<Object>::Type;
  MutexLock lock(mutex_);
  for (auto& delta : deltas) {
    if (delta.type == Type::kReplace) {
      // Gone, or the list of a cache that is behind: a renewal finds out.
      if (delta.items.empty()) due_ = true;
      for (size_t i = 0; i < delta.items.size(); ++i) Observe(delta.items[i], delta.texts[i].text);
    } else if (delta.type == Type::kUpsert) {
      Observe(delta.object, delta.text.text);
    } else if (known_ && !IsOutdated(*delta.object)) {
      known_.reset();
    }
  }
  // News, and a server that can be reached: no reason to wait any longer.
  waits_ = false;
  EnsureCandidate();
}

void Candidacy::Core::Observe(std::shared_ptr<const Object> object, std::string_view text) {
  if (object->meta.name != options_.identity || (known_ && IsOutdated(*object))) return;
  known_ = Known{.object = std::move(object), .text = std::string(text)};
}

bool Candidacy::Core::IsOutdated(const Object& object) const {
  const auto order = api::CompareResourceVersions(object.meta.resource_version,
                                                  known_->object->meta.resource_version);
  return order.ok() && *order < 0;
}

// ---- the public object ----

Candidacy::Candidacy(RestClient& client, CandidacyOptions options)
    : core_(std::make_shared<Core>(client, std::move(options))) {}

Candidacy::~Candidacy() { Stop(); }

void Candidacy::Start() { core_->Start(); }
void Candidacy::Stop() { core_->Stop(); }
void Candidacy::Withdraw(std::function<void()> done) { core_->Withdraw(std::move(done)); }
bool Candidacy::Synced() const { return core_->Synced(); }

}  // namespace ks::client
