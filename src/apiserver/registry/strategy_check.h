// SPDX-License-Identifier: Apache-2.0
#pragma once
// What strategy*.cc share: reading JSON of any form without surprises, collecting causes in
// upstream's words, and the syntax of names. For strategy*.cc only.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// The member, or null if there is none or `object` is no object. Lifetime: that of `object`.
const Json& At(const Json& object, std::string_view key);
std::string TextAt(const Json& object, std::string_view key);  // "" for all but strings
std::optional<int64_t> NumberAt(const Json& object, std::string_view key);
// The elements of a list; empty for all but lists. Lifetime: that of `list`.
const std::vector<Json>& ElementsOf(const Json& list);
// The member for writing; null: `object` is no object, or it has no such member.
Json* Find(Json& object, std::string_view key);
// The member for writing, an empty object if it was absent. Null: either is something else.
Json* FindObject(Json& object, std::string_view key);
// Sets a member that is absent. Nothing happens if `object` is no object.
void SetDefault(Json& object, std::string_view key, Json value);

std::string Path(std::string_view base, size_t index);             // base[3]
std::string Path(std::string_view base, std::string_view name);    // base.name
std::string PathKey(std::string_view base, std::string_view key);  // base[key]

// Causes in order.
class Causes {
 public:
  void Invalid(std::string field, const Json& value, std::string_view why);
  void Required(std::string field, std::string_view why = "");
  void Forbidden(std::string field, std::string_view why);
  void Duplicate(std::string field, const Json& value);
  void NotFound(std::string field, const Json& value, std::string_view why = "");
  void TooLong(std::string field, size_t most_bytes);
  void TooMany(std::string field, size_t items, size_t most);
  // `supported` as upstream lists them.
  void NotSupported(std::string field, const Json& value,
                    std::initializer_list<std::string_view> supported);
  // NotSupported unless the text is one of them.
  void OneOf(std::string field, const std::string& value,
             std::initializer_list<std::string_view> supported);
  // Invalid for each error.
  void All(const std::string& field, const Json& value, const std::vector<std::string>& errors);

  void Add(Cause cause) { list_.push_back(std::move(cause)); }

  bool empty() const { return list_.empty(); }
  std::vector<Cause> Take() { return std::move(list_); }

 private:
  std::vector<Cause> list_;
};

// What is wrong with a name; empty: nothing.
std::vector<std::string> SubdomainErrors(std::string_view name);
std::vector<std::string> LabelErrors(std::string_view name);  // DNS-1123 label
std::vector<std::string> QualifiedNameErrors(std::string_view name);
std::vector<std::string> LabelValueErrors(std::string_view value);

void CheckLabels(const std::string& field, const Json& labels, Causes& causes);
void CheckLabelSelector(const std::string& field, const Json& selector, Causes& causes);
// corev1.NodeSelector.
void CheckNodeSelector(const std::string& field, const Json& selector, Causes& causes);
void CheckNodeSelectorTerm(const std::string& field, const Json& term, Causes& causes);
// A number at `object`.`key` that must not be below zero.
void CheckNotNegative(const std::string& field, const Json& object, std::string_view key,
                      Causes& causes);

}  // namespace ks::apiserver
