// SPDX-License-Identifier: Apache-2.0
#include "config/read/manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks::config {
namespace {

constexpr const char* kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

// `Name@line+indent` for each, ";" between.
std::string Found(const std::string& file) {
  std::string text;
  for (const Embedded& each : FindConfigurations(file)) {
    text += (text.empty() ? "" : "; ") + each.Name() + "@" + std::to_string(each.place.line) + "+" +
            std::to_string(each.indent);
  }
  return text;
}

TEST(Manifest, AFileThatIsOneIsTakenWhole) {
  for (const std::string& file : {
           std::string(kHead),
           std::string(kHead) + "---\nkind: ConfigMap\ndata: {a: 'kind: "
                                "Policy'}\n",
           std::string(),
           std::string("a: [\n"),
           std::string("kind: Deployment\n"),
           std::string("{\"kind\": \"Policy\"}"),
           // Upstream reads the first document: none.
           std::string("# c\n---\n") + kHead,
           std::string("a: [\n---\n") + kHead,
       }) {
    const std::vector<Embedded> found = FindConfigurations(file);
    ASSERT_EQ(found.size(), 1u) << file;
    EXPECT_EQ(found[0].text, file);
    EXPECT_EQ(found[0].Name(), "");
    EXPECT_EQ(found[0].InFile({.line = 3, .column = 4}).line, 3);
    EXPECT_EQ(found[0].InFile({.line = 0, .column = 0}).line, 0);
  }
}

TEST(Manifest, FindsDataKeys) {
  EXPECT_EQ(Found("kind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: x\n  c.yaml: |\n\n    kind: "
                  "KubeSchedulerConfiguration\n"),
            "key c.yaml of ConfigMap m@6+4");
  EXPECT_EQ(
      Found("kind: ConfigMap\nmetadata: {name: m, namespace: ns}\ndata: {c: \"kind: Policy\"}"),
      "key c of ConfigMap ns/m@3+-1");
  // base64 of "kind: Policy".
  EXPECT_EQ(Found("kind: Secret\nmetadata: {name: s}\ndata: {c: a2luZDogUG9saWN5}\n"),
            "key c of Secret s@3+-1");
  EXPECT_EQ(Found("kind: Pod\n---\nkind: List\nitems:\n- kind: ConfigMap\n  metadata: {name: m}\n"
                  "  data:\n    c: |-\n      kind: Policy\n"),
            "key c of ConfigMap m@9+6");
  EXPECT_EQ(
      Found("{\"kind\": \"ConfigMap\", \"data\": {\"c\": \"{\\\"kind\\\": \\\"Policy\\\"}\"}}"),
      "key c of ConfigMap@1+-1");
  EXPECT_EQ(Found(std::string("kind: Pod\n---\n") + kHead), "document at line 2@2+0");
  // What was never a scheduler's is not taken for one.
  EXPECT_EQ(Found("kind: ConfigMap\ndata: {c: 'kind: Policy\\n\\napiVersion: audit.k8s.io/v1'}\n"),
            "@0+0");
}

TEST(Manifest, PlacesAreThoseOfTheFile) {
  const auto found = FindConfigurations(
      "kind: Pod\n---\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  c: |\n    kind: "
      "KubeSchedulerConfiguration\n    foo: 1\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text, "kind: KubeSchedulerConfiguration\nfoo: 1\n");
  const Place foo = found[0].InFile({.line = 2, .column = 1});
  EXPECT_EQ(foo.line, 8);
  EXPECT_EQ(foo.column, 5);
}

TEST(Manifest, ChoosesByKey) {
  const std::string file =
      "kind: ConfigMap\nmetadata: {name: m}\ndata: {a: 'kind: Policy', b: 'kind: Policy'}\n---\n"
      "kind: ConfigMap\nmetadata: {name: other, namespace: sys}\ndata: {a: 'kind: Policy'}\n";
  const auto error = [&](const std::string& key) {
    const auto chosen = ChooseConfiguration(file, key);
    return chosen.ok() ? "ok: " + chosen->Name() : chosen.error().message;
  };
  EXPECT_EQ(error("b"), "ok: key b of ConfigMap m");
  EXPECT_EQ(error("other/a"), "ok: key a of ConfigMap sys/other");
  EXPECT_EQ(error("m/a"), "ok: key a of ConfigMap m");
  const std::string names =
      "key a of ConfigMap m, key b of ConfigMap m, key a of ConfigMap sys/other";
  EXPECT_EQ(error(""),
            "the file holds 3 configurations; choose one with --key KEY or --key "
            "NAME/KEY: " +
                names);
  EXPECT_EQ(error("x"), "no configuration under the key \"x\": there is " + names);
}

}  // namespace
}  // namespace ks::config
