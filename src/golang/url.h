// SPDX-License-Identifier: Apache-2.0
#pragma once
// A URL of any scheme taken apart as Go's net/url takes it apart, with Go's error texts: files that
// kube-scheduler reads mean here what they mean there. Not for saying where to connect to: that is
// server_url.h.
//
// Upstream: docs/spec/api.md section 8.6.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::golang {

struct UrlUser {
  std::string name{};
  std::optional<std::string> password{};  // absent: there was no colon

  friend bool operator==(const UrlUser&, const UrlUser&) = default;
};

// Parts are decoded unless their name begins with `raw_`.
struct Url {
  std::string scheme{};  // in lower case; may be empty
  std::string opaque{};  // "x" of "mailto:x"; the parts below up to the query are empty then
  std::optional<UrlUser> user{};
  std::string host{};  // with brackets and port: "[fe80::1%eth0]:443", "my_ext:1"
  std::string path{};  // "/a b"
  // As it was written, where that is not how the path is written by default.
  std::string raw_path{};
  bool omit_host = false;    // "file:/x": a path behind a scheme without the two slashes
  bool force_query = false;  // ends with a '?'
  std::string raw_query{};
  std::string fragment{};
  std::string raw_fragment{};  // as raw_path

  // "my_ext", "fe80::1%eth0": without brackets and port.
  std::string Hostname() const;
  // "443"; empty: none. Digits, but any number of them.
  std::string Port() const;
  // The path as a request names it.
  std::string EscapedPath() const;
  // Path and query of a request line; never empty.
  std::string RequestTarget() const;
  // The whole URL again, normalized.
  std::string Text() const;
  // The same with "***" for the password: for messages.
  std::string RedactedText() const;
};

// Errors: `parse "http://< ip >": invalid character " " in host name`.
Result<Url> ParseUrl(std::string_view text);
// The same of the target of a request, where '#' is a character like any other.
Result<Url> ParseUrlWithoutFragment(std::string_view text);

// The value of an Authorization (or Proxy-Authorization) field: "Basic …".
std::string BasicAuthorization(const UrlUser& user);

}  // namespace ks::golang
