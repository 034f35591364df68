// SPDX-License-Identifier: Apache-2.0
// Device selectors: nanoseconds per evaluation on devices of twelve attributes (time divided by
// items), a remembered verdict, and a compilation.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/device.h"
#include "cel/engine.h"
#include "cel/program.h"
#include "plugins/dynamic_resources/selectors.h"

namespace ks::cel {
namespace {

constexpr int kDevices = 40'000;  // the data is not in the processor's caches

constexpr std::string_view kThreeComparisons =
    R"(device.attributes["gpu.example.com"].model == "a100" && )"
    R"(device.attributes["gpu.example.com"].cores >= 64 && )"
    R"(device.attributes["gpu.example.com"].numa == 1)";

std::shared_ptr<const Device> MakeDevice(int number) {
  DeviceContent content{.driver = "gpu.example.com"};
  content.attributes = {{"model", std::string("a100")},
                        {"cores", int64_t{108}},
                        {"numa", int64_t{1}},
                        {"index", int64_t{number}},
                        {"uuid", "gpu-" + std::to_string(number)},
                        {"ecc", true},
                        {"driverVersion", VersionText{"550.54.15"}},
                        {"k8s.io/pcieRoot", std::string("pci0000:01")}};
  for (int i = 0; i < 4; ++i) content.attributes.push_back({"a" + std::to_string(i), int64_t{i}});
  content.capacity = {{"memory", *api::Quantity::Parse("80Gi")}};
  return Device::Make(content);
}

const std::vector<std::shared_ptr<const Device>>& Devices() {
  static const std::vector<std::shared_ptr<const Device>> kAll = [] {
    std::vector<std::shared_ptr<const Device>> all;
    for (int i = 0; i < kDevices; ++i) all.push_back(MakeDevice(i));
    return all;
  }();
  return kAll;
}

void Evaluate(benchmark::State& state, std::string_view text, bool remembered) {
  const auto program = Program::Compile(text);
  int64_t matching = 0;
  for (auto _ : state) {
    for (const auto& device : Devices()) {
      const Verdict verdict =
          remembered ? (*program)->Evaluate(*device) : (*program)->EvaluateAnew(*device);
      matching += verdict.matches ? 1 : 0;
    }
  }
  if (matching != state.iterations() * kDevices) state.SkipWithError("not every device matches");
  state.SetItemsProcessed(state.iterations() * kDevices);
}

void BM_SelectThreeComparisons(benchmark::State& state) {
  Evaluate(state, kThreeComparisons, false);
}
BENCHMARK(BM_SelectThreeComparisons)->Unit(benchmark::kMicrosecond);

void BM_SelectRemembered(benchmark::State& state) { Evaluate(state, kThreeComparisons, true); }
BENCHMARK(BM_SelectRemembered)->Unit(benchmark::kMicrosecond);

// As the search for devices reads verdicts: by slice and position.
void BM_SelectInSlices(benchmark::State& state) {
  const auto per_slice = static_cast<size_t>(state.range(0));
  Engine engine;
  plugins::SelectorSets sets(engine);
  const auto set = sets.Get({}, {api::DeviceSelector(std::string(kThreeComparisons))});
  std::vector<plugins::SliceVerdicts> slices(kDevices / per_slice);
  int64_t matching = 0;
  const auto ask_all = [&] {
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto verdicts = slices[i].Of(*set, per_slice);
      for (size_t j = 0; j < per_slice; ++j) {
        auto verdict = static_cast<plugins::SelectorSet::Verdict>((*verdicts)[j].load());
        if (verdict == plugins::SelectorSet::Verdict::kNotAsked) {
          verdict = set->Ask(*Devices()[i * per_slice + j]);
          (*verdicts)[j] = static_cast<uint8_t>(verdict);
        }
        matching += verdict == plugins::SelectorSet::Verdict::kYes ? 1 : 0;
      }
    }
  };
  ask_all();
  for (auto _ : state) ask_all();
  if (matching != (state.iterations() + 1) * kDevices) state.SkipWithError("not every device");
  state.SetItemsProcessed(state.iterations() * kDevices);
}
BENCHMARK(BM_SelectInSlices)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

void BM_SelectByDriver(benchmark::State& state) {
  Evaluate(state, R"(device.driver == "gpu.example.com")", false);
}
BENCHMARK(BM_SelectByDriver)->Unit(benchmark::kMicrosecond);

void BM_SelectByCapacityAndVersion(benchmark::State& state) {
  Evaluate(state,
           R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0 && )"
           R"(device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("550.0.0")))",
           false);
}
BENCHMARK(BM_SelectByCapacityAndVersion)->Unit(benchmark::kMicrosecond);

void BM_CompileSelector(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Program::Compile(kThreeComparisons));
}
BENCHMARK(BM_CompileSelector)->Unit(benchmark::kMicrosecond);

void BM_ConvertDevice(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(MakeDevice(7));
}
BENCHMARK(BM_ConvertDevice)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace ks::cel
