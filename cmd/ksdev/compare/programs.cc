// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/programs.h"

#include <filesystem>
#include <fstream>

#include "ksdev/text/figures.h"
#include "kubeschedctl/cluster/process.h"

namespace ks::ctl::dev {

std::vector<Contestant> BothSchedulers(const Programs& programs) {
  return {{.name = kOurs, .binary = programs.kubesched},
          {.name = kTheirs, .binary = programs.kube_scheduler}};
}

Result<void> FindPrograms(Programs& programs, const std::string& folder) {
  if (programs.kubesched.empty()) {
    programs.kubesched = OwnFolder() + "/kubesched";
  }
  const bool needs_tool = !programs.embedded_server || programs.kube_scheduler.empty();
  if (needs_tool && !std::filesystem::exists(programs.controlplane_tool)) {
    return Error{programs.controlplane_tool +
                 " does not exist: run this in the source tree or give --controlplane-tool"};
  }
  if (programs.kube_scheduler.empty()) {
    const std::string output = folder + "/bindir.log";
    const auto tool =
        Process::Start({"/usr/bin/env", "python3", programs.controlplane_tool, "bindir"}, output);
    if (!tool.ok()) {
      return tool.error();
    }
    const bool found = (*tool)->Wait().how == "exit status 0";
    std::ifstream file(output);
    std::string line;
    std::getline(file, line);
    if (!found) {
      return Error{"no kube-scheduler to compare with: " + line};
    }
    programs.kube_scheduler = line + "/kube-scheduler";
  }
  for (const std::string& path : {programs.kubesched, programs.kube_scheduler}) {
    if (!std::filesystem::exists(path)) {
      return Error{path + " does not exist"};
    }
  }
  return {};
}

}  // namespace ks::ctl::dev
