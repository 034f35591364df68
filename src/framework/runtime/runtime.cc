// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/runtime.h"

#include <array>
#include <span>
#include <utility>

#include "base/logging.h"
#include "config/print/print.h"
#include "framework/runtime/runtime_impl.h"
#include "framework/runtime/window_judge.h"

namespace ks::framework {

Framework::Framework(const config::Profile& profile, const FrameworkOptions& options)
    : impl_(std::make_unique<Impl>(profile, options, *this)) {}

Framework::~Framework() {
  if (const Result<void> closed = Close(); !closed.ok()) {
    log::Error(closed.error().message, "Failed to close the plugins of a profile",
               {{"profile", ProfileName()}});
  }
}

Result<void> Framework::Close() {
  if (std::exchange(impl_->closed, true)) return {};
  const Result<void> closed = impl_->plugins.Close();
  if (closed.ok()) return {};
  return Error{"framework " + ProfileName() + " failed to close: " + closed.error().message};
}

Result<std::unique_ptr<Framework>> Framework::Create(const Registry& registry,
                                                     const config::Profile& profile,
                                                     const FrameworkOptions& options,
                                                     std::vector<Error>* faults) {
  std::unique_ptr<Framework> framework(new Framework(profile, options));
  Impl& impl = *framework->impl_;
  auto resolved = ResolveProfile(registry, profile, impl.handle, faults);
  if (!resolved.ok()) return resolved.error();
  impl.plugins = ProfilePlugins(std::move(resolved).value());
  KS_LOG(2, "the scheduler starts to work with those plugins",
         {{"Plugins", config::ExpandedPluginsJson(impl.plugins.Expanded())}});
  if (options.metrics != nullptr) impl.plugins.Measure(*options.metrics, profile.name());
  if (options.remember_verdicts && !impl.plugins.lists().local.plugins.empty()) {
    impl.memory = std::make_unique<NodeMemory>();
  }
  return framework;
}

const Handle& Framework::handle() const { return impl_->handle; }

const ProfilePlugins& Framework::plugins() const { return impl_->plugins; }

const QueuePoints& Framework::queue_points() const { return impl_->queue_points; }

const ScorePoints& Framework::score_points() const { return impl_->score_points; }

const BindingPoints& Framework::binding_points() const { return impl_->binding_points; }

const GroupPoints& Framework::group_points() const { return impl_->group_points; }

std::optional<int32_t> Framework::percentage_of_nodes_to_score() const {
  return impl_->percentage_of_nodes_to_score;
}

bool Framework::DrawMetricsSample() const { return impl_->meters.DrawCycle(); }

PointTimer Framework::StartTimer(MetricPoint point) const {
  return impl_->meters.StartTimer(point);
}

CallSampler Framework::Sampler(const CycleState& state) const {
  return impl_->meters.Sampler(state);
}

const RankedWindow* Framework::RankWindow(CycleState& state, const api::Pod& pod, size_t start,
                                          size_t wanted) const {
  const ScorePoints& points = impl_->score_points;
  if (state.verdicts == nullptr || wanted < 2) return nullptr;
  FilterBatch filters(*this, state, pod);
  const PointLists& lists = impl_->plugins.lists();
  if (!filters.IsRemembered() || (filters.rest() & ~lists.place_wise.plugins) != 0) return nullptr;
  if (state.verdicts->ranking().Rests()) return nullptr;
  if (!points.CanScoreUnseen(pod)) return nullptr;
  const PointTimer timer = StartTimer(MetricPoint::kFilter);
  PluginMask asked = 0;
  if (!points.PreScoreUnseen(state, pod, &asked)) {
    state.verdicts->ranking().Rest();
    return nullptr;
  }
  const CallSampler sampler = Sampler(state);
  WindowJudge judge(impl_->handle, lists, sampler, state, pod, filters, impl_->place_space);
  const RankedWindow* window = judge.Look(start, wanted);
  if (window == nullptr) {
    filters.CountInstead(0, {});
    return nullptr;
  }
  // All three points are one look; Filter is what takes the time.
  timer.Stop(Code::kSuccess);
  StartTimer(MetricPoint::kPreScore).Stop(Code::kSuccess);
  StartTimer(MetricPoint::kScore).Stop(Code::kSuccess);
  if (impl_->meters.measures()) {
    std::array<uint32_t, kMaxPlugins> ended_at{};
    window->CountRejections(ended_at);
    const auto fits = static_cast<uint32_t>(window->feasible() + (window->is_cut() ? 1 : 0));
    filters.CountInstead(fits, std::span(ended_at).first(lists.filter.size()));
    points.CountUnseen(state, asked, window->feasible());
  }
  return window;
}

}  // namespace ks::framework
