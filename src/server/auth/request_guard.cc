// SPDX-License-Identifier: Apache-2.0
#include "server/auth/request_guard.h"

#include <memory>
#include <string>
#include <utility>

#include "base/logging.h"
#include "base/text.h"
#include "server/http/error_objects.h"

namespace ks::server {
namespace {

// What is left to know of a request when the verdict comes.
struct Asked {
  Request request;
  Admit admit;
};

void OnVerdict(const Asked& asked, Identity caller, const AccessVerdict& verdict) {
  const Request& request = asked.request;
  switch (verdict.kind) {
    case AccessVerdict::Kind::kAllowed:
      asked.admit({.caller = std::move(caller)});
      return;
    case AccessVerdict::Kind::kFailed:
      asked.admit({.refusal = InternalError(request, verdict.reason)});
      return;
    case AccessVerdict::Kind::kNoOpinion:
    case AccessVerdict::Kind::kDenied:
      break;
  }
  KS_LOG(4, "Forbidden", {{"URI", Uri(request)}, {"reason", verdict.reason}});
  asked.admit({.refusal = Forbidden(request, caller.user, verdict.reason)});
}

}  // namespace

Guard MakeGuard(const Authenticator& authenticator, const Authorizer& authorizer) {
  return [&authenticator, &authorizer](const Request& request, Admit admit) {
    auto asked =
        std::make_shared<const Asked>(Asked{.request = request, .admit = std::move(admit)});
    authenticator.Authenticate(request, [&authorizer, asked](Authentication said) {
      if (!said.user) {
        log::Error(said.error, "Unable to authenticate the request");
        asked->admit({.refusal = Unauthorized(asked->request)});
        return;
      }
      const AccessQuestion question{.user = *said.user,
                                    .verb = LowerCase(asked->request.method),
                                    .path = asked->request.path};
      authorizer.Authorize(question,
                           [asked, caller = *std::move(said.user)](const AccessVerdict& verdict) {
                             OnVerdict(*asked, caller, verdict);
                           });
    });
  };
}

}  // namespace ks::server
