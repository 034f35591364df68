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

ArgsFaults NoArgsFaults(const config::PluginArgs& args) {
  const nlohmann::json json = JsonOf(args);
  ArgsFaults faults;
  const ArgsReader root(json, "", {}, &faults);
  for (config::Finding& fault : faults) {
    fault.message += "; this plugin has no arguments: remove them";
  }
  return faults;
}

std::vector<Symbol> ReadLabelKeys(const ArgsReader& root, std::string_view field) {
  const std::vector<std::string> texts = root.Texts(field);
  std::vector<Symbol> keys;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string wrong = api::CheckLabelKey(texts[i]);
    if (!wrong.empty()) {
      root.Fault(std::string(field) + "[" + std::to_string(i) + "]",
                 golang::Quote(texts[i]) + " is no label key: " + wrong);
    }
    keys.emplace_back(texts[i]);
  }
  return keys;
}

}  // namespace ks::plugins
