// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for the values of one evaluation, one compiled program or one device: given out piece by
// piece, given back all at once. Values can so be plain 16 bytes without counts of references.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ks::cel {

// Objects with destructors are destroyed with the arena, in reverse order.
//
// Threads: one. Lifetime: everything made here dies with the arena.
class Arena {
 public:
  Arena() = default;
  // What is asked for lies in `first` until that is full. Requires: `first` is aligned as a Value
  // is, and outlives the arena.
  Arena(void* first, size_t size) : next_(static_cast<char*>(first)), left_(size) {}
  ~Arena() {
    for (const Owned* owned = owned_; owned != nullptr; owned = owned->before) {
      owned->destroy(owned->object);
    }
    while (chunks_ != nullptr) {
      delete[] reinterpret_cast<char*>(std::exchange(chunks_, chunks_->before));
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // What a piece of so many bytes takes.
  static constexpr size_t Rounded(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

  // Raw memory, aligned for any value.
  void* Allocate(size_t bytes) {
    bytes = Rounded(bytes);
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
      owned_ = new (Allocate(sizeof(Owned)))
          Owned{object, [](void* dead) { static_cast<T*>(dead)->~T(); }, owned_};
    }
    return object;
  }

  // What New<T> takes.
  template <class T>
  static constexpr size_t BytesOf() {
    return Rounded(sizeof(T)) + (std::is_trivially_destructible_v<T> ? 0 : Rounded(sizeof(Owned)));
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
  static constexpr size_t kLargestChunk = 8192;

  struct Owned {
    void* object;
    void (*destroy)(void*);
    const Owned* before;
  };
  struct alignas(kAlign) Chunk {
    Chunk* before;
  };

  // Large pieces have a chunk of their own; what is left of the current one stays in use.
  void* AllocateChunk(size_t bytes) {
    const size_t usual = std::clamp(2 * bytes_, kFirstChunk, kLargestChunk);
    const bool large = bytes > usual / 4;
    const size_t size = large ? bytes : usual;
    char* memory = new char[sizeof(Chunk) + size];
    chunks_ = new (memory) Chunk{chunks_};
    bytes_ += size;
    char* place = memory + sizeof(Chunk);
    if (large) return place;
    next_ = place + bytes;
    left_ = size - bytes;
    return place;
  }

  char* next_ = nullptr;
  size_t left_ = 0;
  size_t bytes_ = 0;
  Chunk* chunks_ = nullptr;
  const Owned* owned_ = nullptr;
};

// An arena whose first few hundred bytes need no allocation.
class LocalArena : public Arena {
 public:
  LocalArena() : Arena(first_, sizeof(first_)) {}

 private:
  alignas(16) char first_[512];
};

}  // namespace ks::cel
