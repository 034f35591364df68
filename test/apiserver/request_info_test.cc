// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/request_info.h"

#include <gtest/gtest.h>

namespace ks::apiserver {
namespace {

struct Row {
  std::string name;
  std::string method;
  std::string target;
  std::string want;  // verb group/version resource/subresource ns/name
};

class Requests : public ::testing::TestWithParam<Row> {};

TEST_P(Requests, AreTakenApart) {
  ApiRequest request;
  request.method = GetParam().method;
  request.target = GetParam().target;
  const Outcome<RequestInfo> info = ParseRequest(request);
  ASSERT_TRUE(info.ok());
  const std::string got = !info->resource_request
                              ? info->verb + ' ' + info->path
                              : info->verb + ' ' + info->group + '/' + info->version + ' ' +
                                    info->resource + '/' + info->subresource + ' ' + info->ns +
                                    '/' + info->name;
  EXPECT_EQ(got, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, Requests,
    ::testing::Values(
        Row{"Get", "GET", "/api/v1/namespaces/ns/pods/p", "get /v1 pods/ ns/p"},
        Row{"List", "GET", "/api/v1/namespaces/ns/pods", "list /v1 pods/ ns/"},
        Row{"ListAll", "GET", "/api/v1/pods", "list /v1 pods/ /"},
        Row{"Watch", "GET", "/api/v1/pods?watch=true", "watch /v1 pods/ /"},
        Row{"WatchOne", "GET", "/api/v1/pods?watch=1", "watch /v1 pods/ /"},
        Row{"WatchFalse", "GET", "/api/v1/pods?watch=false", "list /v1 pods/ /"},
        Row{"GetIsNoWatch", "GET", "/api/v1/namespaces/ns/pods/p?watch=1", "get /v1 pods/ ns/p"},
        Row{"OldWatch", "GET", "/api/v1/watch/namespaces/ns/pods", "watch /v1 pods/ ns/"},
        Row{"OldWatchOfOne", "GET", "/api/v1/watch/namespaces/ns/pods/p", "watch /v1 pods/ ns/p"},
        Row{"SelectedName", "GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp",
            "list /v1 pods/ /p"},
        Row{"Create", "POST", "/api/v1/namespaces/ns/pods", "create /v1 pods/ ns/"},
        Row{"Bind", "POST", "/api/v1/namespaces/ns/pods/p/binding", "create /v1 pods/binding ns/p"},
        Row{"Update", "PUT", "/apis/apps/v1/namespaces/ns/replicasets/r",
            "update apps/v1 replicasets/ ns/r"},
        Row{"Patch", "PATCH", "/api/v1/nodes/n/status", "patch /v1 nodes/status /n"},
        Row{"Delete", "DELETE", "/api/v1/nodes/n", "delete /v1 nodes/ /n"},
        Row{"DeleteCollection", "DELETE", "/api/v1/nodes", "deletecollection /v1 nodes/ /"},
        Row{"Namespaces", "GET", "/api/v1/namespaces", "list /v1 namespaces/ /"},
        Row{"Namespace", "GET", "/api/v1/namespaces/ns", "get /v1 namespaces/ ns/ns"},
        Row{"NamespaceStatus", "PUT", "/api/v1/namespaces/ns/status",
            "update /v1 namespaces/status ns/ns"},
        Row{"Escapes", "GET", "/api/v1/namespaces/n%73/pods/%70", "get /v1 pods/ ns/p"},
        Row{"TrailingSlash", "GET", "/api/v1/pods/", "list /v1 pods/ /"},
        Row{"Options", "OPTIONS", "/api/v1/pods", " /v1 pods/ /"},
        Row{"Path", "GET", "/healthz?verbose", "get /healthz"},
        Row{"GroupPath", "GET", "/apis/apps/v1", "get /apis/apps/v1"},
        Row{"VersionPath", "GET", "/api/v1", "get /api/v1"}),
    [](const auto& row) { return row.param.name; });

TEST(RequestInfo, QueriesAreUnescaped) {
  ApiRequest request;
  request.target = "/api/v1/pods?labelSelector=a+in+%28b%2Cc%29&x&limit=5&limit=6";
  const Outcome<RequestInfo> info = ParseRequest(request);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->Query("labelSelector"), "a in (b,c)");
  EXPECT_TRUE(info->HasQuery("x"));
  EXPECT_FALSE(info->HasQuery("y"));
  EXPECT_EQ(info->Query("limit"), "5");
}

TEST(RequestInfo, BadEscapesAreRefused) {
  for (const char* target : {"/api/v1/%zz", "/api/v1/pods?a=%2", "/%"}) {
    ApiRequest request;
    request.target = target;
    const Outcome<RequestInfo> info = ParseRequest(request);
    ASSERT_FALSE(info.ok()) << target;
    EXPECT_EQ(info.failure().code, 400);
  }
}

}  // namespace
}  // namespace ks::apiserver
