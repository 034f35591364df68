// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/legacy.h"

#include <nlohmann/json.hpp>

#include "api/selector.h"
#include "base/logging.h"
#include "golang/quote.h"

namespace ks::plugins {

void WarnLegacy(std::string_view plugin, std::string_view replacement,
                const framework::Handle& handle) {
  log::Plain('W',
             "plugin " + std::string(plugin) + " of profile " + handle.ProfileName() +
                 " is a legacy plugin, which kube-scheduler does not have any more; instead: " +
                 std::string(replacement));
}

Result<void> ExpectNoArgs(const config::PluginArgs& args) {
  const nlohmann::json json = JsonOf(args);
  std::string problem;
  const ArgsReader root(json, "", {}, &problem);
  if (problem.empty()) return {};
  return Error{problem + "; this plugin has no arguments: remove them"};
}

std::vector<Symbol> ReadLabelKeys(const ArgsReader& root, std::string_view field,
                                  std::string* problem) {
  const std::vector<std::string> texts = root.Texts(field);
  std::vector<Symbol> keys;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string wrong = api::CheckLabelKey(texts[i]);
    if (!wrong.empty() && problem->empty()) {
      *problem = root.Path(field) + "[" + std::to_string(i) + "]: " + golang::Quote(texts[i]) +
                 " is no label key: " + wrong;
    }
    keys.emplace_back(texts[i]);
  }
  return keys;
}

}  // namespace ks::plugins
