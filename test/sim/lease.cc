// SPDX-License-Identifier: Apache-2.0
#include "sim/lease.h"

namespace ks::sim {

void Candidate::Again() {
  const TimePoint next = process_->clock().Now() + kRetryPeriod;
  world_.loop.At(process_->clock().TrueTime(next),
                 [self = shared_from_this()] { self->process_->Run([self] { self->Try(); }); });
}

void Candidate::Try() {
  const TimePoint now = process_->clock().Now();
  if (process_->leading() && renewed_ != TimePoint{} && now - renewed_ > kRenewDeadline) {
    world_.trace.Line(world_.loop.Now(), process_->name(), "lost the lease");
    world_.loop.After({}, lost_);
    return;
  }
  process_->transport().OneWay([self = shared_from_this(), now] { self->AtServer(now); });
  Again();
}

// Runs at the server when the request has arrived.
void Candidate::AtServer(TimePoint asked) {
  if (!world_.api.up() || process_->dead()) return;
  const TimePoint own = process_->clock().Now();
  if (lease_.holder != observed_holder_ || lease_.renewals != observed_renewals_) {
    observed_holder_ = lease_.holder;
    observed_renewals_ = lease_.renewals;
    observed_at_ = own;
  }
  const bool mine = lease_.holder == process_->name();
  const bool free = lease_.holder.empty() || own - observed_at_ > kLeaseDuration;
  if (!mine && !free) return;
  if (!mine) world_.trace.Line(world_.loop.Now(), process_->name(), "takes the lease");
  lease_.holder = process_->name();
  ++lease_.renewals;
  process_->transport().OneWay([self = shared_from_this(), asked] {
    self->process_->Run([self, asked] {
      self->renewed_ = asked;
      self->process_->Lead();
    });
  });
}

}  // namespace ks::sim
