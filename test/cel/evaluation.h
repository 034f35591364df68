// SPDX-License-Identifier: Apache-2.0
#pragma once
// One expression on one device, as a text: what the tables of test/cel compare.

#include <cstdint>
#include <string>
#include <string_view>

#include "cel/device.h"
#include "cel/program.h"

namespace ks::cel {

// A device with something of every type: domain d.io with i, s, b, v, sl, il; model of its driver.
inline DeviceContent SampleDevice() {
  return DeviceContent{
      .driver = "gpu.example.com",
      .attributes = {{.name = "d.io/i", .value = int64_t{42}},
                     {.name = "d.io/s", .value = std::string("abc")},
                     {.name = "d.io/b", .value = true},
                     {.name = "d.io/v", .value = VersionText{"1.2.3"}},
                     {.name = "d.io/sl", .value = std::vector<std::string>{"x", "y"}},
                     {.name = "d.io/il", .value = std::vector<int64_t>{1, 2, 3}},
                     {.name = "model", .value = std::string("a100")}},
      .capacity = {{.name = "d.io/memory", .value = *api::Quantity::Parse("40Gi")}}};
}

struct Evaluated {
  std::string text{};  // "true", "false", the name of another type, or the error
  uint64_t cost = 0;
};

inline Evaluated EvaluateOnSample(std::string_view expression) {
  static const auto device = Device::Make(SampleDevice());
  const auto program = Program::Compile(expression, Program::Wanted::kAny);
  if (!program.ok()) return {.text = program.error().message};
  Context context(device.get(), {});
  const Value value = (*program)->Run(context);
  if (value.is_error()) return {std::string(value.view()), context.cost()};
  if (value.is(Kind::kBool)) return {value.boolean ? "true" : "false", context.cost()};
  return {std::string(RuntimeTypeName(value)), context.cost()};
}

// A row of a table: an expression that is true, or an error.
struct Row {
  std::string_view expression{};
  std::string_view wanted = "true";
};

}  // namespace ks::cel
