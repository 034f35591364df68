// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/node_agents_addresses.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ks::apiserver::agents {

std::string AddressPool::NextPodIp() {
  constexpr uint32_t kPerSubnet = 254;
  const uint32_t number = pod_ips_++ % (kPerSubnet << 15);
  const uint32_t subnet = number / kPerSubnet;
  return "10." + std::to_string(subnet >> 8) + "." + std::to_string(subnet & 255) + "." +
         std::to_string(number % kPerSubnet + 1);
}

std::string AddressPool::NextHostIp() {
  const uint32_t number = host_ips_++ % (254U << 12);
  const uint32_t subnet = number / 254;
  return "172." + std::to_string(16 + (subnet >> 8)) + "." + std::to_string(subnet & 255) + "." +
         std::to_string(number % 254 + 1);
}

void AddressPool::MarkUsed(std::string_view ip) {
  if (!ip.starts_with("10.")) return;
  std::array<uint32_t, 4> parts{};
  size_t part = 0;
  for (const char c : ip) {
    if (c == '.' && part < 3) {
      ++part;
    } else if (c >= '0' && c <= '9' && parts[part] < 256) {
      parts[part] = parts[part] * 10 + static_cast<uint32_t>(c - '0');
    } else {
      return;
    }
  }
  if (part != 3 || parts[1] > 127 || parts[2] > 255 || parts[3] < 1 || parts[3] > 254) return;
  const uint32_t number = ((parts[1] << 8) + parts[2]) * 254 + parts[3] - 1;
  pod_ips_ = std::max(pod_ips_, number + 1);
}

}  // namespace ks::apiserver::agents
