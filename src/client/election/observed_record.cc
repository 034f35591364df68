// SPDX-License-Identifier: Apache-2.0
#include "client/election/observed_record.h"

#include <utility>

namespace ks::client {

void ObservedRecord::Observe(LeaseObject lease, TimePoint now) {
  const bool changed = !lease_.exists() || lease.spec() != lease_.spec();
  lease_ = std::move(lease);
  if (!changed) return;
  record_ = lease_.record();
  observed_ = now;
}

bool ObservedRecord::ObserveWrite(std::string_view answer, const LeaseRecord& written,
                                  TimePoint sent) {
  Result<LeaseObject> read = LeaseObject::Parse(answer);
  if (!read.ok()) return false;
  lease_ = std::move(read).value();
  record_ = written;
  observed_ = sent;
  return true;
}

void ObservedRecord::Clear() {
  lease_ = LeaseObject();
  record_ = LeaseRecord();
}

LeaseRecord ObservedRecord::NextRecord(const std::string& identity, std::chrono::seconds duration,
                                       TimePoint wall_now) const {
  const std::string now = FormatMicroTime(wall_now);
  LeaseRecord record{.holder = identity,
                     .duration_seconds = duration.count(),
                     .acquire_time = now,
                     .renew_time = now,
                     .transitions = record_.transitions};
  if (!lease_.exists()) return record;
  if (IsHeldBy(identity)) {
    record.acquire_time = record_.acquire_time;
  } else {
    ++record.transitions;
  }
  return record;
}

bool ObservedRecord::PrefersAnotherThan(const std::string& identity) const {
  const std::string& preferred = lease_.record().preferred_holder;
  return !preferred.empty() && preferred != identity && preferred != tolerated_;
}

}  // namespace ks::client
