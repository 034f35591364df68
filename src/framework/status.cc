// SPDX-License-Identifier: Apache-2.0
#include "framework/status.h"

#include "base/check.h"

namespace ks::framework {

std::string_view CodeText(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "";
}

Status::Status(Code code, std::vector<std::string> reasons, std::string plugin) {
  if (code == Code::kSuccess) {
    KS_CHECK(reasons.empty(), "a successful status has no reasons");
    return;
  }
  body_ = new Body;
  body_->code = code;
  body_->reasons = std::move(reasons);
  body_->plugin = std::move(plugin);
}

Status Status::Error(std::string text) { return WithError(Code::kError, std::move(text)); }

Status Status::WithError(Code code, std::string error, std::vector<std::string> reasons) {
  reasons.insert(reasons.begin(), error);
  Status status(code, std::move(reasons));
  status.body_->error = std::move(error);
  return status;
}

const std::vector<std::string>& Status::reasons() const {
  static const std::vector<std::string> none;
  return body_ == nullptr ? none : body_->reasons;
}

std::string Status::Message() const {
  std::string message;
  for (const std::string& reason : reasons()) {
    if (&reason != &reasons().front()) message += ", ";
    message += reason;
  }
  return message;
}

const std::optional<std::string>& Status::error() const {
  static const std::optional<std::string> none;
  return body_ == nullptr ? none : body_->error;
}

std::string Status::ErrorText() const {
  const Code c = code();
  if (c == Code::kSuccess || c == Code::kWait || c == Code::kSkip) return "%!w(<nil>)";
  return error() ? *error() : Message();
}

std::string_view Status::plugin() const {
  return body_ == nullptr ? std::string_view() : std::string_view(body_->plugin);
}

Status Status::WithPlugin(std::string_view plugin) const {
  if (body_ == nullptr || body_->plugin == plugin) return *this;
  Status copy(body_->code, body_->reasons, std::string(plugin));
  copy.body_->error = body_->error;
  return copy;
}

bool operator==(const Status& a, const Status& b) {
  if (a.body_ == b.body_) return true;
  return a.code() == b.code() && a.error() == b.error() && a.reasons() == b.reasons() &&
         a.plugin() == b.plugin();
}

}  // namespace ks::framework
