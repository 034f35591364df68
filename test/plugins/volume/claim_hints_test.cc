// SPDX-License-Identifier: Apache-2.0
// What the queue relies on for events of claims: a pod that does not use the claim is not asked.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/plugin_rig.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"
#include "testing/storage_builders.h"

namespace ks::plugins {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::HintScope;
using framework::QueueingHint;

TEST(ClaimHintScopeTest, OnlyUsersOfTheClaimCanBeHelped) {
  ks::testing::PodBuilder builder = ks::testing::PodWith({"mine"});
  api::Volume ephemeral;
  ephemeral.name = "own";
  ephemeral.source = api::Volume::Source::kEphemeral;
  builder.spec().volumes.push_back(ephemeral);
  const api::PodPtr pod = builder.Obj();
  for (const framework::PluginFactory& factory :
       {NewVolumeBinding, NewVolumeRestrictions, NewVolumeZone, NewNodeVolumeLimits}) {
    PluginRig rig(factory);
    SCOPED_TRACE(rig.plugin().Name());
    int registered = 0;
    for (const auto& registration : rig.As<framework::EnqueueExtensions>()->EventsToRegister()) {
      if (registration.event.resource != EventResource::kPersistentVolumeClaim) continue;
      ++registered;
      EXPECT_EQ(registration.scope, HintScope::kClaims);
      const auto hint = [&](const std::string& name, const Symbol& ns) {
        const auto claim = ks::testing::Claim(name);
        claim->meta.ns = ns;
        const EventObject added = api::PersistentVolumeClaimPtr(claim);
        return registration.hint(*pod, {}, added).value();
      };
      EXPECT_EQ(hint("mine", pod->meta.ns), QueueingHint::kQueue);
      for (const char* name : {"other", "own", "p", "p-mine", "v-mine", "p-own-"}) {
        EXPECT_EQ(hint(name, pod->meta.ns), QueueingHint::kSkip) << name;
      }
      for (const char* name : {"mine", "p-own"}) {
        EXPECT_EQ(hint(name, Symbol("other")), QueueingHint::kSkip) << name;
      }
    }
    EXPECT_EQ(registered, 1);
  }
}

}  // namespace
}  // namespace ks::plugins
