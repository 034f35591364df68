// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queries labelSelector and fieldSelector: which objects of a list or watch are wanted. Not for
// selectors inside of objects (api/selector.h).
//
// Upstream: docs/spec/api.md sections 5.1 and 5.4; texts as the real kube-apiserver gives them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// Threads: immutable after construction.
class SelectorQuery {
 public:
  SelectorQuery() = default;
  // Errors: 400 with upstream's texts.
  static Outcome<SelectorQuery> Parse(const KindInfo& kind, std::string_view labels,
                                      std::string_view fields);

  // Requires: an object of the kind that was parsed for.
  bool Matches(const StoredObject& object) const;
  bool MatchesEverything() const { return labels_.empty() && fields_.empty(); }
  // Narrows it to the object of this name.
  void RequireName(std::string_view name);

  // Set: only an object of this name can match.
  const std::optional<std::string>& name() const { return name_; }

 private:
  friend class LabelQueryParser;

  struct LabelTerm {
    enum class Op : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
    std::string key;
    Op op = Op::kExists;
    std::vector<std::string> values{};
    int64_t bound = 0;  // of kGt and kLt
  };
  struct FieldTerm {
    static constexpr int kName = -1;
    static constexpr int kNamespace = -2;
    int field = 0;  // index in the kind's selectable fields, or one of the above
    bool negate = false;
    std::string value;
  };
  static bool Matches(const LabelTerm& term, const StoredObject& object);
  static bool Matches(const FieldTerm& term, const StoredObject& object);
  static Outcome<std::vector<FieldTerm>> ParseFields(const KindInfo& kind, std::string_view text);
  static Outcome<FieldTerm> ParseField(const KindInfo& kind, std::string_view term);

  std::vector<LabelTerm> labels_;
  std::vector<FieldTerm> fields_;
  std::optional<std::string> name_;
};

}  // namespace ks::apiserver
