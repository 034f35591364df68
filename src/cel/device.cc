// SPDX-License-Identifier: Apache-2.0
#include "cel/device.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace ks::cel {
namespace {

constexpr std::align_val_t kLine{64};

DeviceName NameOf(const std::string& driver, std::string_view name, bool capacity) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {capacity, Symbol(driver), Symbol(name)};
  return {capacity, Symbol(name.substr(0, slash)), Symbol(name.substr(slash + 1))};
}

// Names of attributes, then of capacities, in the order of the content.
std::vector<DeviceName> NamesOf(const DeviceContent& content) {
  std::vector<DeviceName> names;
  names.reserve(content.attributes.size() + content.capacity.size());
  for (const DeviceContent::Attribute& attribute : content.attributes) {
    names.push_back(NameOf(content.driver, attribute.name, false));
  }
  for (const DeviceContent::Capacity& capacity : content.capacity) {
    names.push_back(NameOf(content.driver, capacity.name, true));
  }
  return names;
}

std::shared_ptr<const DeviceShape> ShapeOf(const DeviceContent& content,
                                           std::vector<DeviceName> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return DeviceShape::Of(Symbol(content.driver), std::move(names));
}

}  // namespace

// The values of a content as they are found, and the memory that the rest takes.
struct Device::Draft {
  std::shared_ptr<const DeviceShape> shape;
  struct Item {
    uint32_t place = 0;
    std::optional<Value> shared;
  };
  std::vector<Item> items;  // in the order of the content
  size_t bytes = 0;

  explicit Draft(const DeviceContent& content) {
    const std::vector<DeviceName> names = NamesOf(content);
    shape = ShapeOf(content, names);
    items.reserve(names.size());
    for (const DeviceName& name : names) items.push_back({.place = shape->Find(name)});
    for (size_t i = 0; i < content.attributes.size(); ++i) {
      const DeviceContent::AttributeValue& value = content.attributes[i].value;
      const size_t needed = BytesToConvert(value);
      if (needed == 0) continue;
      items[i].shared = shape->Shared(items[i].place, value);
      if (!items[i].shared) bytes += needed;
    }
    for (size_t i = 0; i < content.capacity.size(); ++i) {
      Item& item = items[content.attributes.size() + i];
      item.shared = shape->Shared(item.place, content.capacity[i].value);
      if (!item.shared) bytes += Arena::BytesOf<api::Quantity>();
    }
  }
};

std::shared_ptr<const Device> Device::Make(const DeviceContent& content) {
  const Draft draft(content);
  const size_t values = draft.shape->names().size() * sizeof(Value);
  char* memory = static_cast<char*>(::operator new(ValuesAt() + values + draft.bytes, kLine));
  char* rest = memory + ValuesAt() + values;
  return std::shared_ptr<const Device>(new (memory) Device(draft, content, rest), Deleter());
}

void Device::Deleter::operator()(const Device* device) const {
  device->~Device();
  ::operator delete(const_cast<Device*>(device), kLine);
}

Device::Device(const Draft& draft, const DeviceContent& content, void* rest)
    : shape_number_(draft.shape->number()),
      shape_(draft.shape),
      shareable_(content.allow_multiple_allocations),
      arena_(rest, draft.bytes) {
  auto* values = const_cast<Value*>(this->values());
  std::uninitialized_value_construct_n(values, shape_->names().size());
  // "id" and "driver/id" may both be there: the last one counts.
  for (size_t i = 0; i < draft.items.size(); ++i) {
    const Draft::Item& item = draft.items[i];
    Value& value = values[item.place];
    if (item.shared) {
      value = *item.shared;
    } else if (i < content.attributes.size()) {
      value = ConvertAttribute(arena_, content.attributes[i].value);
    } else {
      const api::Quantity& quantity = content.capacity[i - content.attributes.size()].value;
      value = Value::Of(arena_.New<api::Quantity>(quantity));
    }
    if (value.is_error() && error_ == nullptr) {
      error_ = MakeText(
          arena_, "attribute " + content.attributes[i].name + ": " + std::string(value.view()));
    }
  }
}

Value Device::TableAsMap(Arena& arena, bool capacity) const {
  const std::vector<DeviceName>& names = shape_->names();
  std::vector<size_t> sorted;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].capacity == capacity) sorted.push_back(i);
  }
  std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
    if (names[a].domain != names[b].domain) return names[a].domain.view() < names[b].domain.view();
    return names[a].id.view() < names[b].id.view();
  });
  Map* domains = Map::Make(arena, 4);
  domains->complete = true;
  domains->of_device = true;
  Map* ids = nullptr;
  Symbol last;
  for (const size_t i : sorted) {
    if (ids == nullptr || names[i].domain != last) {
      last = names[i].domain;
      ids = Map::Make(arena, 4);
      ids->of_device = true;
      domains->Insert(arena, Value::String(RefText(arena, last.view())), Value::Of(ids));
    }
    ids->Insert(arena, Value::String(RefText(arena, names[i].id.view())), values()[i]);
  }
  return Value::Of(domains);
}

Value Device::AsMap(Arena& arena) const {
  Map* fields = Map::Make(arena, 4);
  fields->of_device = true;
  const auto add = [&](std::string_view name, Value value) {
    fields->Insert(arena, Value::String(RefText(arena, name)), value);
  };
  // One of the orders that upstream's map may have.
  add("driver", driver());
  add("allowMultipleAllocations", allow_multiple_allocations());
  add("attributes", TableAsMap(arena, false));
  add("capacity", TableAsMap(arena, true));
  return Value::Of(fields);
}

}  // namespace ks::cel
