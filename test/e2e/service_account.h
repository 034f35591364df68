// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ServiceAccount of deploy/second-scheduler, as a user of a test's cluster.

#include <fstream>
#include <string>

#include "testing/control_plane.h"

namespace ks::e2e {

// The text of a kubeconfig with this token; `token` may have a line end behind it, as kubectl
// prints it.
inline std::string TokenKubeconfig(const testing::ControlPlane& plane, std::string token) {
  while (token.ends_with('\n')) token.pop_back();
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {server: '" +
         plane.ServerUrl() + "', certificate-authority: '" + plane.CaPath() +
         "'}}]\n"
         "users: [{name: u, user: {token: '" +
         token + "'}}]\n";
}

}  // namespace ks::e2e
