// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/list_token.h"

#include <array>

#include "apiserver/store/json_write.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Without padding, as upstream's tokens.
std::string EncodeBase64Url(std::string_view bytes) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    count += 8;
    while (count >= 6) {
      count -= 6;
      out += kAlphabet[(bits >> count) & 0x3F];
    }
  }
  if (count > 0) out += kAlphabet[(bits << (6 - count)) & 0x3F];
  return out;
}

// `bad_byte`: set to the place of the first byte that is none of the alphabet's.
std::string DecodeBase64Url(std::string_view text, size_t* bad_byte) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  *bad_byte = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kAlphabet.find(text[i]);
    if (digit == std::string_view::npos) {
      *bad_byte = i;
      return "";
    }
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 0xFF);
  }
  if (text.size() % 4 == 1) *bad_byte = text.size() - 1;
  return out;
}

Failure BadToken(const std::string& why) {
  return BadRequest("invalid continue token: continue key is not valid: " + why);
}

}  // namespace

std::string EncodeListToken(const ListToken& token) {
  std::string text =
      "{\"v\":\"meta.k8s.io/v1\",\"rv\":" + std::to_string(token.version) + ",\"start\":";
  AppendJsonString(token.start, &text);
  return EncodeBase64Url(text + '}');
}

Outcome<ListToken> DecodeListToken(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  size_t bad_byte = 0;
  const std::string json = DecodeBase64Url(text, &bad_byte);
  if (bad_byte != std::string_view::npos) {
    return BadToken("illegal base64 data at input byte " + std::to_string(bad_byte));
  }
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return BadToken("it is not a token of this server");
  const auto version = parsed.find("rv");
  const auto start = parsed.find("start");
  const auto form = parsed.find("v");
  if (form == parsed.end() || *form != "meta.k8s.io/v1") {
    return BadToken("server does not recognize this encoded version " +
                    (form != parsed.end() && form->is_string() ? form->get<std::string>() : ""));
  }
  if (version == parsed.end() || !version->is_number_integer() || *version == 0) {
    return BadToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (start == parsed.end() || !start->is_string() ||
      start->get_ref<const std::string&>().empty()) {
    return BadToken("encoded start key empty (version meta.k8s.io/v1)");
  }
  return ListToken{version->get<int64_t>(), start->get<std::string>()};
}

std::string StartAfter(const KindInfo& kind, const StoredObject& last) {
  std::string start = kind.namespaced ? last.ns + '/' + last.name : last.name;
  start += '\0';
  return start;
}

Store::Key KeyOfStart(const KindInfo& kind, std::string_view start) {
  const size_t slash = start.find('/');
  if (!kind.namespaced || slash == std::string_view::npos) return {"", std::string(start)};
  return {std::string(start.substr(0, slash)), std::string(start.substr(slash + 1))};
}

}  // namespace ks::apiserver
