// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device as selectors see it: driver, shareability, attributes and capacities, converted once
// into a flat form in which a constant path is one lookup.
//
// Upstream: docs/spec/cel.md section 2.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/quantity.h"
#include "base/symbol.h"
#include "cel/value.h"

namespace ks::cel {

// A semantic version as written.
struct VersionText {
  std::string text;
};

// What the API says about a device. Names: "domain/id", or "id" alone for the driver's own domain.
struct DeviceContent {
  // monostate: an attribute of a type that is not known, which fails every selector.
  using AttributeValue =
      std::variant<std::monostate, int64_t, bool, std::string, VersionText, std::vector<int64_t>,
                   std::vector<bool>, std::vector<std::string>, std::vector<VersionText>>;
  struct Attribute {
    std::string name{};
    AttributeValue value{};
  };
  struct Capacity {
    std::string name{};
    api::Quantity value{};
  };

  std::string driver{};
  bool allow_multiple_allocations = false;
  std::vector<Attribute> attributes{};
  std::vector<Capacity> capacity{};
};

// Threads: any. Lifetime: shared; values that point into it die with it.
class Device {
 public:
  explicit Device(const DeviceContent& content);

  // The value of one (domain, id); null: there is none.
  const Value* FindAttribute(Symbol domain, Symbol id) const {
    return Find(attributes_, domain, id);
  }
  const Value* FindCapacity(Symbol domain, Symbol id) const { return Find(capacity_, domain, id); }
  const Value& driver() const { return driver_; }
  Value allow_multiple_allocations() const { return Value::Bool(shareable_); }

  // A failed conversion (a bad version) is the result of every selector.
  const std::optional<std::string>& error() const { return error_; }

  // The device as the map that it is at run time, in `arena`: real domains only, by name.
  Value AsMap(Arena& arena) const;

  // Verdicts of the programs that were last asked about this content.
  class Memo {
   public:
    // None: not known.
    std::optional<bool> Find(uint32_t program) const {
      const uint64_t entry = Slot(program).load(std::memory_order_relaxed);
      if (entry >> 2 != program) return std::nullopt;
      return (entry & 1) != 0;
    }
    void Store(uint32_t program, bool verdict) {
      const uint64_t entry = uint64_t{program} << 2 | 2 | (verdict ? 1 : 0);
      Slot(program).store(entry, std::memory_order_relaxed);
    }

   private:
    static constexpr size_t kSlots = 32;
    const std::atomic<uint64_t>& Slot(uint32_t program) const { return slots_[program % kSlots]; }
    std::atomic<uint64_t>& Slot(uint32_t program) { return slots_[program % kSlots]; }

    std::array<std::atomic<uint64_t>, kSlots> slots_{};
  };
  Memo& memo() const { return memo_; }

 private:
  struct Named {
    Symbol domain{};
    Symbol id{};
    Value value{};

    uint64_t key() const { return Key(domain, id); }
  };
  // Sorted by key, the two symbols' numbers; the keys lie apart because only they are searched.
  struct Table {
    std::vector<uint64_t> keys;
    std::vector<Named> entries;
  };

  struct Converter;

  static uint64_t Key(Symbol domain, Symbol id) {
    return uint64_t{domain.id()} << 32 | uint64_t{id.id()};
  }
  static const Value* Find(const Table& table, Symbol domain, Symbol id);
  static Table MakeTable(std::vector<Named> named);
  static Value TableAsMap(Arena& arena, const Table& table);
  Named MakeNamed(std::string_view name, Value value) const;
  Value Convert(const DeviceContent::Attribute& attribute);
  Value ConvertVersion(std::string_view attribute, std::string_view text);

  Arena arena_;
  std::string driver_text_;
  Value driver_{};
  bool shareable_ = false;
  Table attributes_;
  Table capacity_;
  std::optional<std::string> error_;
  mutable Memo memo_;
};

}  // namespace ks::cel
