// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_ui.h"

#include <cstdint>
#include <utility>

#include "kubeschedctl/ui/page_listener.h"

namespace ks::ctl {
namespace {

// One that was free a moment ago: a scheduler cannot be asked which one it took.
Result<uint16_t> FreePort() {
  const auto listener = PageListener::Bind(0);
  if (!listener.ok()) return listener.error();
  return (*listener)->port();
}

}  // namespace

Result<DemoUi> StartDemoUi(const DemoCluster& cluster) {
  const Result<uint16_t> free_port = FreePort();
  if (!free_port.ok()) return free_port.error();
  const std::string port = std::to_string(*free_port);
  const std::string folder = cluster.folder() + "/serving";
  auto server =
      UiServer::Start({.daemon = {.kubeconfig = cluster.admin_kubeconfig(),
                                  .server = "https://127.0.0.1:" + port,
                                  .certificate_authority = folder + "/kube-scheduler.crt"}});
  if (!server.ok()) return server.error();
  const std::string kubeconfig = cluster.scheduler_kubeconfig();
  return DemoUi{
      .server = std::move(server).value(),
      .scheduler_args = {"--secure-port=" + port, "--bind-address=127.0.0.1",
                         "--cert-dir=" + folder, "--authentication-kubeconfig=" + kubeconfig,
                         "--authorization-kubeconfig=" + kubeconfig}};
}

}  // namespace ks::ctl
