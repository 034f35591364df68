// SPDX-License-Identifier: Apache-2.0
#include "cel/device_shape.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cel/semver.h"

namespace ks::cel {
namespace {

struct Converter {
  Arena& arena;

  Value operator()(std::monostate /*unknown*/) const {
    return MakeError(arena, "unsupported attribute value");
  }
  Value operator()(int64_t v) const { return Value::Int(v); }
  Value operator()(bool v) const { return Value::Bool(v); }
  Value operator()(const std::string& v) const { return MakeString(arena, v); }
  Value operator()(const VersionText& v) const {
    Result<Semver> version = Semver::Parse(v.text);
    if (version.ok()) return Value::Of(arena.New<Semver>(std::move(*version)));
    return MakeError(arena, "parse semantic version: " + version.error().message);
  }
  template <class T>
  Value operator()(const std::vector<T>& v) const {
    List* list = List::Make(arena, v.size());
    for (const auto& item : v) {
      const Value value = (*this)(item);
      if (value.is_error()) return value;
      list->Append(arena, value);
    }
    return Value::Of(list);
  }
};

struct Sizer {
  size_t operator()(std::monostate /*unknown*/) const { return 0; }
  size_t operator()(int64_t /*v*/) const { return 0; }
  size_t operator()(bool /*v*/) const { return 0; }
  size_t operator()(const std::string& v) const {
    return Arena::BytesOf<Text>() + Arena::Rounded(v.size());
  }
  size_t operator()(const VersionText& /*v*/) const { return Arena::BytesOf<Semver>(); }
  template <class T>
  size_t operator()(const std::vector<T>& v) const {
    size_t bytes = Arena::BytesOf<List>() + v.size() * sizeof(Value);
    for (const auto& item : v) bytes += (*this)(item);
    return bytes;
  }
};

// The shapes that devices keep.
class Shapes {
 public:
  std::shared_ptr<const DeviceShape> Get(const Symbol& driver, std::vector<DeviceName> names)
      KS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::weak_ptr<const DeviceShape>& place = shapes_[{driver, names}];
    if (std::shared_ptr<const DeviceShape> known = place.lock()) return known;
    auto shape = std::make_shared<const DeviceShape>(driver, std::move(names), next_++);
    place = shape;
    if (shapes_.size() >= sweep_at_) {
      std::erase_if(shapes_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = std::max(kSweepFrom, shapes_.size() * 2);
    }
    return shape;
  }

 private:
  static constexpr size_t kSweepFrom = 256;

  Mutex mutex_;
  std::map<std::pair<Symbol, std::vector<DeviceName>>, std::weak_ptr<const DeviceShape>> shapes_
      KS_GUARDED_BY(mutex_);
  size_t sweep_at_ KS_GUARDED_BY(mutex_) = kSweepFrom;
  uint64_t next_ KS_GUARDED_BY(mutex_) = 1;
};

}  // namespace

Value ConvertAttribute(Arena& arena, const DeviceContent::AttributeValue& value) {
  return std::visit(Converter{arena}, value);
}

size_t BytesToConvert(const DeviceContent::AttributeValue& value) {
  return std::visit(Sizer(), value);
}

std::shared_ptr<const DeviceShape> DeviceShape::Of(const Symbol& driver,
                                                   std::vector<DeviceName> names) {
  static Shapes* const shapes = new Shapes;
  return shapes->Get(driver, std::move(names));
}

DeviceShape::DeviceShape(const Symbol& driver, std::vector<DeviceName> names, uint64_t number)
    : driver_(driver), names_(std::move(names)), number_(number) {
  const std::string_view text = driver_.view();
  driver_text_ = Text{text.data(), static_cast<uint32_t>(text.size()), CountCodePoints(text)};
  driver_value_ = Value::String(&driver_text_);
  KS_CHECK(names_.size() < kNowhere, "a device with too many attributes");
  const MutexLock lock(mutex_);
  kept_.resize(names_.size());
}

uint32_t DeviceShape::Find(const DeviceName& name) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), name);
  if (found == names_.end() || *found != name) return kNowhere;
  return static_cast<uint32_t>(found - names_.begin());
}

std::optional<Value> DeviceShape::Shared(uint32_t place,
                                         const DeviceContent::AttributeValue& value) const {
  const MutexLock lock(mutex_);
  std::vector<Kept>& kept = kept_[place];
  const auto known = std::find_if(kept.begin(), kept.end(),
                                  [&](const Kept& each) { return each.attribute == value; });
  if (known != kept.end()) return known->value;
  if (kept.size() == kMaxShared) return std::nullopt;
  kept.push_back({.attribute = value, .value = ConvertAttribute(arena_, value)});
  return kept.back().value;
}

std::optional<Value> DeviceShape::Shared(uint32_t place, const api::Quantity& value) const {
  const MutexLock lock(mutex_);
  std::vector<Kept>& kept = kept_[place];
  const auto known = std::find_if(kept.begin(), kept.end(), [&](const Kept& each) {
    return each.value.quantity->SameForm(value);
  });
  if (known != kept.end()) return known->value;
  if (kept.size() == kMaxShared) return std::nullopt;
  kept.push_back({.attribute = {}, .value = Value::Of(arena_.New<api::Quantity>(value))});
  return kept.back().value;
}

}  // namespace ks::cel
