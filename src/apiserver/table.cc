// SPDX-License-Identifier: Apache-2.0
#include "apiserver/table.h"

namespace ks::apiserver {

bool WantsTable(const KindInfo&, std::string_view) { return false; }

Json TableHead(const KindInfo&, bool) { return {}; }

Json TableRow(const KindInfo&, const Json&, std::string_view, TimePoint) { return {}; }

}  // namespace ks::apiserver
