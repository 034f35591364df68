// SPDX-License-Identifier: Apache-2.0
// Sections 2.4 and 2.8 of docs/spec/config.md; decode_test.cc has the texts of whole files.
#include "config/read/routing.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

namespace ks::config {
namespace {

struct Row {
  std::string text;
  std::string_view default_kind;
  std::string want;  // kind or error
};

TEST(RoutingTest, FindsTheKind) {
  const std::string group = "kubescheduler.config.k8s.io";
  const Row rows[] = {
      {"{\"apiVersion\": \"" + group + "/v1\", \"kind\": \"KubeSchedulerConfiguration\"}", "",
       "KubeSchedulerConfiguration"},
      // The last one counts of fields that differ in case only, but null is none.
      {"{\"KIND\": \"NodeAffinityArgs\", \"apiversion\": \"" + group +
           "/v1\", \"kind\": \"VolumeBindingArgs\", \"Kind\": null}",
       "", "VolumeBindingArgs"},
      {"{}", "NodeAffinityArgs", "NodeAffinityArgs"},
      {"~", "NodeAffinityArgs", "NodeAffinityArgs"},
      {"apiVersion: " + group + "/", "NodeAffinityArgs", "NodeAffinityArgs"},
      {"kind: VolumeBindingArgs", "NodeAffinityArgs", "VolumeBindingArgs"},
      {"kind: Foo", "NodeAffinityArgs",
       "no kind \"Foo\" is registered for version \"" + group +
           "/v1\" in scheme \"pkg/runtime/scheme.go:111\""},
      {"apiVersion: v1beta3", "NodeAffinityArgs",
       "no kind \"NodeAffinityArgs\" is registered for version \"v1beta3\" in scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {"apiVersion: foo/", "NodeAffinityArgs",
       "Object 'apiVersion' is missing in 'apiVersion: foo/'"},
      {"apiVersion: a/b/c", "NodeAffinityArgs", "unexpected GroupVersion string: a/b/c"},
      {"kind: 'a\"b'\napiVersion: \"c\\td\"", "",
       R"(no kind "a\"b" is registered for version "c\td" in scheme "pkg/runtime/scheme.go:111")"},
      // Registered upstream by accident, with other fields and no defaults.
      {"{\"apiVersion\": \"" + group + "/__internal\", \"kind\": \"KubeSchedulerConfiguration\"}",
       "",
       "no kind \"KubeSchedulerConfiguration\" is registered for the internal version of group \"" +
           group + "\" in scheme \"pkg/runtime/scheme.go:111\""},
  };
  for (const Row& row : rows) {
    const std::variant<Document, Finding> parsed = ParseDocument(row.text);
    ASSERT_TRUE(std::holds_alternative<Document>(parsed)) << row.text;
    const Document& document = std::get<Document>(parsed);
    const std::variant<std::string, Finding> kind =
        KindOf(document.root, document.syntax, row.text, row.default_kind);
    const std::string* known = std::get_if<std::string>(&kind);
    EXPECT_EQ(known == nullptr ? std::get<Finding>(kind).message : *known, row.want) << row.text;
  }
}

}  // namespace
}  // namespace ks::config
