// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for the values of one evaluation, one compiled program or one device: given out piece by
// piece, given back all at once. Values can so be plain 16 bytes without counts of references.

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ks::cel {

// The first few hundred bytes need no allocation. Objects with destructors are destroyed with the
// arena, in reverse order.
//
// Threads: one. Lifetime: everything made here dies with the arena.
class Arena {
 public:
  Arena() = default;
  ~Arena() {
    for (size_t i = owned_.size(); i > 0; --i) owned_[i - 1].destroy(owned_[i - 1].object);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Raw memory, aligned for any value.
  void* Allocate(size_t bytes) {
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    if (bytes > left_) return AllocateChunk(bytes);
    char* place = next_;
    next_ += bytes;
    left_ -= bytes;
    return place;
  }

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(alignof(T) <= kAlign);
    T* object = new (Allocate(sizeof(T))) T{std::forward<Args>(args)...};
    if constexpr (!std::is_trivially_destructible_v<T>) {
      owned_.push_back(Owned{object, [](void* dead) { static_cast<T*>(dead)->~T(); }});
    }
    return object;
  }

  // An array of `count` objects, not yet constructed.
  template <class T>
  T* Array(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlign);
    return static_cast<T*>(Allocate(count * sizeof(T)));
  }

  std::string_view Copy(std::string_view text) {
    if (text.empty()) return {};
    char* place = static_cast<char*>(Allocate(text.size()));
    std::memcpy(place, text.data(), text.size());
    return {place, text.size()};
  }

  // What was asked from the allocator so far.
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kAlign = 16;
  static constexpr size_t kFirstChunk = 512;
  static constexpr size_t kChunk = 8192;

  struct Owned {
    void* object;
    void (*destroy)(void*);
  };

  // Large pieces have a chunk of their own; what is left of the current one stays in use.
  void* AllocateChunk(size_t bytes) {
    const bool large = bytes > kChunk / 4;
    const size_t size = large ? bytes : kChunk;
    chunks_.emplace_back(new char[size]);
    bytes_ += size;
    char* place = chunks_.back().get();
    if (large) return place;
    next_ = place + bytes;
    left_ = size - bytes;
    return place;
  }

  alignas(kAlign) char first_[kFirstChunk];
  char* next_ = first_;
  size_t left_ = kFirstChunk;
  size_t bytes_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::vector<Owned> owned_;
};

}  // namespace ks::cel
