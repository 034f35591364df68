// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an API server sends of one object, in both forms, and whether they read alike.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::fuzz {

// The same in JSON and in protobuf.
struct Forms {
  std::string json{};
  std::string protobuf{};
};

// Of one object: itself, a list that has it twice, a watch event of it.
struct Answer {
  std::string refused{};  // not empty: why there is no such answer
  Forms object{};
  Forms list{};
  Forms event{};
};

// A target: a kind of api/kinds.h. Each returns "" or what is wrong. A form that is refused must be
// refused in the other form, too. Threads: one at a time.
struct FormsTarget {
  std::string_view kind;
  std::string (*object)(const Forms& forms);
  std::string (*list)(const Forms& forms);
  std::string (*event)(const Forms& forms);

  // All three; the first that is wrong, with its name before it.
  std::string Check(const Answer& answer) const;
};

std::span<const FormsTarget> FormsTargets();

}  // namespace ks::fuzz
