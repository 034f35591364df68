// SPDX-License-Identifier: Apache-2.0
#include "cel/net.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "golang/quote.h"

namespace ks::cel {
namespace {

// What is wrong with an address, and where.
struct Problem {
  std::string_view message{};
  std::string_view at{};
};

// Four decimal fields into `fields`. Nothing: they are fine.
std::optional<Problem> ReadV4(std::string_view text, uint8_t* fields) {
  size_t field = 0;
  size_t digits = 0;
  int value = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      if (digits == 1 && value == 0) return Problem{"IPv4 field has octet with leading zero"};
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return Problem{"IPv4 field has value >255"};
    } else if (c == '.') {
      if (i == 0 || i == text.size() - 1 || text[i - 1] == '.') {
        return Problem{"IPv4 field must have at least one digit", text.substr(i)};
      }
      if (field == 3) return Problem{"IPv4 address too long"};
      fields[field++] = static_cast<uint8_t>(value);
      value = 0;
      digits = 0;
    } else {
      return Problem{"unexpected character", text.substr(i)};
    }
  }
  if (field < 3) return Problem{"IPv4 address too short"};
  fields[3] = static_cast<uint8_t>(value);
  return std::nullopt;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Reads fields off the front of a text.
class V6Reader {
 public:
  V6Reader(std::string_view text, std::array<uint8_t, 16>& bytes) : rest_(text), bytes_(bytes) {}

  std::optional<Problem> Run() {
    if (rest_.starts_with("::")) {
      ellipsis_ = 0;
      rest_.remove_prefix(2);
    }
    bool more = !rest_.empty();
    while (more && filled_ < 16) {
      if (std::optional<Problem> problem = Field(more)) return problem;
    }
    if (!rest_.empty()) return Problem{"trailing garbage after address", rest_};
    if (filled_ == 16) {
      if (ellipsis_) return Problem{"the :: must expand to at least one field of zeros"};
      return std::nullopt;
    }
    if (!ellipsis_) return Problem{"address string too short"};
    const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(*ellipsis_);
    const auto end = bytes_.begin() + static_cast<ptrdiff_t>(filled_);
    std::copy_backward(begin, end, bytes_.end());
    std::fill_n(begin, 16 - filled_, uint8_t{0});
    return std::nullopt;
  }

 private:
  // One field with the colons behind it. `more`: another one must follow.
  std::optional<Problem> Field(bool& more) {
    size_t digits = 0;
    int value = 0;
    for (; digits < rest_.size() && HexValue(rest_[digits]) >= 0; ++digits) {
      if (digits > 3) return Problem{"each group must have 4 or less digits", rest_};
      value = value * 16 + HexValue(rest_[digits]);
    }
    if (digits == 0) {
      return Problem{"each colon-separated field must have at least one digit", rest_};
    }
    if (digits < rest_.size() && rest_[digits] == '.') {
      more = false;
      return Embedded();
    }
    bytes_[filled_++] = static_cast<uint8_t>(value >> 8);
    bytes_[filled_++] = static_cast<uint8_t>(value & 0xFF);
    rest_.remove_prefix(digits);
    more = !rest_.empty();
    if (!more) return std::nullopt;
    if (rest_[0] != ':') return Problem{"unexpected character, want colon", rest_};
    if (rest_.size() == 1) return Problem{"colon must be followed by more characters", rest_};
    rest_.remove_prefix(1);
    if (rest_[0] != ':') return std::nullopt;
    if (ellipsis_) return Problem{"multiple :: in address", rest_};
    ellipsis_ = filled_;
    rest_.remove_prefix(1);
    more = !rest_.empty();
    return std::nullopt;
  }

  std::optional<Problem> Embedded() {
    if (!ellipsis_ && filled_ != 12) {
      return Problem{"embedded IPv4 address must replace the final 2 fields of the address", rest_};
    }
    if (filled_ > 12) {
      return Problem{"too many hex fields to fit an embedded IPv4 at the end of the address",
                     rest_};
    }
    if (std::optional<Problem> problem = ReadV4(rest_, bytes_.data() + filled_)) return problem;
    filled_ += 4;
    rest_ = {};
    return std::nullopt;
  }

  std::string_view rest_;
  std::array<uint8_t, 16>& bytes_;
  size_t filled_ = 0;
  std::optional<size_t> ellipsis_;
};

struct Address {
  Ip ip{};
  bool has_zone = false;
};

// Errors: `ParseAddr("1.2.3"): IPv4 address too short`.
Result<Address> ReadAddress(std::string_view text) {
  Address address;
  std::optional<Problem> problem;
  const size_t mark = text.find_first_of(".:%");
  if (mark == std::string_view::npos) {
    problem = Problem{"unable to parse IP"};
  } else if (text[mark] == '.') {
    address.ip.v4 = true;
    problem = ReadV4(text, address.ip.bytes.data() + 12);
  } else if (text[mark] == '%') {
    problem = Problem{"missing IPv6 address"};
  } else {
    const size_t percent = text.find('%');
    address.has_zone = percent != std::string_view::npos;
    problem = percent == text.size() - 1
                  ? Problem{"zone must be a non-empty string"}
                  : V6Reader(text.substr(0, percent), address.ip.bytes).Run();
  }
  if (!problem) return address;
  std::string message = "ParseAddr(" + golang::Quote(text) + "): " + std::string(problem->message);
  if (!problem->at.empty()) message += " (at " + golang::Quote(problem->at) + ")";
  return Error{.message = std::move(message)};
}

// An IPv4 address in IPv6 clothes.
bool IsMapped(const Ip& ip) {
  return !ip.v4 &&
         std::all_of(ip.bytes.begin(), ip.bytes.begin() + 10,
                     [](uint8_t byte) { return byte == 0; }) &&
         ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
}

// The fields of an IPv6 address from `first`, `count` of them.
std::string FieldsText(const Ip& ip, size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i) {
    const unsigned field = (unsigned{ip.bytes[2 * i]} << 8U) | ip.bytes[2 * i + 1];
    text += fmt::format("{}{:x}", text.empty() ? "" : ":", field);
  }
  return text;
}

}  // namespace

Result<Ip> Ip::Parse(std::string_view text) {
  const Result<Address> address = ReadAddress(text);
  const std::string quoted = golang::Quote(text);
  if (!address.ok()) {
    return Error{.message =
                     "IP Address " + quoted +
                     " parse error during conversion from string: " + address.error().message};
  }
  if (address->has_zone) {
    return Error{.message = "IP address " + quoted + " with zone value is not allowed"};
  }
  if (IsMapped(address->ip)) {
    return Error{.message = "IPv4-mapped IPv6 address " + quoted + " is not allowed"};
  }
  return address->ip;
}

std::string Ip::ToString() const {
  if (v4) return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
  // The first of the longest runs of at least two zero fields is left out.
  size_t best = 0;
  size_t best_size = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t end = i;
    while (end < 8 && bytes[2 * end] == 0 && bytes[2 * end + 1] == 0) ++end;
    if (end - i > best_size) {
      best = i;
      best_size = end - i;
    }
  }
  if (best_size < 2) return FieldsText(*this, 0, 8);
  const size_t after = best + best_size;
  return FieldsText(*this, 0, best) + "::" + FieldsText(*this, after, 8 - after);
}

Result<Cidr> Cidr::Parse(std::string_view text) {
  const std::string prefix = "network address parse error during conversion from string: ";
  const auto refuse = [&](const std::string& why) {
    return Error{.message =
                     prefix + prefix + "netip.ParsePrefix(" + golang::Quote(text) + "): " + why};
  };
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return refuse("no '/'");
  const Result<Address> address = ReadAddress(text.substr(0, slash));
  if (!address.ok()) return refuse(address.error().message);
  if (address->has_zone) return refuse("IPv6 zones cannot be present in a prefix");
  const std::string_view bits = text.substr(slash + 1);
  const bool digits = !bits.empty() && bits.find_first_not_of("0123456789") == bits.npos;
  if (!digits || (bits.size() > 1 && bits[0] == '0')) {
    return refuse("bad bits after slash: " + golang::Quote(bits));
  }
  Cidr cidr{.ip = address->ip};
  const auto [end, code] = std::from_chars(bits.data(), bits.data() + bits.size(), cidr.prefix);
  if (code != std::errc() || cidr.prefix > cidr.ip.bits()) {
    return refuse("prefix length out of range");
  }
  if (IsMapped(cidr.ip)) {
    return Error{.message = prefix + "IPv4-mapped IPv6 address " + golang::Quote(text) +
                            " is not allowed"};
  }
  return cidr;
}

std::string Cidr::ToString() const { return ip.ToString() + "/" + std::to_string(prefix); }

Cidr Cidr::Masked() const {
  Cidr masked = *this;
  int left = prefix;
  for (size_t i = ip.v4 ? 12 : 0; i < 16; ++i, left -= 8) {
    const int bits = std::clamp(left, 0, 8);
    masked.ip.bytes[i] = static_cast<uint8_t>(masked.ip.bytes[i] & (0xFF00U >> bits));
  }
  return masked;
}

bool Cidr::Contains(const Ip& other) const {
  if (ip.v4 != other.v4) return false;
  return Cidr{.ip = other, .prefix = prefix}.Masked().ip == Masked().ip;
}

bool Cidr::Contains(const Cidr& other) const {
  return prefix <= other.prefix && Contains(other.ip);
}

}  // namespace ks::cel
