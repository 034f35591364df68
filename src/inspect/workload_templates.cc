// SPDX-License-Identifier: Apache-2.0
#include "inspect/workload_templates.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ks::inspect {
namespace {

constexpr std::string_view kGroups = "podGroupTemplates";
constexpr std::string_view kComposites = "compositePodGroupTemplates";
constexpr int kDeepestTree = 4;  // levels, as the API server has it

// How well the group's name tells of the template; 0: not at all.
size_t Likeness(const GroupTemplate& one, const std::string& group) {
  constexpr size_t kBest = std::numeric_limits<size_t>::max();
  const std::string stem = one.Stem();
  if (group == one.name) return kBest;
  if (group == stem) return kBest - 1;
  return group.starts_with(stem + "-") ? stem.size() : 0;
}

}  // namespace

Result<void> WorkloadTemplates::Read(const api::JsonSplitter& splitter, const Symbol& ns,
                                     std::string_view workload, std::string_view spec) {
  namespaces_.push_back(ns);
  if (spec.empty()) return {};
  GroupTemplate owner{.ns = ns, .workload = std::string(workload), .name = {}, .spec = spec};
  return ReadLists(splitter, owner, "spec", kDeepestTree);
}

// `owner`: a composite that is in the list already, or what stands for the Workload.
Result<void> WorkloadTemplates::ReadLists(const api::JsonSplitter& splitter,
                                          const GroupTemplate& owner, const std::string& path,
                                          int depth) {
  const auto members = splitter.Members(owner.spec);
  if (!members.ok()) return members.error();
  for (const api::JsonMember& member : *members) {
    const bool composite = member.key == kComposites;
    if ((!composite && member.key != kGroups) || member.value.front() != '[') continue;
    GroupTemplate each = owner;
    each.composite = composite;
    Result<void> read =
        ReadList(splitter, each, member.value, path + "." + std::string(member.key), depth);
    if (!read.ok()) return read;
  }
  return {};
}

// `like`: what the templates of the list have in common.
Result<void> WorkloadTemplates::ReadList(const api::JsonSplitter& splitter,
                                         const GroupTemplate& like, std::string_view list,
                                         const std::string& path, int depth) {
  if (depth == 0) return Error{path + ": templates are nested too deeply"};
  const auto elements = splitter.Elements(list);
  if (!elements.ok()) return elements.error();
  for (size_t i = 0; i < elements->size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    GroupTemplate one = like;
    one.spec = (*elements)[i];
    if (one.spec.front() != '{') return Error{at + ": must be an object"};
    const auto fields = splitter.Members(one.spec);
    if (!fields.ok()) return fields.error();
    one.name.clear();
    for (const api::JsonMember& field : *fields) {
      if (field.key == "name") one.name = api::PlainJsonText(field.value);
    }
    if (one.name.empty()) return Error{at + ".name: is missing"};
    templates_.push_back(one);
    if (!one.composite) continue;
    one.parent = templates_.size() - 1;
    if (Result<void> read = ReadLists(splitter, one, at, depth - 1); !read.ok()) return read;
  }
  return {};
}

bool WorkloadTemplates::Any(const Symbol& ns) const {
  return std::find(namespaces_.begin(), namespaces_.end(), ns) != namespaces_.end();
}

Result<size_t> WorkloadTemplates::Of(const Symbol& ns, const std::string& group) const {
  std::vector<size_t> best;
  size_t likeness = 0;
  std::string all;
  for (size_t i = 0; i < templates_.size(); ++i) {
    const GroupTemplate& one = templates_[i];
    if (one.composite || one.ns != ns) continue;
    all += (all.empty() ? "" : ", ") + one.workload + "/" + one.name;
    const size_t like = Likeness(one, group);
    if (like < likeness) continue;
    if (like > likeness) best.clear();
    likeness = like;
    best.push_back(i);
  }
  if (best.size() == 1) return best.front();
  if (all.empty()) return Error{"no Workload of the manifests has podGroupTemplates for it"};
  return Error{"its name does not tell which template of the Workloads it is made of: " + all +
               "; call it TEMPLATE or WORKLOAD-TEMPLATE-…, or add the PodGroup to the manifests"};
}

}  // namespace ks::inspect
