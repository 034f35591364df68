// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_message.h"

#include <algorithm>

namespace ks::server {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string Unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      result += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 &&
               HexValue(text[i + 2]) >= 0) {
      result += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::string_view HeaderFields::Get(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (SameName(key, name)) {
      return value;
    }
  }
  return {};
}

std::vector<std::string_view> HeaderFields::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : fields_) {
    if (SameName(key, name)) {
      values.emplace_back(value);
    }
  }
  return values;
}

void HeaderFields::Remove(std::string_view name) {
  std::erase_if(fields_, [name](const auto& field) { return SameName(field.first, name); });
}

Query::Query(std::string_view query) {
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (pair.empty()) {
      continue;
    }
    const size_t equals = pair.find('=');
    pairs_.emplace_back(Unescape(pair.substr(0, equals)), equals == std::string_view::npos
                                                              ? std::string()
                                                              : Unescape(pair.substr(equals + 1)));
  }
}

bool Query::Has(std::string_view key) const {
  return std::any_of(pairs_.begin(), pairs_.end(),
                     [key](const auto& pair) { return pair.first == key; });
}

std::string_view Query::Get(std::string_view key) const {
  for (const auto& [name, value] : pairs_) {
    if (name == key) {
      return value;
    }
  }
  return {};
}

std::vector<std::string_view> Query::All(std::string_view key) const {
  std::vector<std::string_view> values;
  for (const auto& [name, value] : pairs_) {
    if (name == key) {
      values.emplace_back(value);
    }
  }
  return values;
}

Response NotFound() { return Response{.status = 404, .body = "404 page not found\n"}; }

}  // namespace ks::server
