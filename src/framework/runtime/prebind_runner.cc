// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/prebind_runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "framework/metrics/framework_metrics.h"

namespace ks::framework {
namespace {

constexpr std::string_view kGroupCause = "some other PreBind operation failed";
constexpr std::string_view kCanceled = "context canceled";

Status FromApi(const std::optional<api::ApiError>& error) {
  if (!error.has_value()) return {};
  return Status::Error(error->message.empty() ? error->reason : error->message);
}

}  // namespace

// Shared, so that operations that report after the runner's end find nothing instead of a dangling
// pointer.
class PreBindRunner::Run : public std::enable_shared_from_this<PreBindRunner::Run> {
 public:
  Run(std::vector<std::vector<BindingPoints::PreBindMember>> groups, PreBindRequest request,
      const PreBindEnvironment& environment, Done done)
      : groups_(std::move(groups)),
        request_(std::move(request)),
        environment_(environment),
        done_(std::move(done)) {}

  std::optional<Status> Start() {
    BeginGroup();
    if (!result_.has_value()) return std::nullopt;
    told_ = true;
    return result_;
  }

  void Poll(TimePoint now) {
    const auto keep_alive = shared_from_this();
    for (size_t i = 0; i < members_.size() && !failure_.has_value(); ++i) {
      const size_t group = group_;
      Ask(i, now);
      if (group != group_) break;  // the members of the next group were asked when they began
    }
    TellResult();
  }

  PreBindWait Wait() const {
    PreBindWait wait;
    if (failure_.has_value()) return wait;
    for (const Member& member : members_) {
      if (!Waits(member)) continue;
      const std::optional<TimePoint>& deadline = member.step.deadline;
      if (deadline && (!wait.deadline || *deadline < *wait.deadline)) wait.deadline = deadline;
      if (member.step.concerned_by == nullptr) {
        wait.for_any_change = true;
        continue;
      }
      std::vector<ObjectChange> objects = member.step.concerned_by();
      std::move(objects.begin(), objects.end(), std::back_inserter(wait.objects));
    }
    return wait;
  }

  bool Cancel(std::string_view cause) {
    if (failure_.has_value() || result_.has_value()) return false;
    cause_ = cause;
    const auto obeying = std::find_if(members_.begin(), members_.end(), [](const Member& member) {
      return !member.finished && !member.blocking;
    });
    blocking_decides_ = obeying == members_.end();
    const Status canceled = Status::Error(cause_);
    Fail(blocking_decides_ ? canceled
                           : BindingPoints::PreBindFailure(obeying->plugin.name, canceled),
         cause);
    if (!result_.has_value()) return true;
    environment_.post_to_scheduling_thread([weak = weak_from_this()] {
      if (const auto run = weak.lock()) run->TellResult();
    });
    return true;
  }

  std::vector<std::string_view> Unfinished() const {
    std::vector<std::string_view> names;
    for (const Member& member : members_) {
      if (!member.finished) names.push_back(member.plugin.name);
    }
    return names;
  }

  bool finished() const { return result_.has_value(); }

 private:
  struct Member {
    BindingPoints::PreBindMember plugin;
    std::unique_ptr<PreBindSequence> sequence;
    PreBindStep step;
    TimePoint start;         // for the sampler
    TimePoint seen{};        // for the observer
    size_t outstanding = 0;  // calls or the blocking function of the step that have not reported
    bool blocking = false;   // the blocking function is under way
    Status step_status;      // the first failed call of the step
    bool finished = false;
  };

  static bool Waits(const Member& member) {
    return !member.finished && member.outstanding == 0 && member.step.condition != nullptr;
  }

  // Goes through groups until one has to wait, one fails, or all are done.
  void BeginGroup() {
    for (; group_ < groups_.size(); ++group_) {
      members_.clear();
      for (const BindingPoints::PreBindMember& plugin : groups_[group_]) {
        Member& member = members_.emplace_back();
        member.plugin = plugin;
        member.start = request_.sampler.Now();
        if (request_.observer != nullptr) member.seen = request_.observer->Now();
        member.sequence = plugin.plugin->PreBind(*request_.state, request_.pod, request_.node_name);
        KS_CHECK(member.sequence != nullptr, "PreBind returns a sequence");
      }
      for (size_t i = 0; i < members_.size() && !failure_.has_value(); ++i) Advance(i, Status());
      if (failure_.has_value()) return;
      if (!GroupFinished()) return;
    }
    members_.clear();
    result_ = Status();
  }

  bool GroupFinished() const {
    return std::all_of(members_.begin(), members_.end(),
                       [](const Member& member) { return member.finished; });
  }

  // Asks the sequence for steps until it has to wait for something.
  void Advance(size_t index, Status previous) {
    Member& member = members_[index];
    while (!failure_.has_value()) {
      member.step = member.sequence->Next(previous);
      member.step_status = Status();
      if (failure_.has_value()) return;  // the plugin itself had the pod canceled
      if (member.step.finished) {
        Finish(&member, member.step.status.code());
        if (!member.step.status.ok()) {
          Fail(BindingPoints::PreBindFailure(member.plugin.name, member.step.status), kGroupCause);
        }
        return;
      }
      if (StartOperations(index)) return;
      std::optional<Status> verdict = member.step.condition();
      if (!verdict.has_value()) return;
      previous = *std::move(verdict);
    }
  }

  // False when the step has only a condition.
  bool StartOperations(size_t index) {
    Member& member = members_[index];
    if (member.step.blocking != nullptr) {
      member.outstanding = 1;
      member.blocking = true;
      environment_.run_blocking([blocking = std::move(member.step.blocking),
                                 report = Reporter(index)] { report(blocking()); });
      return true;
    }
    if (member.step.calls.empty()) {
      KS_CHECK(member.step.condition != nullptr,
               "a PreBind step has something to do or is finished");
      return false;
    }
    member.outstanding = member.step.calls.size();
    const std::vector<PreBindStep::Call> calls = std::move(member.step.calls);
    const auto start_calls = [this, index, &calls] {
      for (const PreBindStep::Call& call : calls) {
        call(*environment_.api,
             [report = Reporter(index)](const std::optional<api::ApiError>& error) {
               report(FromApi(error));
             });
      }
    };
    if (request_.observer == nullptr) {
      start_calls();
    } else {
      request_.observer->Within(start_calls);
    }
    return true;
  }

  // Takes the result of one operation of the member's step, on any thread.
  std::function<void(Status)> Reporter(size_t index) {
    return [weak = weak_from_this(), post = environment_.post_to_scheduling_thread,
            index](Status status) {
      post([weak, index, status = std::move(status)] {
        if (const auto run = weak.lock()) run->OperationDone(index, status);
      });
    };
  }

  void OperationDone(size_t index, const Status& status) {
    Member& member = members_[index];
    KS_CHECK(member.outstanding > 0, "an operation of PreBind reports once");
    if (member.step_status.ok()) member.step_status = status;
    const bool blocking = std::exchange(member.blocking, false);
    if (--member.outstanding == 0) {
      if (failure_.has_value()) {
        if (blocking && blocking_decides_ && !status.ok()) BlockingFailed(member, status);
        FinishFailure();
      } else {
        StepDone(index);
      }
    }
    if (!result_.has_value() && request_.wait_changed) request_.wait_changed();
    TellResult();
  }

  // All operations of the step have reported.
  void StepDone(size_t index) {
    Member& member = members_[index];
    if (member.step_status.ok() && member.step.condition != nullptr) {
      std::optional<Status> verdict = member.step.condition();
      if (!verdict.has_value()) return;
      member.step_status = *std::move(verdict);
    }
    Advance(index, member.step_status);
    EndGroup();
  }

  // Asks a waiting member's condition.
  void Ask(size_t index, TimePoint now) {
    Member& member = members_[index];
    if (!Waits(member)) return;
    std::optional<Status> verdict = member.step.condition();
    if (!verdict.has_value() && member.step.deadline.has_value() && *member.step.deadline <= now) {
      verdict = member.step.timeout_status;
    }
    if (!verdict.has_value()) return;
    Advance(index, *std::move(verdict));
    EndGroup();
  }

  void EndGroup() {
    if (failure_.has_value() || !GroupFinished()) return;
    ++group_;
    BeginGroup();
  }

  void Finish(Member* member, Code code) {
    if (std::exchange(member->finished, true)) return;
    const CallSampler& sampler = request_.sampler;
    sampler.Record(member->plugin.meter, code, sampler.Now() - member->start);
    if (request_.observer == nullptr) return;
    request_.observer->PluginsRan(member->plugin.name, MetricPoint::kPreBind, member->seen,
                                  request_.observer->Now() - member->seen);
  }

  // A blocking function noticed that the pod was canceled, or failed by itself.
  void BlockingFailed(const Member& member, const Status& status) {
    blocking_decides_ = false;
    const bool noticed = !status.IsRejected() && status.ErrorText() == kCanceled;
    failure_ =
        BindingPoints::PreBindFailure(member.plugin.name, noticed ? Status::Error(cause_) : status);
  }

  // Nothing new is started from here on.
  void Fail(Status failure, std::string_view cause) {
    failure_ = std::move(failure);
    for (Member& member : members_) {
      if (member.finished) continue;
      if (member.outstanding == 0) Finish(&member, Code::kError);
      member.sequence->Cancel(cause);
    }
    FinishFailure();
  }

  // The result is out when every operation under way has reported.
  void FinishFailure() {
    if (std::any_of(members_.begin(), members_.end(),
                    [](const Member& member) { return member.outstanding > 0; })) {
      return;
    }
    for (Member& member : members_) Finish(&member, Code::kError);
    result_ = failure_;
  }

  void TellResult() {
    if (!result_.has_value() || told_) return;
    told_ = true;
    // The call may destroy the runner.
    const Done done = std::exchange(done_, nullptr);
    done(*result_);
  }

  const std::vector<std::vector<BindingPoints::PreBindMember>> groups_;
  const PreBindRequest request_;
  const PreBindEnvironment& environment_;
  Done done_;
  size_t group_ = 0;
  std::vector<Member> members_;    // of the current group; stable while operations are under way
  std::optional<Status> failure_;  // decided, but operations may be under way
  std::string cause_;              // of the cancellation from outside
  bool blocking_decides_ = false;  // canceled while only blocking functions were under way
  std::optional<Status> result_;
  bool told_ = false;
};

PreBindRunner::PreBindRunner(std::vector<std::vector<BindingPoints::PreBindMember>> groups,
                             PreBindRequest request, const PreBindEnvironment& environment,
                             Done done)
    : run_(std::make_shared<Run>(std::move(groups), std::move(request), environment,
                                 std::move(done))) {}

PreBindRunner::~PreBindRunner() = default;

std::optional<Status> PreBindRunner::Start() { return run_->Start(); }
void PreBindRunner::Poll(TimePoint now) { run_->Poll(now); }
PreBindWait PreBindRunner::Wait() const { return run_->Wait(); }
bool PreBindRunner::Cancel(std::string_view cause) { return run_->Cancel(cause); }
std::vector<std::string_view> PreBindRunner::Unfinished() const { return run_->Unfinished(); }
bool PreBindRunner::finished() const { return run_->finished(); }

}  // namespace ks::framework
