// SPDX-License-Identifier: Apache-2.0
// Workloads: trees of templates for groups of pods.
#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/registry/strategy_devices.h"
#include "apiserver/registry/strategy_groups.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMostTemplates = 8;
constexpr size_t kMostLevels = 4;  // of composites and the groups below them
constexpr const char* kGroups = "podGroupTemplates";
constexpr const char* kComposites = "compositePodGroupTemplates";

// ---- The tree as a whole

size_t LevelsOf(const Json& composite) {
  size_t below = ElementsOf(At(composite, kGroups)).empty() ? 0 : 1;
  for (const Json& child : ElementsOf(At(composite, kComposites))) {
    below = std::max(below, LevelsOf(child));
  }
  return 1 + below;
}

// Names are told apart in all of the tree; those within one list are looked at with the list.
class TreeCheck {
 public:
  explicit TreeCheck(Causes& causes) : causes_(causes) {}

  void Lists(const std::string& field, const Json& owner) {
    Names(Path(field, kGroups), At(owner, kGroups));
    const std::string at = Path(field, kComposites);
    const Json& composites = At(owner, kComposites);
    Names(at, composites);
    size_t index = 0;
    for (const Json& composite : ElementsOf(composites)) Composite(Path(at, index++), composite);
  }

 private:
  void Names(const std::string& field, const Json& list) {
    std::set<std::string> names;
    size_t index = 0;
    for (const Json& each : ElementsOf(list)) {
      const std::string name = TextAt(each, "name");
      if (names_.contains(name)) {
        causes_.Duplicate(Path(Path(field, index), "name"), name);
      }
      names.insert(name);
      ++index;
    }
    names_.merge(names);
  }
  void Composite(const std::string& field, const Json& composite) {
    const bool has_children = !ElementsOf(At(composite, kGroups)).empty() ||
                              !ElementsOf(At(composite, kComposites)).empty();
    if (!has_children) {
      causes_.Invalid(field, TextAt(composite, "name"),
                      "must have at least one child PodGroupTemplate or CompositePodGroupTemplate");
    }
    Lists(field, composite);
  }

  Causes& causes_;
  std::set<std::string> names_;
};

void CheckLevels(const std::string& field, const Json& composites, Causes& causes) {
  size_t index = 0;
  for (const Json& composite : ElementsOf(composites)) {
    const std::string at = Path(field, index++);
    if (LevelsOf(composite) <= kMostLevels) continue;
    // Upstream shows the Go structure of everything below.
    causes.Invalid(at, TextAt(composite, "name"), "maximum template hierarchy depth is 4");
  }
}

using Priorities = std::set<std::pair<std::string, Json>>;

void AddPriorities(const Json& owner, Priorities& priorities) {
  for (const char* list : {kGroups, kComposites}) {
    for (const Json& each : ElementsOf(At(owner, list))) {
      priorities.emplace(TextAt(each, "priorityClassName"), At(each, "priority"));
      AddPriorities(each, priorities);
    }
  }
}

void CheckPriorities(const Json& spec, Causes& causes) {
  Priorities priorities;
  AddPriorities(spec, priorities);
  if (priorities.size() < 2) return;
  const bool tree = !ElementsOf(At(spec, kComposites)).empty();
  causes.Invalid("spec", nullptr,
                 tree ? "all priority and priorityClassName values must be identical, detected "
                        "multiple values"
                      : "detected multiple priority configurations");
}

// ---- Field by field

void CheckSegment(const std::string& field, const std::string& name, Causes& causes) {
  if (name.empty()) return causes.Required(field);
  if (name == "." || name == "..") causes.Invalid(field, name, "may not be '" + name + "'");
  for (const char* sign : {"/", "%"}) {
    if (name.find(sign) == std::string::npos) continue;
    causes.Invalid(field, name, std::string("may not contain '") + sign + "'");
  }
}

void CheckControllerRef(const Json& ref, Causes& causes) {
  if (ref.is_null()) return;
  const std::string field = "spec.controllerRef";
  const std::string group = TextAt(ref, "apiGroup");
  if (!group.empty()) {
    causes.All(Path(field, "apiGroup"), group, GroupSubdomainErrors(group));
  }
  CheckSegment(Path(field, "kind"), TextAt(ref, "kind"), causes);
  CheckSegment(Path(field, "name"), TextAt(ref, "name"), causes);
}

const Json& Named(const Json& list, const std::string& name) {
  static const auto* none = new Json;
  for (const Json& each : ElementsOf(list)) {
    if (TextAt(each, "name") == name) return each;
  }
  return *none;
}

// `path`: of the owner in a Workload, without indexes.
void CheckLists(const std::string& field, const std::string& path, const Json& before,
                const Json& owner, Causes& causes);

void CheckTemplate(const std::string& field, const std::string& path, bool composite,
                   const Json& before, const Json& each, Causes& causes) {
  const std::string name = TextAt(each, "name");
  if (name.empty()) causes.Required(Path(field, "name"));
  if (!name.empty()) causes.All(Path(field, "name"), name, GroupLabelErrors(name));
  CheckSchedulingPolicy(field, before, each, composite ? "minGroupCount" : "minCount", causes);
  CheckGroupFields(field, before, each, {"Workload", Path(path, "resourceClaims")}, causes);
  if (composite) CheckLists(field, path, before, each, causes);
}

// One list of an owner, which was another one `before`, if that is an object.
void CheckList(const std::string& owner_field, const std::string& owner_path, const char* list,
               const Json& before, const Json& owner, Causes& causes) {
  const std::string field = Path(owner_field, list);
  const std::string path = Path(owner_path, list);
  const Json& old = At(before, list);
  const std::vector<Json>& templates = AtMost(field, At(owner, list), kMostTemplates, causes);
  std::set<std::string> names;
  for (size_t i = 0; i < templates.size(); ++i) {
    if (names.insert(TextAt(templates[i], "name")).second) continue;
    AddDuplicate(Path(field, i), templates[i], "Workload", path, causes);
  }
  for (size_t i = 0; i < templates.size(); ++i) {
    const Json& former = Named(old, TextAt(templates[i], "name"));
    if (before.is_object() && former.is_null()) {
      causes.Forbidden(Path(field, i), "item may not be added");
    } else {
      CheckTemplate(Path(field, i), path, list == kComposites, former, templates[i], causes);
    }
  }
  const std::vector<Json>& formers = ElementsOf(old);
  const bool kept = std::all_of(formers.begin(), formers.end(), [&names](const Json& former) {
    return names.contains(TextAt(former, "name"));
  });
  if (!kept) causes.Forbidden(field, "item may not be removed");
}

void CheckLists(const std::string& field, const std::string& path, const Json& before,
                const Json& owner, Causes& causes) {
  for (const char* list : {kGroups, kComposites}) {
    CheckList(field, path, list, before, owner, causes);
  }
}

}  // namespace

void CheckWorkload(const Json& before, const Json& workload, Causes& causes) {
  const Json& spec = At(workload, "spec");
  const Json& old_spec = At(before, "spec");
  TreeCheck(causes).Lists("spec", spec);
  CheckLevels(Path("spec", kComposites), At(spec, kComposites), causes);
  CheckPriorities(spec, causes);
  CheckUnion("spec", spec, {kGroups, kComposites}, causes);
  if (IsNewField("spec", old_spec, spec, "controllerRef", causes)) {
    CheckControllerRef(At(spec, "controllerRef"), causes);
  }
  CheckLists("spec", "spec", old_spec, spec, causes);
}

}  // namespace ks::apiserver
