// SPDX-License-Identifier: Apache-2.0
#include "cel/device.h"

#include <algorithm>
#include <utility>

#include "cel/semver.h"

namespace ks::cel {
namespace {

template <class T, class Convert>
Value ListOf(Arena& arena, const std::vector<T>& items, Convert convert) {
  List* list = List::Make(arena, items.size());
  for (const auto& item : items) list->Append(arena, convert(item));
  return Value::Of(list);
}

}  // namespace

Device::Device(const DeviceContent& content)
    : driver_text_(content.driver),
      driver_(MakeString(arena_, content.driver)),
      shareable_(content.allow_multiple_allocations) {
  std::vector<Named> named;
  for (const DeviceContent::Attribute& attribute : content.attributes) {
    named.push_back(MakeNamed(attribute.name, Convert(attribute)));
  }
  attributes_ = MakeTable(std::move(named));
  named.clear();
  for (const DeviceContent::Capacity& capacity : content.capacity) {
    const api::Quantity* quantity = arena_.New<api::Quantity>(capacity.value);
    named.push_back(MakeNamed(capacity.name, Value::Of(quantity)));
  }
  capacity_ = MakeTable(std::move(named));
}

Device::Named Device::MakeNamed(std::string_view name, Value value) const {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return Named{Symbol(driver_text_), Symbol(name), value};
  return Named{Symbol(name.substr(0, slash)), Symbol(name.substr(slash + 1)), value};
}

Value Device::ConvertVersion(std::string_view attribute, std::string_view text) {
  Result<Semver> version = Semver::Parse(text);
  if (version.ok()) return Value::Of(arena_.New<Semver>(std::move(*version)));
  if (!error_) {
    error_ = "attribute " + std::string(attribute) +
             ": parse semantic version: " + version.error().message;
  }
  return Value();
}

struct Device::Converter {
  Device& device;
  const std::string& name;

  Value operator()(std::monostate /*unknown*/) const {
    if (!device.error_) device.error_ = "attribute " + name + ": unsupported attribute value";
    return Value();
  }
  Value operator()(int64_t v) const { return Value::Int(v); }
  Value operator()(bool v) const { return Value::Bool(v); }
  Value operator()(const std::string& v) const { return MakeString(device.arena_, v); }
  Value operator()(const VersionText& v) const { return device.ConvertVersion(name, v.text); }
  Value operator()(const std::vector<bool>& v) const {
    return ListOf(device.arena_, v, [](bool item) { return Value::Bool(item); });
  }
  template <class T>
  Value operator()(const std::vector<T>& v) const {
    return ListOf(device.arena_, v, *this);
  }
};

Value Device::Convert(const DeviceContent::Attribute& attribute) {
  return std::visit(Converter{*this, attribute.name}, attribute.value);
}

Device::Table Device::MakeTable(std::vector<Named> named) {
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.key() < b.key(); });
  Table table;
  for (const Named& each : named) {
    // "id" and "driver/id" may both be there: the last one counts.
    if (!table.keys.empty() && table.keys.back() == each.key()) {
      table.entries.back() = each;
      continue;
    }
    table.keys.push_back(each.key());
    table.entries.push_back(each);
  }
  return table;
}

const Value* Device::Find(const Table& table, Symbol domain, Symbol id) {
  const uint64_t key = Key(domain, id);
  const uint64_t* base = table.keys.data();
  size_t size = table.keys.size();
  if (size == 0) return nullptr;
  while (size > 1) {  // without branches: the compiler makes a conditional move of it
    const size_t half = size / 2;
    base = base[half] <= key ? base + half : base;
    size -= half;
  }
  if (*base != key) return nullptr;
  return &table.entries[static_cast<size_t>(base - table.keys.data())].value;
}

Value Device::TableAsMap(Arena& arena, const Table& table) {
  std::vector<const Named*> sorted;
  for (const Named& each : table.entries) sorted.push_back(&each);
  std::sort(sorted.begin(), sorted.end(), [](const Named* a, const Named* b) {
    if (a->domain != b->domain) return a->domain.view() < b->domain.view();
    return a->id.view() < b->id.view();
  });
  Map* domains = Map::Make(arena, 4);
  domains->complete = true;
  domains->of_device = true;
  Map* ids = nullptr;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i - 1]->domain != sorted[i]->domain) {
      ids = Map::Make(arena, 4);
      ids->of_device = true;
      domains->Insert(arena, Value::String(RefText(arena, sorted[i]->domain.view())),
                      Value::Of(ids));
    }
    ids->Insert(arena, Value::String(RefText(arena, sorted[i]->id.view())), sorted[i]->value);
  }
  return Value::Of(domains);
}

Value Device::AsMap(Arena& arena) const {
  Map* fields = Map::Make(arena, 4);
  fields->of_device = true;
  const auto add = [&](std::string_view name, Value value) {
    fields->Insert(arena, Value::String(RefText(arena, name)), value);
  };
  add("allowMultipleAllocations", allow_multiple_allocations());
  add("attributes", TableAsMap(arena, attributes_));
  add("capacity", TableAsMap(arena, capacity_));
  add("driver", driver_);
  return Value::Of(fields);
}

}  // namespace ks::cel
