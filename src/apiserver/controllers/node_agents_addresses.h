// SPDX-License-Identifier: Apache-2.0
#pragma once
// Made-up addresses of simulated pods and nodes.

#include <cstdint>
#include <string>
#include <string_view>

namespace ks::apiserver::agents {

// Threads: one at a time.
class AddressPool {
 public:
  // 10.0.0.1 to 10.127.255.254, without last bytes 0 and 255; begins again after 8 million.
  std::string NextPodIp();
  // 172.16.0.1 and so on; begins again after a million.
  std::string NextHostIp();
  // An address in use, of a pod that was loaded, is not given a second time. Others are ignored.
  void MarkUsed(std::string_view ip);

 private:
  uint32_t pod_ips_ = 0;
  uint32_t host_ips_ = 0;
};

}  // namespace ks::apiserver::agents
