// SPDX-License-Identifier: Apache-2.0
#include "framework/host_ports.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

namespace ks::framework {
namespace {

constexpr std::string_view kAnyAddress = "0.0.0.0";
constexpr std::string_view kDefaultProtocol = "TCP";

bool IsAny(const HostPort& port) { return port.ip == kAnyAddress; }

bool BeforeInPort(const HostPort& a, const HostPort& b) {
  return std::tuple(a.port, a.protocol) < std::tuple(b.port, b.protocol);
}
bool Before(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return BeforeInPort(a, b);
  const bool any = IsAny(a);
  return any != IsAny(b) ? any : a.ip < b.ip;
}

// The first element from `it` on that is not before `wanted`, found in the logarithm of its
// distance.
template <class Iterator>
Iterator SkipTo(Iterator it, Iterator end, const HostPort& wanted) {
  for (ptrdiff_t step = 1; end - it > step && BeforeInPort(it[step], wanted); step *= 2) it += step;
  return std::lower_bound(it, end, wanted, BeforeInPort);
}

void AppendPorts(const api::Container& container, std::vector<HostPort>* ports) {
  static const Symbol tcp(kDefaultProtocol);
  for (const api::ContainerPort& port : container.ports) {
    if (port.host_port <= 0) continue;
    ports->push_back({port.host_ip.empty() ? std::string(kAnyAddress) : port.host_ip,
                      port.protocol.empty() ? tcp : Symbol(port.protocol), port.host_port});
  }
}

}  // namespace

HostPortSet PodHostPorts(const api::Pod& pod) {
  std::vector<HostPort> ports;
  for (const api::Container& container : pod.spec->init_containers) {
    if (container.restart_always) AppendPorts(container, &ports);
  }
  for (const api::Container& container : pod.spec->containers) AppendPorts(container, &ports);
  return HostPortSet(std::move(ports));
}

HostPortSet::HostPortSet(std::vector<HostPort> ports) : ports_(std::move(ports)) {
  std::sort(ports_.begin(), ports_.end(), Before);
  ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
}

void HostPortSet::Add(const HostPortSet& ports) {
  if (ports.empty()) return;
  std::vector<HostPort> all;
  all.reserve(ports_.size() + ports.size());
  std::set_union(std::make_move_iterator(ports_.begin()), std::make_move_iterator(ports_.end()),
                 ports.ports_.begin(), ports.ports_.end(), std::back_inserter(all), Before);
  ports_ = std::move(all);
}

void HostPortSet::Remove(const HostPortSet& ports) {
  if (ports.empty()) return;
  std::erase_if(ports_, [&](const HostPort& port) {
    return std::binary_search(ports.ports_.begin(), ports.ports_.end(), port, Before);
  });
}

bool HostPortSet::ConflictsWith(const HostPortSet& wanted) const {
  auto it = ports_.begin();
  for (const HostPort& port : wanted.ports_) {
    it = SkipTo(it, ports_.end(), port);
    if (it == ports_.end()) return false;
    if (it->port != port.port || it->protocol != port.protocol) continue;
    if (IsAny(*it) || IsAny(port)) return true;
    if (std::binary_search(it, ports_.end(), port, Before)) return true;
  }
  return false;
}

}  // namespace ks::framework
