// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/device_drivers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "apiserver/store/log_cursor.h"

namespace ks::apiserver {
namespace {

// What one Step does at most, so that requests are served in between.
constexpr size_t kWorkPerStep = 32;

class DeviceDrivers final : public Controller {
 public:
  DeviceDrivers(Service& service, DeviceDriverOptions options)
      : registry_(service.registry()),
        store_(service.store()),
        clock_(service.clock()),
        options_(std::move(options)) {}

  void Step() override {
    Read();
    for (size_t done = 0; done < kWorkPerStep && DoOne(); ++done) Read();
  }
  std::optional<TimePoint> NextDue() const override {
    const bool unread = node_log_.Unread() || slice_log_.Unread() || claim_log_.Unread();
    if (unread || !dirty_nodes_.empty()) return clock_.Now();
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }

 private:
  using ClaimKey = std::pair<std::string, std::string>;  // namespace, name

  void Read();
  void Rebuild();
  void ReadSlice(const Change& change);
  void ReadClaim(const StoredObject& claim);
  void MakeClasses();

  bool DoOne();
  void SyncNode(const std::string& name);
  void SetReady(const ClaimKey& key);

  bool Lacks(const Json& claim) const {
    return std::any_of(options_.kinds.begin(), options_.kinds.end(), [&](const DeviceKind& kind) {
      return kind.binding && LacksConditions(kind, claim);
    });
  }

  const KindInfo& node_kind_ = *FindResource("", "v1", "nodes");
  const KindInfo& class_kind_ = *FindResource("resource.k8s.io", "v1", "deviceclasses");
  const KindInfo& slice_kind_ = *FindResource("resource.k8s.io", "v1", "resourceslices");
  const KindInfo& claim_kind_ = *FindResource("resource.k8s.io", "v1", "resourceclaims");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  const DeviceDriverOptions options_;
  LogCursor node_log_{store_, node_kind_};
  LogCursor slice_log_{store_, slice_kind_};
  LogCursor claim_log_{store_, claim_kind_};

  bool has_classes_ = false;
  std::set<std::string> dirty_nodes_;             // whose slices are to be looked at
  std::set<std::pair<TimePoint, ClaimKey>> due_;  // when conditions are set
  std::set<ClaimKey> armed_;                      // claims in due_
};

void DeviceDrivers::Read() {
  if (node_log_.Lost() || slice_log_.Lost() || claim_log_.Lost()) return Rebuild();
  while (const Change* change = node_log_.Next()) {
    if (change->type != Change::Type::kModified) dirty_nodes_.insert(change->object->name);
  }
  while (const Change* change = slice_log_.Next()) ReadSlice(*change);
  while (const Change* change = claim_log_.Next()) {
    if (change->type != Change::Type::kDeleted) ReadClaim(*change->object);
  }
}

void DeviceDrivers::Rebuild() {
  for (LogCursor* log : {&node_log_, &slice_log_, &claim_log_}) log->Restart();
  for (const auto& [key, node] : store_.objects(node_kind_)) dirty_nodes_.insert(node->name);
  for (const auto& [key, slice] : store_.objects(slice_kind_)) {
    dirty_nodes_.insert(slice->fields[0]);  // spec.nodeName
  }
  for (const auto& [key, claim] : store_.objects(claim_kind_)) ReadClaim(*claim);
}

// A driver publishes anew what somebody deleted.
void DeviceDrivers::ReadSlice(const Change& change) {
  if (change.type == Change::Type::kDeleted) dirty_nodes_.insert(change.object->fields[0]);
}

void DeviceDrivers::ReadClaim(const StoredObject& claim) {
  const ClaimKey key(claim.ns, claim.name);
  if (armed_.contains(key)) return;
  if (claim.text.find(R"("bindingConditions":[)") == std::string::npos) return;
  if (!Lacks(claim.Parse())) return;
  armed_.insert(key);
  due_.insert({clock_.Now() + options_.ready_delay, key});
}

void DeviceDrivers::MakeClasses() {
  has_classes_ = true;
  for (const DeviceKind& kind : options_.kinds) {
    if (store_.Find(class_kind_, "", kind.name) != nullptr) continue;
    [[maybe_unused]] const auto made = registry_.Create(class_kind_, "", DeviceClassOf(kind));
  }
}

bool DeviceDrivers::DoOne() {
  if (!has_classes_) {
    MakeClasses();
    return true;
  }
  if (!dirty_nodes_.empty()) {
    SyncNode(dirty_nodes_.extract(dirty_nodes_.begin()).value());
    return true;
  }
  if (due_.empty() || due_.begin()->first > clock_.Now()) return false;
  const ClaimKey key = due_.extract(due_.begin()).value().second;
  armed_.erase(key);
  SetReady(key);
  return true;
}

void DeviceDrivers::SyncNode(const std::string& name) {
  const ObjectPtr node = store_.Find(node_kind_, "", name);
  for (const DeviceKind& kind : options_.kinds) {
    const std::string slice = DeviceSliceName(kind, name);
    const bool there = store_.Find(slice_kind_, "", slice) != nullptr;
    if (node != nullptr && !there) {
      [[maybe_unused]] const auto made =
          registry_.Create(slice_kind_, "", DeviceSliceOf(kind, *node));
    } else if (node == nullptr && there) {
      [[maybe_unused]] const auto deleted = registry_.Delete(slice_kind_, "", slice, {});
    }
  }
}

void DeviceDrivers::SetReady(const ClaimKey& key) {
  const ObjectPtr found = store_.Find(claim_kind_, key.first, key.second);
  if (found == nullptr || !Lacks(found->Parse())) return;
  registry_.OverwriteIfThere(claim_kind_, key.first, key.second, [this](Json& claim) {
    for (const DeviceKind& kind : options_.kinds) {
      if (kind.binding && LacksConditions(kind, claim)) {
        SetConditions(kind, registry_.Now(), claim);
      }
    }
  });
}

}  // namespace

std::unique_ptr<Controller> NewDeviceDrivers(Service& service, DeviceDriverOptions options) {
  return std::make_unique<DeviceDrivers>(service, std::move(options));
}

}  // namespace ks::apiserver
