// SPDX-License-Identifier: Apache-2.0
#pragma once
// Status: what a plugin answers. A code, reasons, optionally an error text, and the plugin that
// caused it. Not for failures outside the framework: those are Results.
//
// Upstream: docs/spec/framework.md section 1, docs/spec/cycle.md section 2.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::framework {

enum class Code : uint8_t {
  kSuccess = 0,
  kError = 1,
  kUnschedulable = 2,
  kUnschedulableAndUnresolvable = 3,
  kWait = 4,
  kSkip = 5,
  kPending = 6,
};

// "Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending".
std::string_view CodeText(Code code);

// One pointer wide; success is the null pointer, so the good path allocates nothing. Copies share
// one immutable body: a plugin keeps its constant rejections as members or statics and returns
// copies, which costs one atomic increment per node and formats nothing. Threads: like a value;
// bodies are shared across threads.
class [[nodiscard]] Status {
 public:
  Status() = default;  // Success
  // Requires: code != kSuccess unless there are no reasons. `plugin` may be empty: the runtime
  // stamps it.
  Status(Code code, std::vector<std::string> reasons, std::string plugin = {});
  // Code Error with an error object of that text.
  static Status Error(std::string text);
  // A rejection that also carries an error object, whose text comes first among the reasons.
  static Status WithError(Code code, std::string error, std::vector<std::string> reasons = {});

  Status(const Status& other) : body_(other.body_) { Ref(); }
  Status(Status&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  Status& operator=(const Status& other) {
    Status copy(other);
    std::swap(body_, copy.body_);
    return *this;
  }
  Status& operator=(Status&& other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~Status() { Unref(); }

  Code code() const { return body_ == nullptr ? Code::kSuccess : body_->code; }
  bool ok() const { return code() == Code::kSuccess; }
  bool IsSkip() const { return code() == Code::kSkip; }
  bool IsWait() const { return code() == Code::kWait; }
  // Unschedulable, UnschedulableAndUnresolvable or Pending.
  bool IsRejected() const {
    const Code c = code();
    return c == Code::kUnschedulable || c == Code::kUnschedulableAndUnresolvable ||
           c == Code::kPending;
  }

  // The error's text first if there is one, then the list. Empty for success.
  const std::vector<std::string>& reasons() const;
  // The reasons joined with ", ".
  std::string Message() const;
  // The attached error's text, if there is one.
  const std::optional<std::string>& error() const;
  // As error (docs/spec/framework.md 1): the attached error's text, else the message; "%!w(<nil>)"
  // for Success, Wait and Skip, which have no error, as upstream's texts show it.
  std::string ErrorText() const;
  // The plugin that caused it; empty unless set.
  std::string_view plugin() const;
  // This status with the plugin set; shares the body when it already is.
  Status WithPlugin(std::string_view plugin) const;

  // Identifies the shared body: equal ids have equal content. For counting reasons without
  // comparing texts.
  const void* id() const { return body_; }

  // Code, error, reasons and plugin are equal.
  friend bool operator==(const Status& a, const Status& b);

 private:
  struct Body {
    std::atomic<uint32_t> references{1};
    Code code = Code::kError;
    std::vector<std::string> reasons;
    std::optional<std::string> error;
    std::string plugin;
  };
  void Ref() const {
    if (body_ != nullptr) body_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    if (body_ != nullptr && body_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete body_;
    }
  }

  Body* body_ = nullptr;
};

}  // namespace ks::framework
