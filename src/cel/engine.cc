// SPDX-License-Identifier: Apache-2.0
#include "cel/engine.h"

#include <algorithm>
#include <utility>

namespace ks::cel {
namespace {

// Equal exactly for contents that selectors cannot tell apart (or that differ in the order of
// attributes only): every part with its length or a mark of its type.
class Fingerprint {
 public:
  explicit Fingerprint(const DeviceContent& content) {
    Add(content.driver);
    text_ += content.allow_multiple_allocations ? '1' : '0';
    for (const DeviceContent::Attribute& attribute : content.attributes) {
      Add(attribute.name);
      text_ += static_cast<char>('a' + attribute.value.index());
      std::visit([this](const auto& value) { Add(value); }, attribute.value);
    }
    text_ += '#';
    for (const DeviceContent::Capacity& capacity : content.capacity) {
      Add(capacity.name);
      Add(capacity.value.ToString());
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void Add(std::monostate /*unknown*/) {}
  void Add(bool value) { text_ += value ? '1' : '0'; }
  void Add(int64_t value) { text_ += std::to_string(value) + ","; }
  void Add(const VersionText& value) { Add(value.text); }
  void Add(const std::string& value) {
    Add(static_cast<int64_t>(value.size()));
    text_ += value;
  }
  template <class T>
  void Add(const std::vector<T>& values) {
    Add(static_cast<int64_t>(values.size()));
    for (const T& value : values) Add(value);
  }

  std::string text_;
};

}  // namespace

Engine::Engine(size_t cache_bytes) : cache_bytes_(cache_bytes) {}

std::shared_ptr<Engine::Compiled> Engine::CompileAnew(std::string_view text,
                                                      Program::Wanted wanted) {
  auto made = std::make_shared<Compiled>();
  Result<std::shared_ptr<const Program>> program = Program::Compile(text, wanted);
  if (program.ok()) made->program = *program;
  if (!program.ok()) made->error = program.error().message;
  constexpr size_t kOverhead = 256;
  made->bytes = kOverhead + 2 * text.size() + made->error.size() +
                (made->program == nullptr ? 0 : made->program->bytes());
  return made;
}

std::shared_ptr<Engine::Compiled> Engine::Find(const std::string& key) {
  const MutexLock lock(programs_mutex_);
  return programs_.Find(key);
}

Result<std::shared_ptr<const Program>> Engine::Compile(std::string_view text,
                                                       Program::Wanted wanted) {
  const std::string key = std::to_string(static_cast<int>(wanted)) + std::string(text);
  std::shared_ptr<Compiled> compiled = Find(key);
  if (compiled == nullptr) {
    std::shared_ptr<Compiled> made = CompileAnew(text, wanted);
    const MutexLock lock(programs_mutex_);
    compiled = programs_.GetOrMake(
        key, {.bytes = cache_bytes_}, [&] { return made; },
        [](const Compiled& each) { return each.bytes; });
  }
  if (compiled->program == nullptr) return Error{.message = compiled->error};
  return compiled->program;
}

std::shared_ptr<const Device> Engine::Intern(const DeviceContent& content) {
  const std::string key = Fingerprint(content).Take();
  const MutexLock lock(devices_mutex_);
  std::weak_ptr<const Device>& place = devices_[key];
  if (std::shared_ptr<const Device> known = place.lock()) return known;
  std::shared_ptr<const Device> device = Device::Make(content);
  place = device;
  if (devices_.size() >= sweep_at_) {
    absl::erase_if(devices_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(1024, devices_.size() * 2);
  }
  return device;
}

size_t Engine::programs() const {
  const MutexLock lock(programs_mutex_);
  return programs_.size();
}

size_t Engine::devices() const {
  const MutexLock lock(devices_mutex_);
  return static_cast<size_t>(std::count_if(
      devices_.begin(), devices_.end(), [](const auto& each) { return !each.second.expired(); }));
}

}  // namespace ks::cel
