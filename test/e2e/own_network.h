// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network and a host name of a test's own: the API server forwards to pods on addresses that are
// not loopback ones, and nothing outside must reach a test's servers.

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "base/result.h"

namespace ks::e2e {

// Whatever the thread that makes it starts later, threads and processes, is in there, until the
// destructor. Linux only; wants to be root.
class OwnNetwork {
 public:
  // With the loopback device up, and this address on it.
  static Result<std::unique_ptr<OwnNetwork>> Enter(in_addr address, const std::string& host) {
    std::unique_ptr<OwnNetwork> network(new OwnNetwork);
    if (network->network_ < 0 || network->names_ < 0) return Failed("open the namespaces");
    if (::unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0) return Failed("make namespaces");
    network->inside_ = true;
    if (::sethostname(host.data(), host.size()) != 0) return Failed("set the host's name");
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool up = SetUp("lo", nullptr, socket) && SetUp("lo:1", &address, socket);
    const std::string why = std::strerror(errno);
    ::close(socket);
    if (!up) return Error{"set up the loopback device: " + why};
    return network;
  }
  ~OwnNetwork() {
    if (inside_) {
      (void)::setns(network_, CLONE_NEWNET);
      (void)::setns(names_, CLONE_NEWUTS);
    }
    ::close(network_);
    ::close(names_);
  }
  OwnNetwork(const OwnNetwork&) = delete;
  OwnNetwork& operator=(const OwnNetwork&) = delete;

 private:
  OwnNetwork()
      : network_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)),
        names_(::open("/proc/thread-self/ns/uts", O_RDONLY | O_CLOEXEC)) {}

  static Error Failed(const std::string& what) {
    return Error{what + ": " + std::strerror(errno) + "; it takes root's rights"};
  }
  static bool SetUp(const char* name, const in_addr* address, int socket) {
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (address != nullptr) {
      sockaddr_in of_device{};
      of_device.sin_family = AF_INET;
      of_device.sin_addr = *address;
      std::memcpy(&request.ifr_addr, &of_device, sizeof(of_device));
      if (::ioctl(socket, SIOCSIFADDR, &request) != 0) return false;
    }
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  }

  // The thread's namespaces before.
  const int network_;
  const int names_;
  bool inside_ = false;
};

}  // namespace ks::e2e
