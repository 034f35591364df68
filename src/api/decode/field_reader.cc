// SPDX-License-Identifier: Apache-2.0
#include "api/decode/field_reader.h"

#include <functional>

#include <fmt/format.h>

namespace ks::api {

void ReaderState::Reset() {
  path_.clear();
  cause_.clear();
}

Error ReaderState::TakeError() {
  return Error{path_.empty() ? std::move(cause_) : fmt::format("{}: {}", path_, cause_)};
}

bool ReaderState::Fail(std::string_view cause) {
  path_.clear();
  cause_ = cause;
  return false;
}

Symbol ReaderState::Intern(std::string_view text) {
  if (text.empty()) return Symbol();
  Symbol& cached = symbols_[std::hash<std::string_view>()(text) % symbols_.size()];
  if (cached.view() != text) cached = Symbol(text);
  return cached;
}

void ReaderState::AddKeyToPath(std::string_view key) {
  std::string path(key);
  if (!path_.empty() && path_.front() != '[') path += '.';
  path_.insert(0, path);
}

void ReaderState::AddIndexToPath(size_t index) {
  path_.insert(0, fmt::format("[{}]{}", index, path_.empty() || path_.front() == '[' ? "" : "."));
}

}  // namespace ks::api
