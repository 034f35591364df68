// SPDX-License-Identifier: Apache-2.0
#pragma once
// SignPlugin: by what a plugin tells pods apart, so that pods alike can be decided as one batch.
//
// Upstream: docs/spec/framework.md section 3.

#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "framework/status.h"

namespace ks::framework {

struct SignFragment {
  std::string key;
  std::string value;  // canonical JSON text
};

// All that the plugin reads of a pod, as key/value fragments: pods with equal fragments get equal
// verdicts and scores.
class SignPlugin {
 public:
  virtual ~SignPlugin() = default;
  // Success, U (the pod is not signable) or Error.
  virtual Status Sign(const api::Pod& pod, std::vector<SignFragment>* fragments) const = 0;
  // False: Sign refuses every pod, so that nobody needs to ask.
  virtual bool SignsPods() const { return true; }
};

}  // namespace ks::framework
