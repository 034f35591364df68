// SPDX-License-Identifier: Apache-2.0
// Strategic merge patch. Its rules are upstream's behavior, found by asking it
// (test/apiserver/patch_test.cc has the cases):
//   - a map is merged member by member, null removes; `$patch: replace` takes the patch instead of
//     the map, `$patch: delete` empties it, others are refused; `$retainKeys` names the members
//     that stay
//   - a list is replaced, unless the schema merges it: by a merge key, or as a set of scalars
//   - the order of a merged list: elements the patch names (in its $setElementOrder, else in its
//     list) stand in that order; the others keep theirs, and go before a patch element only where
//     they did so before
#include <algorithm>
#include <utility>
#include <vector>

#include "apiserver/body/patch_forms.h"

namespace ks::apiserver {
namespace {

using Kind = SchemaField::Kind;
using Shape = SchemaField::Shape;

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";

bool IsDirective(std::string_view key) {
  return key == kDirective || key == kRetainKeys || key.starts_with(kSetElementOrder) ||
         key.starts_with(kDeleteFromList);
}

// Upstream answers these with a bare 500.
Failure Refused(std::string message) {
  return {.code = 500, .reason = "", .message = std::move(message)};
}

class Merger {
 public:
  explicit Merger(const Json& whole) : whole_(whole) {}

  // `type` is null for maps of strings and the like. False: see failure().
  bool MergeMap(const SchemaType* type, Json& original, const Json& patch);
  const Failure& failure() const { return *failure_; }

 private:
  bool MergeMember(const SchemaType* type, const std::string& key, const Json& value,
                   Json& original);
  bool MergeList(const SchemaField& field, Json& original, const Json& patch);
  bool ApplySpecialElements(const SchemaField& field, Json& original, const Json& patch,
                            Json* plain, bool* replaced);
  bool MergeObjects(const SchemaField& field, Json& original, const Json& patch);
  bool SetOrder(const SchemaType* type, const std::string& field_name, const Json& order,
                const Json& patch, Json& original);
  bool CheckKeys(const SchemaField& field, const Json& patch);
  bool RetainKeys(const Json& patch, Json& original);
  bool Fail(Failure failure);
  bool Check(const SchemaField& field, const Json& value);

  const Json& whole_;
  std::optional<Failure> failure_;
};

bool Merger::Fail(Failure failure) {
  failure_ = std::move(failure);
  return false;
}

// What identifies an element: its merge key, or itself.
Json IdentityOf(const SchemaField& field, const Json& element) {
  if (field.merge_key.empty() || !element.is_object()) return element;
  const auto it = element.find(field.merge_key);
  return it == element.end() ? Json() : *it;
}

std::vector<Json> IdentitiesOf(const SchemaField& field, const Json& list) {
  std::vector<Json> identities;
  for (const Json& element : list) identities.push_back(IdentityOf(field, element));
  return identities;
}

size_t PositionIn(const std::vector<Json>& identities, const Json& wanted) {
  return static_cast<size_t>(std::find(identities.begin(), identities.end(), wanted) -
                             identities.begin());
}

// `merged` in the order described at the top.
Json Ordered(const SchemaField& field, const Json& merged, const Json& patch_order,
             const Json& server_order) {
  const std::vector<Json> wanted = IdentitiesOf(field, patch_order);
  const std::vector<Json> before = IdentitiesOf(field, server_order);
  using Entry = std::pair<size_t, const Json*>;  // position in its order
  std::vector<Entry> named;
  std::vector<Entry> others;
  for (const Json& element : merged) {
    const Json identity = IdentityOf(field, element);
    const size_t position = PositionIn(wanted, identity);
    if (position < wanted.size()) {
      named.emplace_back(position, &element);
    } else {
      others.emplace_back(PositionIn(before, identity), &element);
    }
  }
  const auto by_position = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  std::stable_sort(named.begin(), named.end(), by_position);
  std::stable_sort(others.begin(), others.end(), by_position);
  Json result = Json::array();
  auto other = others.begin();
  for (const Entry& entry : named) {
    const size_t position = PositionIn(before, IdentityOf(field, *entry.second));
    while (other != others.end() && position < before.size() && other->first < position) {
      result.push_back(*(other++)->second);
    }
    result.push_back(*entry.second);
  }
  for (; other != others.end(); ++other) result.push_back(*other->second);
  return result;
}

// Whether upstream forgets a value that has nothing to be merged with: it only asks for changes.
bool OnlyDirective(const Json& value) { return value.is_object() && value.contains(kDirective); }

// The elements of a patch must stand in the order of its $setElementOrder. As upstream: directives
// do not count as long as there is more order, deletions never.
bool InOrder(const SchemaField& field, const Json& patch, const Json& order) {
  const std::vector<Json> wanted = IdentitiesOf(field, order);
  size_t from = 0;
  for (const Json& element : patch) {
    if (OnlyDirective(element) && (from < wanted.size() || element[kDirective] == "delete")) {
      continue;
    }
    const Json identity = IdentityOf(field, element);
    while (from < wanted.size() && wanted[from] != identity) ++from;
    if (from++ >= wanted.size()) return false;
  }
  return true;
}

// A value that has nothing to be merged with, without nulls and directives.
Json Cleaned(const Json& value) {
  if (!value.is_structured()) return value;
  Json result = value.is_array() ? Json::array() : Json::object();
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (OnlyDirective(*it)) continue;
    if (value.is_array()) {
      result.push_back(Cleaned(*it));
    } else if (!it->is_null() && !IsDirective(it.key())) {
      result[it.key()] = Cleaned(*it);
    }
  }
  return result;
}

void DeleteFromList(const std::string& field_name, const Json& values, Json& original) {
  const auto list = original.find(field_name);
  if (list == original.end() || !list->is_array() || !values.is_array()) return;
  const auto named = [&values](const Json& element) {
    return std::find(values.begin(), values.end(), element) != values.end();
  };
  list->erase(std::remove_if(list->begin(), list->end(), named), list->end());
}

bool Merger::RetainKeys(const Json& patch, Json& original) {
  const auto directive = patch.find(kRetainKeys);
  if (directive == patch.end()) return true;
  const Json& keys = *directive;
  bool good = keys.is_array();
  const auto retained = [&keys](const std::string& key) {
    return std::find(keys.begin(), keys.end(), Json(key)) != keys.end();
  };
  for (auto it = patch.begin(); good && it != patch.end(); ++it) {
    good = it.key() == kRetainKeys || it->is_null() || IsDirective(it.key()) || retained(it.key());
  }
  if (!good) return Fail(PatchBadRequest("invalid patch format of retainKeys"));
  for (auto it = original.begin(); it != original.end();) {
    it = retained(it.key()) ? std::next(it) : original.erase(it);
  }
  return true;
}

bool Merger::MergeMap(const SchemaType* type, Json& original, const Json& patch) {
  const auto directive = patch.find(kDirective);
  if (directive != patch.end()) {
    const std::string action = directive->is_string() ? directive->get<std::string>() : "";
    if (action == "replace") {
      original = patch;
      original.erase(kDirective);
      return true;
    }
    if (action == "delete") {
      original = Json::object();
      return true;
    }
    return Fail(Refused("unknown patch type: " + GoText(*directive) + " in map: " + GoText(patch)));
  }
  if (!RetainKeys(patch, original)) return false;
  std::vector<std::string> ordered;  // fields that $setElementOrder has dealt with
  for (const auto& [key, value] : patch.items()) {
    if (!key.starts_with(kSetElementOrder)) continue;
    ordered.push_back(key.substr(kSetElementOrder.size()));
    if (!SetOrder(type, ordered.back(), value, patch, original)) return false;
  }
  for (const auto& [key, value] : patch.items()) {
    if (IsDirective(key)) continue;
    if (std::find(ordered.begin(), ordered.end(), key) != ordered.end()) continue;
    if (!MergeMember(type, key, value, original)) return false;
  }
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with(kDeleteFromList)) {
      DeleteFromList(key.substr(kDeleteFromList.size()), value, original);
    }
  }
  return true;
}

// The patch's shape must be the schema's, as upstream's conversion demands.
bool Merger::Check(const SchemaField& field, const Json& value) {
  const bool raw = field.kind == Kind::kRaw || field.kind == Kind::kFields;
  const bool list = field.shape == Shape::kList;
  const bool map =
      field.shape == Shape::kMap || (field.shape == Shape::kOne && field.kind == Kind::kStruct);
  std::string error;
  if (list && value.is_object()) error = "cannot restore slice from map";
  if (map && value.is_array() && !raw) error = "cannot restore map from slice";
  if (error.empty()) return true;
  return Fail(InvalidPatch(GoText(whole_), error));
}

bool Merger::MergeMember(const SchemaType* type, const std::string& key, const Json& value,
                         Json& original) {
  if (value.is_null()) {
    original.erase(key);
    return true;
  }
  const SchemaField* field = type == nullptr ? nullptr : type->Find(key);
  if (field != nullptr && !Check(*field, value)) return false;
  Json* old = original.contains(key) ? &original[key] : nullptr;
  if (old != nullptr && old->is_object() && value.is_object()) {
    if (field != nullptr && field->replaced) {
      *old = Cleaned(value);
      return true;
    }
    const bool is_struct = field != nullptr && field->shape == Shape::kOne;
    return MergeMap(is_struct ? field->type : nullptr, *old, value);
  }
  if (old != nullptr && old->is_array() && value.is_array() && field != nullptr && field->merged) {
    return MergeList(*field, *old, value);
  }
  if (old == nullptr && OnlyDirective(value)) return true;
  original[key] = old == nullptr ? Cleaned(value) : value;
  return true;
}

// The elements of `patch` that are not directives go to `plain`.
bool Merger::ApplySpecialElements(const SchemaField& field, Json& original, const Json& patch,
                                  Json* plain, bool* replaced) {
  for (const Json& element : patch) {
    if (!element.is_object()) {
      return Fail(Refused("list element types are not identical: [" + GoText(original) + " " +
                          GoText(patch) + "]"));
    }
    const auto directive = element.find(kDirective);
    if (directive == element.end()) {
      plain->push_back(element);
      continue;
    }
    const std::string action = directive->is_string() ? directive->get<std::string>() : "";
    if (action == "replace") {
      *replaced = true;
    } else if (action == "merge") {
      return Fail(Refused("merging lists cannot yet be specified in the patch"));
    } else if (action != "delete") {
      return Fail(
          Refused("unknown patch type: " + GoText(*directive) + " in map: " + GoText(element)));
    } else if (!element.contains(field.merge_key)) {
      return Fail(Refused("map: " + GoText(element) +
                          " does not contain declared merge key: " + field.merge_key));
    } else {
      const Json& gone = element.at(field.merge_key);
      Json kept = Json::array();
      for (const Json& old : original) {
        if (IdentityOf(field, old) != gone) kept.push_back(old);
      }
      original = std::move(kept);
    }
  }
  return true;
}

bool Merger::MergeObjects(const SchemaField& field, Json& original, const Json& patch) {
  if (!CheckKeys(field, patch)) return false;
  for (const Json& element : patch) {
    const auto key = element.find(field.merge_key);
    const auto old = std::find_if(original.begin(), original.end(), [&](const Json& candidate) {
      return IdentityOf(field, candidate) == *key;
    });
    if (old == original.end()) {
      original.push_back(element);
    } else if (!MergeMap(field.type, *old, element)) {
      return false;
    }
  }
  return true;
}

bool Merger::MergeList(const SchemaField& field, Json& original, const Json& patch) {
  const Json before = original;
  if (patch.empty()) return true;
  if (field.merge_key.empty()) {
    for (const Json& element : patch) {
      if (std::find(original.begin(), original.end(), element) == original.end()) {
        original.push_back(element);
      }
    }
    original = Ordered(field, original, patch, before);
    return true;
  }
  Json plain = Json::array();
  bool replaced = false;
  if (!ApplySpecialElements(field, original, patch, &plain, &replaced)) return false;
  if (replaced) {
    original = std::move(plain);
    return true;
  }
  if (!MergeObjects(field, original, plain)) return false;
  original = Ordered(field, original, plain, before);
  return true;
}

// That every element has the merge key.
bool Merger::CheckKeys(const SchemaField& field, const Json& patch) {
  for (const Json& element : patch) {
    if (field.merge_key.empty() || !element.is_object() || element.contains(field.merge_key) ||
        element.contains(kDirective)) {
      continue;
    }
    return Fail(Refused("map: " + GoText(element) +
                        " does not contain declared merge key: " + field.merge_key));
  }
  return true;
}

// The order that the elements had before, as upstream sees it when it sorts: if the patch deletes,
// its new elements have taken the places that became free at the end.
Json OrderBefore(const SchemaField& field, const Json& original, const Json& patch) {
  std::vector<Json> deleted;
  for (const Json& element : patch) {
    if (element.is_object() && element.value(kDirective, Json()) == "delete") {
      deleted.push_back(IdentityOf(field, element));
    }
  }
  const auto in = [&field](const std::vector<Json>& list, const Json& element) {
    return PositionIn(list, IdentityOf(field, element)) < list.size();
  };
  Json result = Json::array();
  for (const Json& element : original) {
    if (!in(deleted, element)) result.push_back(element);
  }
  const std::vector<Json> known = IdentitiesOf(field, original);
  for (const Json& element : patch) {
    if (result.size() == original.size()) break;
    if (!OnlyDirective(element) && !in(known, element)) result.push_back(element);
  }
  return result;
}

bool Merger::SetOrder(const SchemaType* type, const std::string& field_name, const Json& order,
                      const Json& patch, Json& original) {
  if (!order.is_array()) {
    return Fail(Refused("expected a []interface {}, but received a " +
                        std::string(order.is_string() ? "string" : "other value")));
  }
  const SchemaField* field = type == nullptr ? nullptr : type->Find(field_name);
  if (field == nullptr) {
    return Fail(Refused("unable to find api field in struct " +
                        (type == nullptr ? std::string("map") : type->name) +
                        " for the json field \"" + field_name + "\""));
  }
  const auto given = patch.find(field_name);
  const bool has_patch = given != patch.end() && given->is_array();
  if (given != patch.end() && given->is_null()) {
    original.erase(field_name);
    return true;
  }
  if (has_patch && !CheckKeys(*field, *given)) return false;
  if (has_patch && !order.empty() && !InOrder(*field, *given, order)) {
    return Fail(Refused("The order in patch list:\n" + GoText(*given) +
                        "\n doesn't match $setElementOrder list:\n" + GoText(order) + "\n"));
  }
  const auto old = original.find(field_name);
  const bool has_original = old != original.end() && old->is_array();
  if (!has_patch && !has_original) return true;
  Json before = has_original ? *old : Json::array();
  if (has_patch && has_original) before = OrderBefore(*field, before, *given);
  if (has_patch && !MergeMember(type, field_name, *given, original)) return false;
  original[field_name] = Ordered(*field, original[field_name], order, before);
  return true;
}

void AppendGo(const Json& value, std::string& text) {
  if (value.is_null()) {
    text += "<nil>";
  } else if (value.is_string()) {
    text += value.get_ref<const std::string&>();
  } else if (value.is_structured()) {
    text += value.is_object() ? "map[" : "[";
    bool first = true;
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (!first) text += " ";
      first = false;
      if (value.is_object()) text += it.key() + ":";
      AppendGo(*it, text);
    }
    text += "]";
  } else {
    text += value.dump();
  }
}

}  // namespace

std::string GoText(const Json& value) {
  std::string text;
  AppendGo(value, text);
  return text;
}

Failure InvalidPatch(std::string_view shown, std::string_view error) {
  const std::string message =
      "Invalid value: " + Json(shown).dump(-1, ' ', false, Json::error_handler_t::replace) + ": " +
      std::string(error);
  return {.code = 422,
          .reason = "Invalid",
          .message = " \"\" is invalid: patch: " + message,
          .causes = {{.reason = "FieldValueInvalid", .message = message, .field = "patch"}}};
}

std::optional<Failure> ApplyStrategicMerge(const SchemaType& type, const Json& patch,
                                           Json& object) {
  Merger merger(patch);
  if (merger.MergeMap(&type, object, patch)) return std::nullopt;
  return merger.failure();
}

}  // namespace ks::apiserver
