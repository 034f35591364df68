// SPDX-License-Identifier: Apache-2.0
#include "apiserver/event_forms.h"

namespace ks::apiserver {

void ToCoreEvent(Json&) {}

void ToEventsV1(Json&) {}

void ToCoreEventPatch(Json&) {}

}  // namespace ks::apiserver
