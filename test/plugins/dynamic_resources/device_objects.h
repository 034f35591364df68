// SPDX-License-Identifier: Apache-2.0
#pragma once
// Objects of devices, written as their JSON with single quotes.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "base/check.h"
#include "cache/device_stores.h"
#include "testing/deltas.h"

namespace ks::plugins {

inline std::string WithDoubleQuotes(std::string_view text) {
  std::string json(text);
  for (char& c : json) c = c == '\'' ? '"' : c;
  return json;
}

template <class T>
std::shared_ptr<const T> ReadObject(std::string_view text) {
  api::Decoder decoder;
  std::string json = WithDoubleQuotes(text);
  json.reserve(json.size() + api::kJsonPadding);
  auto decoded = decoder.Object<T>(json);
  KS_CHECK(decoded.ok(), decoded.ok() ? "" : decoded.error().message);
  return *decoded;
}

// Adds the object, or replaces it.
template <class T>
std::shared_ptr<const T> Show(cache::DeviceStores& stores, std::string_view text) {
  auto object = ReadObject<T>(text);
  stores.Apply(std::vector<api::Delta<T>>{testing::Upsert(object)});
  return object;
}

template <class T>
void Remove(cache::DeviceStores& stores, std::shared_ptr<const T> object) {
  stores.Apply(std::vector<api::Delta<T>>{testing::Delete(std::move(object))});
}

}  // namespace ks::plugins
