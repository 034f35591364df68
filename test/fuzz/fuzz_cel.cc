// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_cel.h"

#include <array>
#include <cstdint>

#include "cel/device.h"
#include "cel/program.h"

namespace ks::fuzz {
namespace {

using cel::Device;
using cel::DeviceContent;
using cel::Program;

constexpr uint64_t kCostLimit = 20'000;  // so that no input takes long

DeviceContent RichContent() {
  return {.driver = "gpu.example.com",
          .allow_multiple_allocations = true,
          .attributes = {{"d.io/i", int64_t{42}},
                         {"d.io/b", true},
                         {"d.io/s", std::string("abc")},
                         {"d.io/v", cel::VersionText{"1.2.3-rc.1+b"}},
                         {"d.io/il", std::vector<int64_t>{3, 1, 2}},
                         {"d.io/sl", std::vector<std::string>{"a", "b"}},
                         {"own", int64_t{7}}},
          .capacity = {{"d.io/mem", *api::Quantity::Parse("1536Mi")}}};
}

// The verdict is the same at the second time, remembered or not.
std::string CheckVerdicts(const Program& program, const Device& device) {
  const cel::EvalOptions options{.cost_limit = kCostLimit};
  const cel::Verdict first = program.EvaluateAnew(device, options);
  const cel::Verdict second = program.EvaluateAnew(device, options);
  if (first.matches != second.matches || first.error != second.error || first.cost != second.cost) {
    return "another verdict at the second time";
  }
  if (!first.ok() && first.matches) return "an error that matches";
  const auto copy = Device::Make(RichContent());
  const cel::Verdict other = program.EvaluateAnew(*copy, options);
  if (first.matches != other.matches || first.error != other.error) {
    return "another verdict on an equal device";
  }
  return "";
}

}  // namespace

std::string RunCel(std::string_view input) {
  static const auto rich = Device::Make(RichContent());
  static const auto empty = Device::Make(DeviceContent{});
  const auto any = Program::Compile(input, Program::Wanted::kAny);
  const auto selector = Program::Compile(input, Program::Wanted::kSelector);
  if (!any.ok()) {
    if (any.error().message.empty()) return "error without text";
    return selector.ok() ? "a selector that is no expression" : "";
  }
  if ((*any)->type_text().empty()) return "no type";
  for (const Device* device : {rich.get(), empty.get()}) {
    cel::Context context(device, {.cost = kCostLimit});
    const cel::Value value = (*any)->Run(context);
    if (value.is_error() && value.view().empty()) return "error without text";
  }
  if (!selector.ok()) return "";
  return CheckVerdicts(**selector, *rich);
}

}  // namespace ks::fuzz
