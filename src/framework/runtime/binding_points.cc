// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/binding_points.h"

#include <algorithm>
#include <utility>

#include "framework/runtime/point_statuses.h"

namespace ks::framework {
namespace {

constexpr Duration kMaxPermitWait = std::chrono::minutes(15);
constexpr std::string_view kRunningBind = "running Bind plugin";

}  // namespace

Status BindingPoints::RunReservePluginsReserve(CycleState& state, const api::PodPtr& pod,
                                               const std::string& node) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kReserve);
  const CallSampler sampler = meters_.Sampler(state);
  Status outcome;
  for (const ReserveEntry& entry : lists_.reserve) {
    const Status status =
        sampler.Measure(entry.meter, [&] { return entry.plugin->Reserve(state, pod, node); });
    if (status.ok()) continue;
    outcome = RejectedOrWrapped("running Reserve plugin", entry.name, status);
    break;
  }
  timer.Stop(outcome.code());
  return outcome;
}

void BindingPoints::RunReservePluginsUnreserve(CycleState& state, const api::PodPtr& pod,
                                               const std::string& node) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kUnreserve);
  const CallSampler sampler = meters_.Sampler(state);
  for (auto entry = lists_.reserve.rbegin(); entry != lists_.reserve.rend(); ++entry) {
    sampler.MeasureSuccess(entry->unreserve_meter,
                           [&] { entry->plugin->Unreserve(state, pod, node); });
  }
  timer.Stop(Code::kSuccess);
}

PermitOutcome BindingPoints::RunPermitPlugins(CycleState& state, const api::PodPtr& pod,
                                              const std::string& node) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPermit);
  PermitOutcome outcome = AskPermits(state, pod, node);
  timer.Stop(outcome.status.code());
  return outcome;
}

PermitOutcome BindingPoints::AskPermits(CycleState& state, const api::PodPtr& pod,
                                        const std::string& node) const {
  const CallSampler sampler = meters_.Sampler(state);
  PermitOutcome outcome;
  for (const PointEntry<PermitPlugin>& entry : lists_.permit) {
    const PermitResult result =
        sampler.Measure(entry.meter, [&] { return entry.plugin->Permit(state, pod, node); });
    if (result.status.ok()) continue;
    if (!result.status.IsWait()) {
      return {RejectedOrWrapped("running Permit plugin", entry.name, result.status)
                  .WithPlugin(entry.name),
              {}};
    }
    outcome.timeouts[std::string(entry.name)] = std::min(result.timeout, kMaxPermitWait);
    outcome.status = result.status.WithPlugin(entry.name);
  }
  if (outcome.status.IsWait()) {
    std::vector<std::string> reasons = outcome.status.reasons();
    reasons.emplace_back("one or more plugins asked to wait and no plugin rejected pod");
    outcome.status = Status(Code::kWait, std::move(reasons), std::string(outcome.status.plugin()));
  }
  return outcome;
}

Status BindingPoints::RunPreBindPreFlights(CycleState& state, const api::PodPtr& pod,
                                           const std::string& node) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPreBindPreFlight);
  Status status = AskPreFlights(state, pod, node);
  timer.Stop(status.code());
  return status;
}

Status BindingPoints::AskPreFlights(CycleState& state, const api::PodPtr& pod,
                                    const std::string& node) const {
  const CallSampler sampler = meters_.Sampler(state);
  PluginMask skipped = 0;
  PluginMask parallel = 0;
  bool some_will_work = false;
  for (const PreBindEntry& entry : lists_.pre_bind) {
    const PreBindPreFlightResult result = sampler.Measure(
        entry.pre_flight_meter, [&] { return entry.plugin->PreBindPreFlight(state, pod, node); });
    if (result.allow_parallel) parallel |= entry.bit;
    switch (result.status.code()) {
      case Code::kSuccess:
        some_will_work = true;
        break;
      case Code::kSkip:
        skipped |= entry.bit;
        break;
      case Code::kError:
        return Wrapped("running PreBindPreFlight", entry.name, result.status);
      default:
        return Status::Error("PreBindPreFlight " + std::string(entry.name) + " returned \"" +
                             std::string(CodeText(result.status.code())) +
                             "\", which is unsupported. It is supposed to return Success, Skip, "
                             "or Error status");
    }
  }
  state.skip_pre_bind = skipped;
  state.parallel_pre_bind = parallel;
  return some_will_work ? Status() : Status(Code::kSkip, {});
}

std::vector<std::vector<BindingPoints::PreBindMember>> BindingPoints::PreBindGroups(
    const CycleState& state) const {
  std::vector<std::vector<PreBindMember>> groups;
  bool open = false;  // the last group takes further parallel members
  for (const PreBindEntry& entry : lists_.pre_bind) {
    const bool parallel = (state.parallel_pre_bind & entry.bit) != 0;
    const bool skipped = (state.skip_pre_bind & entry.bit) != 0;
    if (!skipped) {
      if (!parallel || !open) groups.emplace_back();
      groups.back().push_back({entry.name, entry.plugin, entry.meter});
      open = parallel;
    } else if (!parallel) {
      open = false;  // splits the group although it does not run
    }
  }
  return groups;
}

Status BindingPoints::PreBindFailure(std::string_view plugin, const Status& status) {
  return RejectedOrWrapped("running PreBind plugin", plugin, status);
}

Status BindingPoints::RunBindPlugins(CycleState& state, const api::PodPtr& pod,
                                     const std::string& node, const BindPlugin::Done& done) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kBind);
  const CallSampler sampler = meters_.Sampler(state);
  for (const PointEntry<BindPlugin>& entry : lists_.bind) {
    // The answer may outlive the framework: nothing of it is used in there.
    const TimePoint start = sampler.Now();
    Status status = entry.plugin->Bind(
        state, pod, node,
        [name = std::string(entry.name), meter = entry.meter, done, timer, sampler,
         start](const Status& answer) {
          Status outcome = answer.ok() ? answer : RejectedOrWrapped(kRunningBind, name, answer);
          sampler.Record(meter, answer.code(), sampler.Now() - start);
          timer.Stop(outcome.code());
          done(std::move(outcome));
        });
    if (status.ok()) return status;
    sampler.Record(entry.meter, status.code(), sampler.Now() - start);
    if (status.IsSkip()) continue;
    Status outcome = RejectedOrWrapped(kRunningBind, entry.name, status);
    timer.Stop(outcome.code());
    return outcome;
  }
  timer.Stop(Code::kSkip);
  return Status(Code::kSkip, {});
}

void BindingPoints::RunPostBindPlugins(CycleState& state, const api::PodPtr& pod,
                                       const std::string& node) const {
  const PointTimer timer = meters_.StartTimer(MetricPoint::kPostBind);
  const CallSampler sampler = meters_.Sampler(state);
  for (const PointEntry<PostBindPlugin>& entry : lists_.post_bind) {
    sampler.MeasureSuccess(entry.meter, [&] { entry.plugin->PostBind(state, pod, node); });
  }
  timer.Stop(Code::kSuccess);
}

}  // namespace ks::framework
