// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/claim_binding.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/taken_devices.h"
#include "base/generated_name.h"
#include "framework/metrics/device_metrics.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/claim_calls.h"
#include "plugins/dynamic_resources/condition_wait.h"
#include "plugins/dynamic_resources/group_claims.h"

namespace ks::plugins {
namespace {

using framework::DeviceState;
using framework::ObjectChange;
using framework::PreBindStep;
using framework::Status;

constexpr int kMaxTries = 5;
constexpr Duration kBetweenTries = std::chrono::milliseconds(10);
constexpr Duration kUntilShown = std::chrono::seconds(120);
// After that long a member looks whether a sibling has given up.
constexpr Duration kTurn = std::chrono::milliseconds(100);

PreBindStep Finished(Status status = {}) {
  PreBindStep step;
  step.finished = true;
  step.status = std::move(status);
  return step;
}

bool HasFinalizer(const api::ResourceClaim& claim) {
  return std::find(claim.finalizers.begin(), claim.finalizers.end(), api::kClaimDeleteProtection) !=
         claim.finalizers.end();
}

// Of a UUID, which is random. Names do not come from the scheduler's own source: what that gives to
// later decisions must not hang on the API server's answers.
uint64_t SeedOf(std::string_view uuid) {
  uint64_t seed = 0;
  std::from_chars(uuid.data(), uuid.data() + std::min<size_t>(uuid.size(), 8), seed, 16);
  return seed;
}

class ClaimBinding final : public framework::PreBindSequence {
 public:
  ClaimBinding(framework::Handle& handle, ClaimBindingWork work)
      : handle_(handle), work_(std::move(work)) {}

  PreBindStep Next(const Status& previous) override {
    is_writing_ = false;
    if (!previous.ok()) return Finished(previous);
    return (this->*after_)();
  }
  // Another plugin may have failed. What is being written is taken back once it is answered.
  void Cancel(std::string_view) override {
    turn_.reset();
    if (is_writing_) current().unread = answer_;
  }

 private:
  using Step = PreBindStep (ClaimBinding::*)();

  std::vector<AttemptClaim>& claims() { return work_.attempt.claims(); }
  AttemptClaim& current() { return claims()[index_]; }
  std::string Named(const api::ResourceClaim& claim) const {
    return claim.meta.ns.str() + '/' + claim.meta.name;
  }

  PreBindStep Send(api::ClaimRequest request, Step after) {
    after_ = after;
    is_writing_ = true;
    return ClaimStep(std::move(request), answer_);
  }

  // The next claim that the pod has yet to reserve.
  PreBindStep NextClaim() {
    turn_.reset();
    for (; index_ < claims().size(); ++index_) {
      AttemptClaim& claim = current();
      if (claim.extended && claim.decided == nullptr && claim.claim->requests.empty()) continue;
      if (IsBeingReleased()) return AwaitRelease();
      relied_on_ = claim.claim->allocation;
      LookAtLatest(claim);
      if (HasOtherDevices(*claim.claim)) return AllocatedElsewhere(*claim.claim);
      if (IsReserved(*claim.claim) && !IsUnsure()) {
        if (IsGone(claim)) return DeletedMeanwhile(*claim.claim);
        continue;
      }
      tries_ = 0;
      if (!claim.exists) return Create();
      if (work_.has_siblings) {
        if (work_.turns->Taken(claim.claim->meta.uid)) return AwaitTurn();
        turn_.emplace(work_.turns, claim.claim->meta.uid);
      }
      written_ = claim.claim;
      return Try();
    }
    return WritePodStatus();
  }

  // Another member of the group is writing it.
  PreBindStep AwaitTurn() {
    PreBindStep step;
    step.condition = [this]() -> std::optional<Status> {
      if (work_.turns->Taken(current().claim->meta.uid)) return std::nullopt;
      return Status();
    };
    step.concerned_by = [this] {
      return std::vector<ObjectChange>{
          {framework::OptionalKind::kResourceClaim, current().claim->meta.Key()}};
    };
    step.deadline = handle_.clock().Now() + kTurn;
    after_ = &ClaimBinding::NextClaim;
    return step;
  }

  const api::PodGroupPtr& group() const { return work_.attempt.group(); }
  // For the pod, or for its whole group.
  bool IsReserved(const api::ResourceClaim& claim) const {
    return claim.IsReservedFor(work_.pod->meta.uid) ||
           (group() != nullptr && IsReservedForGroup(claim, *group()));
  }
  // An earlier attempt of the pod, or of its group, takes the reservation back.
  bool IsBeingReleased() { return AnyReservation(&PendingReleases::Contains); }
  // It tried to, and the answer was an error.
  bool IsUnsure() { return AnyReservation(&PendingReleases::IsUnsure); }
  // Of the current claim's, the pod's or its group's.
  bool AnyReservation(bool (PendingReleases::*is)(const PendingReleases::Key& key) const) {
    const std::vector<PendingReleases::Key> keys = Reservations();
    return std::any_of(keys.begin(), keys.end(),
                       [&](const auto& key) { return ((*work_.releases).*is)(key); });
  }
  std::vector<PendingReleases::Key> Reservations() {
    const std::string& claim = current().claim->meta.uid;
    std::vector<PendingReleases::Key> keys{{claim, work_.pod->meta.uid}};
    if (group() != nullptr) keys.emplace_back(claim, group()->meta.uid);
    return keys;
  }
  PreBindStep AwaitRelease() {
    PreBindStep step;
    step.condition = [this]() -> std::optional<Status> {
      if (IsBeingReleased()) return std::nullopt;
      return Status();
    };
    step.concerned_by = [] { return std::vector<ObjectChange>(); };
    step.deadline = handle_.clock().Now() + kBetweenTries;
    after_ = &ClaimBinding::NextClaim;
    return step;
  }
  // Null: it is gone, or another one of its name is there.
  api::ResourceClaimPtr Latest(const AttemptClaim& claim) const {
    api::ResourceClaimPtr latest = handle_.devices().FindClaim(claim.claim->meta.Key());
    return latest == nullptr || latest->meta.uid != claim.claim->meta.uid ? nullptr : latest;
  }
  // What PreFilter saw may be older than the end of that, or than what a sibling wrote.
  void LookAtLatest(AttemptClaim& claim) {
    if (!claim.exists) return;
    const api::ResourceClaimPtr latest = Latest(claim);
    if (latest == nullptr) return;
    if (claim.decided == nullptr || IsAllocatedBySibling(*latest)) claim.claim = latest;
  }
  // It looks reserved, but an earlier attempt took the reservation back, so that it could go.
  bool IsGone(const AttemptClaim& claim) {
    return !claim.extended && Latest(claim) == nullptr;  // extended ones are not looked up
  }
  bool IsAllocatedBySibling(const api::ResourceClaim& claim) {
    return work_.has_siblings && current().decided != nullptr && claim.allocation != nullptr &&
           api::TakeSameDevices(*current().decided, *claim.allocation);
  }

  // Somebody has taken those away that the attempt counted on, and given it others, which the node
  // may not reach.
  bool HasOtherDevices(const api::ResourceClaim& now) {
    return current().decided == nullptr && relied_on_ != nullptr && now.allocation != nullptr &&
           !api::TakeSameDevices(*relied_on_, *now.allocation);
  }
  PreBindStep AllocatedElsewhere(const api::ResourceClaim& claim) {
    return Failed("claim " + Named(claim) + " got allocated elsewhere in the meantime",
                  Text::kWhole);
  }

  PreBindStep DeletedMeanwhile(const api::ResourceClaim& claim) {
    return Failed("claim " + Named(claim) + " got deleted in the meantime", Text::kWhole);
  }

  // The name is chosen here, as the API server would: the request may be repeated, and then meets
  // what it did.
  PreBindStep Create() {
    if (!names_) names_.emplace(SeedOf(current().claim->meta.uid));
    const std::string prefix = work_.pod->meta.name + "-extended-resources-";
    auto claim = std::make_shared<api::ResourceClaim>(*current().claim);
    claim->meta.name = GeneratedName(prefix, *names_);
    claim->requests = work_.attempt.chosen_extended()->requests;
    written_ = std::move(claim);
    return Send(api::CreateExtendedClaimRequest(*written_, prefix), &ClaimBinding::Created);
  }

  PreBindStep Created() {
    if (answer_->error && answer_->error->IsAlreadyExists()) {
      PreBindStep step = Send(api::GetClaimRequest(*written_), &ClaimBinding::FoundInstead);
      is_writing_ = false;
      return step;
    }
    CountCreation(!answer_->error);
    return answer_->error ? CreationFailed() : TakeCreated();
  }

  // By an earlier sending of the request, or by somebody else.
  PreBindStep FoundInstead() {
    const api::ResourceClaimPtr& found = answer_->claim;
    const bool is_mine = found != nullptr && found->meta.Controller() != nullptr &&
                         found->meta.Controller()->uid == work_.pod->meta.uid;
    CountCreation(is_mine);
    if (is_mine) return TakeCreated();
    const bool is_gone = answer_->error && answer_->error->IsNotFound();
    if (answer_->error && !is_gone) return CreationFailed();
    if (++tries_ < kMaxTries) return Create();
    return Failed(CreationName() + "no unique name was found", Text::kWhole);
  }

  void CountCreation(bool done) {
    if (auto* metrics = handle_.device_metrics()) metrics->CountClaimCreate(done);
  }
  PreBindStep CreationFailed() { return Failed(CreationName()); }
  std::string CreationName() {
    return "create claim for extended resources " + current().claim->meta.ns.str() + "/: ";
  }

  PreBindStep TakeCreated() {
    AttemptClaim& claim = current();
    tries_ = 0;
    claim.claim = answer_->claim;
    claim.exists = true;
    KeepUnderItsUid(claim);
    written_ = claim.claim;
    return Try();
  }

  // The devices stay taken while the claim gets its real name.
  void KeepUnderItsUid(AttemptClaim& claim) {
    auto decided = std::make_shared<api::ResourceClaim>(*claim.claim);
    decided->allocation = claim.decided;
    DeviceState& devices = handle_.devices();
    devices.RemovePendingAllocation(claim.decided_uid, DeviceState::Sharers::kOne);
    claim.decided_uid = decided->meta.uid;
    // It cannot fail: such claims are not looked up.
    (void)devices.AddPendingAllocation(decided, DeviceState::ClaimOrigin::kInMemory);
  }

  PreBindStep Try() {
    const AttemptClaim& claim = current();
    if (written_->meta.deletion_timestamp || written_->meta.uid != claim.claim->meta.uid) {
      return DeletedMeanwhile(*written_);
    }
    if (HasOtherDevices(*written_)) return AllocatedElsewhere(*written_);
    if (claim.decided == nullptr) return Reserve();
    if (IsAllocatedBySibling(*written_)) return Reserve();
    if (written_->allocation != nullptr) return AllocatedElsewhere(*written_);
    if (HasFinalizer(*written_)) return Reserve();
    return Send(api::AddFinalizerRequest(*written_), &ClaimBinding::Protected);
  }

  PreBindStep Protected() {
    if (answer_->conflict()) return TryLater();
    if (answer_->error) return Failed("add finalizer to claim " + Named(*written_) + ": ");
    written_ = answer_->claim;
    return Reserve();
  }

  PreBindStep Reserve() {
    api::ClaimBinding binding{.allocation = Allocates() ? current().decided : nullptr,
                              .consumer = Consumer()};
    if (work_.conditions) {
      const api::ClaimAllocationPtr& known =
          Allocates() ? binding.allocation : written_->allocation;
      if (known == nullptr) {
        return Failed("claim " + Named(*written_) + " got deallocated elsewhere in the meantime",
                      Text::kWhole);
      }
      if (!known->timestamp) binding.allocated_at = handle_.clock().WallNow();
    }
    return Send(api::BindClaimRequest(*written_, binding), &ClaimBinding::Reserved);
  }

  // The write gives the claim its devices.
  bool Allocates() { return current().decided != nullptr && written_->allocation == nullptr; }
  api::ClaimConsumer Consumer() {
    return current().for_group ? ConsumerOf(*group()) : ConsumerOf(*work_.pod);
  }

  PreBindStep Reserved() {
    AttemptClaim& claim = current();
    if (answer_->conflict()) {
      // Maybe with what the same request did before its answer was lost.
      claim.uncertain = Allocates();
      return TryLater();
    }
    if (answer_->error) {
      claim.uncertain = Allocates() && MayBeDone(*answer_->error);
      return Failed(ReserveName() + Named(*written_) + ": ");
    }
    claim.claim = answer_->claim;
    for (const PendingReleases::Key& key : Reservations()) work_.releases->Settle(key);
    if (claim.extended) return AwaitShown();
    // A claim that is gone meanwhile is none of the pod's concern here.
    (void)handle_.devices().Assume(claim.claim);
    ++index_;
    return NextClaim();
  }

  PreBindStep TryLater() {
    if (++tries_ >= kMaxTries) return Failed(WriteName() + Named(*written_) + ": ");
    PreBindStep step;
    step.condition = [this]() -> std::optional<Status> {
      if (handle_.clock().Now() < next_try_) return std::nullopt;
      return Status();
    };
    next_try_ = handle_.clock().Now() + kBetweenTries;
    step.concerned_by = [] { return std::vector<ObjectChange>(); };
    step.deadline = next_try_;
    after_ = &ClaimBinding::Read;
    return step;
  }

  PreBindStep Read() { return Send(api::GetClaimRequest(*written_), &ClaimBinding::ReadAgain); }

  PreBindStep ReadAgain() {
    if (answer_->error) {
      return Failed("get updated claim " + Named(*written_) + " after conflict: ");
    }
    written_ = answer_->claim;
    current().uncertain = false;
    if (DoneAlready(*written_)) {
      return Reserved();
    }
    return Try();
  }

  // A write that was repeated, because its answer was lost, meets what it did itself. That of an
  // earlier attempt, which may have chosen another node, is none of it.
  bool DoneAlready(const api::ResourceClaim& claim) const {
    const AttemptClaim& mine = work_.attempt.claims()[index_];
    return claim.meta.uid == mine.claim->meta.uid && mine.decided != nullptr &&
           claim.allocation != nullptr && IsReserved(claim) &&
           api::TakeSameDevices(*mine.decided, *claim.allocation);
  }

  // Later pods of the claim's resources find it in the cache.
  PreBindStep AwaitShown() {
    PreBindStep step;
    step.condition = [this]() -> std::optional<Status> {
      if (handle_.devices().Assume(current().claim).ok()) return Status();
      if (handle_.clock().Now() < shown_by_) return std::nullopt;
      return Status();
    };
    shown_by_ = handle_.clock().Now() + kUntilShown;
    step.concerned_by = [this] {
      return std::vector<ObjectChange>{
          {framework::OptionalKind::kResourceClaim, current().claim->meta.Key()}};
    };
    step.deadline = shown_by_;
    after_ = &ClaimBinding::Shown;
    return step;
  }

  PreBindStep Shown() {
    ++index_;
    return NextClaim();
  }

  PreBindStep WritePodStatus() {
    const bool extended =
        !claims().empty() && claims().back().extended && claims().back().decided != nullptr;
    if (!extended) return AwaitDevices();
    after_ = &ClaimBinding::PodStatusWritten;
    api::PodStatusChange change;
    change.extended_resource_claim = {.claim_name = claims().back().claim->meta.name,
                                      .mappings = work_.attempt.chosen_extended()->mappings};
    PreBindStep step;
    step.calls.push_back([pod = work_.pod, change = std::move(change), answer = answer_](
                             framework::ApiWriter& api, framework::ApiWriter::Done done) {
      api.PatchPodStatus(pod, change,
                         [answer, done = std::move(done)](std::optional<api::ApiError> error) {
                           *answer = {.error = std::move(error), .claim = nullptr};
                           done(std::nullopt);
                         });
    });
    return step;
  }

  PreBindStep PodStatusWritten() {
    if (answer_->error) {
      return Failed("update pod " + work_.pod->meta.Key() + " ExtendedResourceClaimStatus: ");
    }
    return AwaitDevices();
  }

  PreBindStep AwaitDevices() {
    if (!work_.conditions) return Bound();
    std::vector<api::ResourceClaimPtr> all;
    for (const AttemptClaim& each : claims()) {
      if (each.exists) all.push_back(each.claim);
    }
    wait_.emplace(handle_, std::move(all), work_.binding_timeout);
    if (!wait_->needed()) return Bound();
    handle_.api().RecordEvent(
        {.regarding = work_.pod,
         .related = {},
         .reporting_controller = handle_.ProfileName(),
         .reason = "BindingConditionsPending",
         .action = "Scheduling",
         .note = "waiting for binding conditions for device on node " + work_.node_name,
         .warning = false});
    after_ = &ClaimBinding::DevicesReady;
    return wait_->Step();
  }

  PreBindStep DevicesReady() {
    if (!wait_->over()) return wait_->Step();
    if (!wait_->failure().empty()) return Finished(Status::Error(wait_->failure()));
    return Bound();
  }

  // The claims hold their devices themselves now.
  PreBindStep Bound() {
    for (const AttemptClaim& claim : claims()) {
      if (claim.decided == nullptr) continue;
      handle_.devices().SettlePendingAllocation(claim.decided_uid);
    }
    return Finished();
  }

  std::string WriteName() {
    return after_ == &ClaimBinding::Protected ? "add finalizer to claim " : ReserveName();
  }
  std::string ReserveName() {
    return Allocates() ? "add allocation and reservation to claim " : "add reservation to claim ";
  }

  enum class Text : uint8_t { kWhole, kBeforeError };
  PreBindStep Failed(std::string text, Text part = Text::kBeforeError) {
    turn_.reset();
    if (part == Text::kBeforeError) text += answer_->ErrorText();
    return Finished(Status::Error(std::move(text)));
  }

  framework::Handle& handle_;
  const ClaimBindingWork work_;
  const std::shared_ptr<ClaimAnswer> answer_ = std::make_shared<ClaimAnswer>();
  Step after_ = &ClaimBinding::NextClaim;
  size_t index_ = 0;                   // of the claim
  api::ClaimAllocationPtr relied_on_;  // of the claim, as the attempt found it
  api::ResourceClaimPtr written_;      // its version that is written next
  bool is_writing_ = false;            // or reading it; answer_ comes
  int tries_ = 0;
  TimePoint next_try_;
  TimePoint shown_by_;
  std::optional<Random> names_;    // for the claim that is created
  std::optional<ClaimTurn> turn_;  // with siblings: while written_ is
  std::optional<ConditionWait> wait_;
};

}  // namespace

std::unique_ptr<framework::PreBindSequence> NewClaimBinding(framework::Handle& handle,
                                                            ClaimBindingWork work) {
  return std::make_unique<ClaimBinding>(handle, std::move(work));
}

}  // namespace ks::plugins
