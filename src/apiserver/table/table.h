// SPDX-License-Identifier: Apache-2.0
#pragma once
// Server-side printing: objects as rows of a meta.k8s.io/v1 Table, for `kubectl get`.

#include <string>
#include <string_view>

#include "apiserver/store/kinds.h"
#include "apiserver/store/object.h"
#include "base/clock.h"

namespace ks::apiserver {

// True: the client asked for a Table first and this kind has columns (pods, nodes and a few more).
bool WantsTable(const KindInfo& kind, std::string_view accept);

// {"kind":"Table",…,"columnDefinitions":[…] — everything before the rows; `first` false leaves the
// definitions out (later events of a watch).
Json TableHead(const KindInfo& kind, bool first);
// One element of "rows". `include`: the query's includeObject ("None", "Metadata", "Object"; "" is
// "Metadata").
Json TableRow(const KindInfo& kind, const Json& object, std::string_view include, TimePoint now);

}  // namespace ks::apiserver
