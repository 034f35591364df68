// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses and blocks of them as CEL knows them (net.IP, net.CIDR): reading, writing, classes.
//
// Upstream: docs/spec/cel.md section 5.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::cel {

// An IPv4 address occupies the last four bytes. Neither zones nor IPv4 in IPv6 clothes.
struct Ip {
  std::array<uint8_t, 16> bytes{};
  bool v4 = false;

  // Bits of an address of the family.
  int bits() const { return v4 ? 32 : 128; }
  // Errors: upstream's texts.
  static Result<Ip> Parse(std::string_view text);
  // In the canonical form.
  std::string ToString() const;

  // The family is part of the value.
  friend bool operator==(const Ip&, const Ip&) = default;
};

// Bits behind the prefix may be set.
struct Cidr {
  Ip ip{};
  int prefix = 0;

  static Result<Cidr> Parse(std::string_view text);
  std::string ToString() const;
  Cidr Masked() const;
  bool Contains(const Ip& other) const;
  bool Contains(const Cidr& other) const;

  friend bool operator==(const Cidr&, const Cidr&) = default;
};

}  // namespace ks::cel
