// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an event says of the objects that it is about, in both forms of its body.
//
// Upstream: docs/spec/api.md section 10.2.

#include <string_view>

#include "api/json/encode.h"

namespace ks::api {

// Parts of the object that it is made of.
struct EventReference {
  std::string_view kind;
  std::string_view api_version;
  const ObjectMeta* meta = nullptr;  // null: there is no object
};

EventReference ReferenceTo(const EventRelated& object);

// Namespace of an event. Never empty.
inline std::string_view EventNamespaceOf(const EventRecord& event) {
  return event.ns.empty() ? std::string_view("default") : event.ns.view();
}
inline std::string_view EventTypeOf(const EventRecord& event) {
  return event.warning ? "Warning" : "Normal";
}

}  // namespace ks::api
