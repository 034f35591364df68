// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/front_answers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/registry/snapshot.h"
#include "apiserver/store/failure.h"

namespace ks::apiserver {
namespace {

constexpr size_t kEarlierListsBytes = 256U << 20;

struct CodeName {
  int code;
  std::string_view phrase;
  std::string_view reason;  // of a Status with this code
};
constexpr std::array kCodes{
    CodeName{200, "OK", ""},
    CodeName{201, "Created", ""},
    CodeName{202, "Accepted", ""},
    CodeName{204, "No Content", ""},
    CodeName{304, "Not Modified", ""},
    CodeName{400, "Bad Request", "BadRequest"},
    CodeName{401, "Unauthorized", "Unauthorized"},
    CodeName{403, "Forbidden", "Forbidden"},
    CodeName{404, "Not Found", "NotFound"},
    CodeName{405, "Method Not Allowed", "MethodNotAllowed"},
    CodeName{406, "Not Acceptable", "NotAcceptable"},
    CodeName{408, "Request Timeout", "Timeout"},
    CodeName{409, "Conflict", "Conflict"},
    CodeName{410, "Gone", "Expired"},
    CodeName{413, "Request Entity Too Large", "RequestEntityTooLarge"},
    CodeName{415, "Unsupported Media Type", "UnsupportedMediaType"},
    CodeName{422, "Unprocessable Entity", "Invalid"},
    CodeName{429, "Too Many Requests", "TooManyRequests"},
    CodeName{431, "Request Header Fields Too Large", ""},
    CodeName{500, "Internal Server Error", "InternalError"},
    CodeName{501, "Not Implemented", "MethodNotAllowed"},
    CodeName{502, "Bad Gateway", "InternalError"},
    CodeName{503, "Service Unavailable", "ServiceUnavailable"},
    CodeName{504, "Gateway Timeout", "Timeout"},
};

const CodeName* FindCode(int code) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(),
                                   [code](const CodeName& each) { return each.code == code; });
  return found == kCodes.end() ? nullptr : found;
}

bool MayAdminister(const UserInfo& user) {
  return std::find(user.groups.begin(), user.groups.end(), "system:masters") != user.groups.end();
}

ApiResponse NotAllowed(const ApiRequest& request, std::string allowed) {
  ApiResponse answer = StatusAnswer(MethodNotAllowed(request.method));
  answer.headers.emplace_back("Allow", std::move(allowed));
  return answer;
}

ApiResponse AnswerFaults(const ApiRequest& request, FaultRules& rules) {
  if (request.method == "POST") {
    if (const Result<void> loaded = rules.Load(request.body); !loaded.ok()) {
      return StatusAnswer(BadRequest(loaded.error().message));
    }
  } else if (request.method == "DELETE") {
    rules.Clear();
  } else if (request.method != "GET") {
    return NotAllowed(request, "GET, POST, DELETE");
  }
  return {.body = rules.Describe()};
}

}  // namespace

std::string HeadText(const ApiResponse& response, Framing framing, bool keep_alive,
                     std::string_view date) {
  const CodeName* code = FindCode(response.status);
  std::string head;
  head.reserve(320);
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += ' ';
  head += code != nullptr ? code->phrase : "";
  head += "\r\nCache-Control: no-cache, private\r\nContent-Type: ";
  head += response.content_type;
  head += "\r\nDate: ";
  head += date;
  head += "\r\n";
  for (const auto& [name, value] : response.headers) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  }
  if (framing == Framing::kLength) {
    head += "Content-Length: ";
    head += std::to_string(response.body.size());
    head += "\r\n";
  } else if (framing == Framing::kChunked) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (!keep_alive) {
    head += "Connection: close\r\n";
  }
  head += "\r\n";
  return head;
}

ApiResponse StatusAnswer(const Failure& failure) {
  ApiResponse answer{.status = failure.code, .body = StatusText(failure) + "\n"};
  if (failure.retry_after_seconds > 0) {
    answer.headers.emplace_back("Retry-After", std::to_string(failure.retry_after_seconds));
  }
  return answer;
}

ApiResponse InjectedAnswer(const Fault& fault) {
  const CodeName* code = FindCode(fault.status);
  Failure failure{.code = fault.status, .reason = fault.reason, .message = "injected fault"};
  if (failure.reason.empty() && code != nullptr) {
    failure.reason = code->reason;
  }
  ApiResponse answer = StatusAnswer(failure);
  if (fault.retry_after >= 0) {
    answer.headers.emplace_back("Retry-After", std::to_string(fault.retry_after));
  }
  return answer;
}

std::optional<Outcome<UserInfo>> UserOfHeader(std::string_view authorization,
                                              const std::map<std::string, UserInfo>& tokens) {
  constexpr std::string_view kBearer = "bearer ";
  const bool bearer = authorization.size() > kBearer.size() &&
                      std::equal(kBearer.begin(), kBearer.end(), authorization.begin(),
                                 [](char a, char b) { return a == b || a - 'a' + 'A' == b; });
  if (!bearer) {
    return std::nullopt;
  }
  std::string_view token = authorization.substr(kBearer.size());
  while (token.starts_with(' ')) {
    token.remove_prefix(1);
  }
  const auto found = tokens.find(std::string(token));
  if (found == tokens.end()) {
    return Outcome<UserInfo>(Unauthorized());
  }
  return Outcome<UserInfo>(found->second);
}

std::optional<ApiResponse> AnswerAdmin(const ApiRequest& request, FaultRules& rules,
                                       Service& service) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (!path.starts_with("/kubesched/")) {
    return std::nullopt;
  }
  if (!MayAdminister(request.user)) {
    return StatusAnswer({.code = 403,
                         .reason = "Forbidden",
                         .message = "forbidden: User \"" + request.user.name +
                                    "\" cannot use path \"" + path +
                                    "\": only group system:masters may"});
  }
  if (path == "/kubesched/faults") {
    return AnswerFaults(request, rules);
  }
  if (path == "/kubesched/snapshot") {
    return request.method == "POST" ? ApiResponse{.body = SnapshotText(service.store())}
                                    : NotAllowed(request, "POST");
  }
  if (path == "/kubesched/forget-history") {
    if (request.method != "POST") {
      return NotAllowed(request, "POST");
    }
    service.store().ForgetHistory();
    service.EndWatches();
    return ApiResponse{.body = "{}\n"};
  }
  return StatusAnswer(PathNotFound());
}

std::string EarlierLists::KeyOf(const ApiRequest& request) {
  return request.accept + "\n" + request.target;
}

const std::string* EarlierLists::Find(const ApiRequest& request) const {
  const auto found = bodies_.find(KeyOf(request));
  return found == bodies_.end() ? nullptr : &found->second;
}

void EarlierLists::Remember(const ApiRequest& request, const std::string& body) {
  std::string& kept = bodies_[KeyOf(request)];
  bytes_ += body.size() - kept.size();
  kept = body;
  while (bytes_ > kEarlierListsBytes && bodies_.size() > 1) {
    bytes_ -= bodies_.begin()->second.size();
    bodies_.erase(bodies_.begin());
  }
}

void EarlierLists::Clear() {
  bodies_.clear();
  bytes_ = 0;
}

}  // namespace ks::apiserver
