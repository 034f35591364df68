// SPDX-License-Identifier: Apache-2.0
#pragma once
// BindingCheck: whether the claims of a pod that is being bound have become bound, as the API
// server shows it.
//
// Upstream: docs/spec/plugins-volume.md section 2.10 (the table of step 2).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/handle.h"
#include "plugins/volume_binding/reservation.h"

namespace ks::plugins {

// Threads: the scheduling thread. Lifetime: `handle` outlives it.
class BindingCheck {
 public:
  // Requires: everything of the reservation is written.
  BindingCheck(framework::Handle& handle, std::shared_ptr<const Reservation> reservation,
               api::PodPtr pod);

  // Absent: not yet. Empty: everything is bound. Else: why it never will be.
  std::optional<std::string> Ask();
  // The storage objects that the last answer depends on.
  std::vector<framework::ObjectChange> Objects() const;

 private:
  std::optional<std::string> AskBinding(const StaticBinding& binding, const api::Node& node) const;
  std::optional<std::string> AskClaim(const api::PersistentVolumeClaim& claim,
                                      const api::Node& node);
  // Why the volume cannot be used on the node; empty: it can.
  std::string Misplaced(const api::PersistentVolume& volume, const api::Node& node,
                        std::string_view translation_prefix) const;

  framework::Handle& handle_;
  const std::shared_ptr<const Reservation> reservation_;
  const api::PodPtr pod_;
  const std::string pod_key_;
  std::string awaited_volume_;  // a provisioned claim names it, but it is not known yet
};

}  // namespace ks::plugins
