// SPDX-License-Identifier: Apache-2.0
#pragma once
// The templates of Workloads in manifests: what their creators make pod groups of. A scheduler
// reads groups only; where those are not in the manifests, they can be told from the templates.
//
// A pod names its group and nothing else, and the creator chooses that name. Upstream's Job
// controller calls it WORKLOAD-TEMPLATE-HASH, and others may take the template's name.
//
// Upstream: docs/spec/pod-groups.md sections 2 and 3.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_split.h"
#include "base/result.h"
#include "base/symbol.h"

namespace ks::inspect {

struct GroupTemplate {
  Symbol ns;
  std::string workload;
  std::string name;
  bool composite = false;
  std::string_view spec;         // JSON; the group's spec, with other fields
  std::optional<size_t> parent;  // number of the composite that it is part of

  // How a creator's names begin, or are: "WORKLOAD-TEMPLATE".
  std::string Stem() const { return workload + "-" + name; }
};

// Threads: like a value. Lifetime: the texts outlive it.
class WorkloadTemplates {
 public:
  // `spec`: of a Workload, a part of the splitter's text; empty: it has none. Error: the field, and
  // what is wrong with it.
  Result<void> Read(const api::JsonSplitter& splitter, const Symbol& ns, std::string_view workload,
                    std::string_view spec);
  // Whether the namespace has Workloads.
  bool Any(const Symbol& ns) const;
  // The template of a PodGroup: the one that its name tells of, or the only one. Error: why none.
  Result<size_t> Of(const Symbol& ns, const std::string& group) const;
  const GroupTemplate& at(size_t number) const { return templates_[number]; }

 private:
  Result<void> ReadLists(const api::JsonSplitter& splitter, const GroupTemplate& owner,
                         const std::string& path, int depth);
  Result<void> ReadList(const api::JsonSplitter& splitter, const GroupTemplate& owner,
                        std::string_view list, const std::string& path, int depth);

  std::vector<Symbol> namespaces_;  // of Workloads
  std::vector<GroupTemplate> templates_;
};

}  // namespace ks::inspect
