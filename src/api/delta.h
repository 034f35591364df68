// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reflector tells its consumer, in order. The consumer keeps the store and derives old/new
// pairs from it.
//
// Upstream: docs/spec/api.md section 6.5.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ks::api {

// The whole object as text, where it was asked for (Decoder::set_keep_texts says in which form);
// else empty. A part of a block that several share. Threads: like a value.
struct ObjectText {
  std::shared_ptr<const std::string> block{};
  std::string_view text{};

  // A block for itself.
  static ObjectText Of(std::shared_ptr<const std::string> whole) {
    const std::string_view text = *whole;
    return {.block = std::move(whole), .text = text};
  }
  bool empty() const { return text.empty(); }
};

// Threads: like a value.
template <class T>
struct Delta {
  enum class Type {
    kReplace,  // `items` is the whole state; objects missing in it were deleted with unknown final
               // state
    kUpsert,   // `object` was added or modified
    kDelete,   // `object` is the state the event carried
  };
  Type type = Type::kReplace;
  std::shared_ptr<const T> object;
  std::vector<std::shared_ptr<const T>> items;  // kReplace, in received order
  ObjectText text{};                            // of `object`
  std::vector<ObjectText> texts{};              // of `items`; empty unless asked for
};

// A batch of one of these kinds, as its reflector delivers it.
template <class... T>
using DeltasOfOne = std::variant<std::vector<Delta<T>>...>;

// Called from the reflector's thread with one or more deltas, in order. Must not block for long:
// enqueue.
template <class T>
using DeltaSink = std::function<void(std::vector<Delta<T>>)>;

}  // namespace ks::api
