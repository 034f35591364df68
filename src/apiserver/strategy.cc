// SPDX-License-Identifier: Apache-2.0
#include "apiserver/strategy.h"

namespace ks::apiserver {

void SetDefaults(const KindInfo&, Json&) {}

std::optional<Failure> Admit(const KindInfo&, const Registry&, Json&) { return {}; }

std::vector<Cause> CheckNew(const KindInfo&, const Json&) { return {}; }

std::vector<Cause> CheckUpdate(const KindInfo&, const Json&, const Json&, Part) { return {}; }

}  // namespace ks::apiserver
