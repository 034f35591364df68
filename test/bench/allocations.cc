// SPDX-License-Identifier: Apache-2.0
#include "bench/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t allocations = 0;

void* Allocate(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void* Allocate(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto boundary = static_cast<std::size_t>(alignment);
  const std::size_t whole = (size + boundary - 1) / boundary * boundary;
  if (void* memory = std::aligned_alloc(boundary, whole == 0 ? boundary : whole)) return memory;
  throw std::bad_alloc();
}

}  // namespace

namespace ks::bench {

uint64_t AllocationsOfThread() { return allocations; }

}  // namespace ks::bench

// The forms that are not here call these.
void* operator new(std::size_t size) { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return Allocate(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
