// SPDX-License-Identifier: Apache-2.0
#pragma once
// The continue tokens of lists: where the next page begins and of which version. They have
// upstream's form, so that what clients keep of them means the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"
#include "apiserver/store/store.h"

namespace ks::apiserver {

struct ListToken {
  int64_t version = 0;  // -1: the current state
  std::string start{};  // "<namespace>/<name>" or "<name>", the first key not yet given
};

std::string EncodeListToken(const ListToken& token);
// Error: 400 with upstream's text.
Outcome<ListToken> DecodeListToken(std::string_view text);

// The start of what follows `last`: the smallest key behind it.
std::string StartAfter(const KindInfo& kind, const StoredObject& last);
Store::Key KeyOfStart(const KindInfo& kind, std::string_view start);

}  // namespace ks::apiserver
