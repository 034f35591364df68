// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <vector>

#include "apiserver/body/patch_forms.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver {
namespace {

// The steps of a JSON pointer, unescaped. Absent: it does not begin with a slash.
std::optional<std::vector<std::string>> StepsOf(std::string_view pointer) {
  std::vector<std::string> steps;
  if (pointer.empty()) return steps;
  if (pointer.front() != '/') return std::nullopt;
  for (size_t i = 0; i < pointer.size(); ++i) {
    const std::string_view rest = pointer.substr(i);
    if (rest.front() == '/') {
      steps.emplace_back();
    } else if (rest.starts_with("~0") || rest.starts_with("~1")) {
      steps.back().push_back(rest[1] == '0' ? '~' : '/');
      ++i;
    } else {
      steps.back().push_back(rest.front());
    }
  }
  return steps;
}

// The index that a step of a path means in a list with `size` elements; negative numbers count from
// the end. Absent: none, or outside.
std::optional<size_t> IndexOf(std::string_view step, size_t size) {
  int64_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || index >= static_cast<int64_t>(size)) return std::nullopt;
  return static_cast<size_t>(index);
}

// What the pointer's last step is in. Null: there is no such place.
Json* ParentOf(Json& root, const std::vector<std::string>& steps) {
  Json* at = &root;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (at->is_object()) {
      const auto it = at->find(steps[i]);
      if (it == at->end()) return nullptr;
      at = &*it;
    } else if (at->is_array()) {
      const auto index = IndexOf(steps[i], at->size());
      if (!index) return nullptr;
      at = &(*at)[*index];
    } else {
      return nullptr;
    }
  }
  return at->is_structured() ? at : nullptr;
}

// The value there; members that are missing read as null. Absent: no such place.
std::optional<Json> Read(Json& root, const std::vector<std::string>& steps) {
  if (steps.empty()) return root;
  const Json* parent = ParentOf(root, steps);
  if (parent == nullptr) return std::nullopt;
  if (parent->is_object()) {
    const auto it = parent->find(steps.back());
    return it == parent->end() ? Json() : *it;
  }
  const auto index = IndexOf(steps.back(), parent->size());
  if (!index) return std::nullopt;
  return (*parent)[*index];
}

bool Add(Json& root, const std::vector<std::string>& steps, Json value) {
  if (steps.empty()) {
    root = std::move(value);
    return true;
  }
  Json* parent = ParentOf(root, steps);
  if (parent == nullptr) return false;
  if (parent->is_object()) {
    (*parent)[steps.back()] = std::move(value);
    return true;
  }
  if (steps.back() == "-") {
    parent->push_back(std::move(value));
    return true;
  }
  const auto index = IndexOf(steps.back(), parent->size() + 1);
  if (!index) return false;
  parent->insert(parent->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool Remove(Json& root, const std::vector<std::string>& steps) {
  Json* parent = steps.empty() ? nullptr : ParentOf(root, steps);
  if (parent == nullptr) return false;
  if (parent->is_object()) return parent->erase(steps.back()) == 1;
  const auto index = IndexOf(steps.back(), parent->size());
  if (!index) return false;
  parent->erase(*index);
  return true;
}

bool Replace(Json& root, const std::vector<std::string>& steps, Json value) {
  Json* parent = steps.empty() ? nullptr : ParentOf(root, steps);
  if (steps.empty()) {
    root = std::move(value);
    return true;
  }
  if (parent == nullptr) return false;
  if (parent->is_object()) {
    (*parent)[steps.back()] = std::move(value);
    return true;
  }
  const auto index = IndexOf(steps.back(), parent->size());
  if (!index) return false;
  (*parent)[*index] = std::move(value);
  return true;
}

bool ApplyOne(const Json& operation, Json& object) {
  const std::string op = Text(operation, "op");
  const auto path = operation.contains("path") ? StepsOf(Text(operation, "path")) : std::nullopt;
  if (!path) return false;
  const auto given = operation.find("value");
  const Json value = given == operation.end() ? Json() : *given;
  if (op == "add") return Add(object, *path, value);
  if (op == "remove") return Remove(object, *path);
  if (op == "replace") return Replace(object, *path, value);
  if (op == "test") {
    const auto found = Read(object, *path);
    return found && *found == value;
  }
  if (op != "move" && op != "copy") return false;
  const auto from = operation.contains("from") ? StepsOf(Text(operation, "from")) : std::nullopt;
  if (!from) return false;
  const auto moved = Read(object, *from);
  if (!moved || (op == "move" && !Remove(object, *from))) return false;
  return Add(object, *path, *moved);
}

}  // namespace

bool ApplyJsonPatch(const Json& operations, Json& object) {
  return std::all_of(operations.begin(), operations.end(),
                     [&object](const Json& operation) { return ApplyOne(operation, object); });
}

}  // namespace ks::apiserver
