// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events written by the controllers inside of the server, in the form of upstream's legacy
// recorder. No correlation: a controller says a thing once.
//
// Upstream: docs/spec/api.md section 10.5.

#include <string>

#include "apiserver/registry/registry.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

struct ControllerEvent {
  std::string component{};  // "persistentvolume-controller"
  std::string type = "Normal";
  std::string reason{};
  std::string message{};
};

// About `object`. A refused event is lost, as upstream's are.
void RecordEvent(Registry& registry, const StoredObject& object, const ControllerEvent& event);

}  // namespace ks::apiserver
