// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file descriptor that is closed at its end.

#include <unistd.h>

#include <cerrno>

namespace ks {

// Threads: like an int. errno stays as it was when it closes.
class Descriptor {
 public:
  // Takes it over; negative: there is none.
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    const int saved = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    errno = saved;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace ks
