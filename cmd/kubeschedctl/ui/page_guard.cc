// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/ui/page_guard.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace ks::ctl {
namespace {

using server::Request;
using server::Response;

constexpr std::string_view kHttp = "http://";

Response Refused(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

// Takes as long for every text of the length.
bool Same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace

std::string MakePageToken() {
  std::array<unsigned char, 16> bytes{};
  KS_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
           "no random bytes");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

PageGuard::PageGuard(uint16_t port, std::string token)
    : port_(std::to_string(port)),
      token_(std::move(token)),
      cookie_name_("kubesched-ui-" + port_) {}

std::optional<Response> PageGuard::Refuse(const Request& request) const {
  if (!IsOwnHost(request.headers.Get("host"))) {
    return Refused(403, "this server is asked as 127.0.0.1:" + port_ + " or localhost:" + port_);
  }
  if (!IsOwnOrigin(request)) return Refused(403, "another page may not ask this server");
  if (!HasCookie(request) && !HasToken(request)) {
    return Refused(403, "open the address that `kubeschedctl ui` printed, with its token");
  }
  return std::nullopt;
}

std::string PageGuard::CookieFor(const Request& request) const {
  if (!HasToken(request)) return "";
  return cookie_name_ + "=" + token_ + "; Path=/; HttpOnly; SameSite=Strict";
}

std::string PageGuard::url() const { return "http://127.0.0.1:" + port_ + "/?token=" + token_; }

bool PageGuard::IsOwnHost(std::string_view host) const {
  for (const std::string_view name : {"127.0.0.1:", "localhost:"}) {
    if (host == std::string(name) + port_) return true;
  }
  return false;
}

bool PageGuard::IsOwnOrigin(const Request& request) const {
  if (const std::string_view origin = request.headers.Get("origin"); !origin.empty()) {
    return origin.starts_with(kHttp) && origin.substr(kHttp.size()) == request.headers.Get("host");
  }
  const std::string_view site = request.headers.Get("sec-fetch-site");
  // `none`: typed or opened by another program. A link from elsewhere may open `/`: it has to bring
  // the token.
  if (site.empty() || site == "none" || site == "same-origin") return true;
  return request.headers.Get("sec-fetch-mode") == "navigate" && HasToken(request);
}

bool PageGuard::HasCookie(const Request& request) const {
  for (std::string_view line : request.headers.All("cookie")) {
    while (!line.empty()) {
      const size_t end = std::min(line.find(';'), line.size());
      std::string_view pair = line.substr(0, end);
      while (pair.starts_with(' ')) pair.remove_prefix(1);
      const size_t equals = pair.find('=');
      if (equals != std::string_view::npos && pair.substr(0, equals) == cookie_name_ &&
          Same(pair.substr(equals + 1), token_)) {
        return true;
      }
      line.remove_prefix(std::min(end + 1, line.size()));
    }
  }
  return false;
}

bool PageGuard::HasToken(const Request& request) const {
  return request.path == "/" && request.method == "GET" &&
         Same(server::Query(request.query).Get("token"), token_);
}

}  // namespace ks::ctl
