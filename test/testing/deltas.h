// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reflector tells: one object, or all there are.

#include <memory>
#include <utility>
#include <vector>

#include "api/delta.h"

namespace ks::testing {

template <class T>
api::Delta<T> Upsert(std::shared_ptr<const T> object) {
  return {api::Delta<T>::Type::kUpsert, std::move(object), {}};
}

template <class T>
api::Delta<T> Delete(std::shared_ptr<const T> object) {
  return {api::Delta<T>::Type::kDelete, std::move(object), {}};
}

template <class T>
api::Delta<T> Replace(std::vector<std::shared_ptr<const T>> items) {
  return {api::Delta<T>::Type::kReplace, nullptr, std::move(items)};
}

}  // namespace ks::testing
