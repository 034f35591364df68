// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events are one set of objects with two forms: core/v1 (stored) and events.k8s.io/v1.

#include "apiserver/store/object.h"

namespace ks::apiserver {

// apiVersion, kind and the fields that have other names: regarding and involvedObject, note and
// message, deprecatedSource and source, deprecatedFirstTimestamp and firstTimestamp …
void ToCoreEvent(Json& event);
void ToEventsV1(Json& event);
// For patches: the same renaming of what is there; nothing is added.
void ToCoreEventPatch(Json& patch);

}  // namespace ks::apiserver
