// SPDX-License-Identifier: Apache-2.0
#include "api/proto/list_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "api/decode/decoder.h"
#include "api/proto/proto_envelope.h"
#include "base/random.h"
#include "testing/protobuf.h"

namespace ks::api {
namespace {

using ks::testing::ProtoBody;
using ks::testing::ProtoField;
using ks::testing::ProtoMeta;
using ::testing::ElementsAre;

// A list of nodes: `name` and a label of some length each.
std::string NodeList(const std::vector<size_t>& label_bytes) {
  std::string list = ProtoField(1, ProtoField(2, "10") + ProtoField(3, "next"));
  for (size_t i = 0; i < label_bytes.size(); ++i) {
    std::string label = ProtoField(1, "l");
    protozero::pbf_writer(label).add_string(2, std::string(label_bytes[i], 'x'));
    std::string meta = ProtoField(1, "node-" + std::to_string(i));
    protozero::pbf_writer(meta).add_message(11, label);
    std::string node;
    protozero::pbf_writer(node).add_message(1, meta);
    protozero::pbf_writer(list).add_message(2, node);
  }
  return WriteEnvelope("v1", "NodeList", list);
}

struct Outcome {
  std::vector<std::string> names;
  std::vector<size_t> label_bytes;
  std::string resource_version;
  std::string continue_token;
  size_t parts = 0;
  std::string error;  // of a part; "unfinished": there was no last one

  void Read(const std::string& part) {
    ++parts;
    Decoder decoder;
    std::string padded = part;
    padded.reserve(part.size() + kJsonPadding);
    Result<ListPage<Node>> page = decoder.List<Node>(padded);
    if (!page.ok()) {
      error = page.error().message;
      return;
    }
    for (const auto& node : page->items) {
      names.emplace_back(node->meta.name);
      const Symbol* label = node->meta.labels.Find(Symbol("l"));
      label_bytes.push_back(label == nullptr ? 0 : label->view().size());
    }
    if (!page->resource_version.empty()) resource_version = page->resource_version;
    if (!page->continue_token.empty()) continue_token = page->continue_token;
  }
};

// `cut`: the size of the next piece.
template <class Cut>
Outcome Split(std::string_view body, size_t part_bytes, Cut cut) {
  ListSplitter splitter(part_bytes);
  Outcome outcome;
  while (!body.empty()) {
    const size_t size = std::min<size_t>(body.size(), cut());
    splitter.Add(body.substr(0, size));
    body.remove_prefix(size);
    while (const auto part = splitter.TakePart()) outcome.Read(*part);
  }
  const auto last = splitter.Finish();
  if (last.has_value()) {
    outcome.Read(*last);
  } else {
    outcome.error = "unfinished";
  }
  return outcome;
}

Outcome Whole(std::string_view body) {
  return Split(body, SIZE_MAX, [&] { return body.size(); });
}

// However it is cut, and into whatever parts: the same list.
TEST(ListSplitter, AnyCutGivesTheList) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<size_t> label_bytes(random.Below(40));
    for (size_t& bytes : label_bytes) bytes = random.Below(random.Below(4) == 0 ? 3000 : 150);
    const std::string body = NodeList(label_bytes);
    const size_t part_bytes = 1 + random.Below(4000);
    const size_t most = 1 + random.Below(random.Below(2) == 0 ? 3 : 5000);
    const Outcome outcome = Split(body, part_bytes, [&] { return 1 + random.Below(most); });
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.label_bytes, label_bytes);
    EXPECT_EQ(outcome.names, Whole(body).names);
    EXPECT_EQ(outcome.resource_version, "10");
    EXPECT_EQ(outcome.continue_token, "next");
  }
}

TEST(ListSplitter, PartsAreAsLargeAsAsked) {
  const std::string body = NodeList(std::vector<size_t>(100, 1000));
  EXPECT_EQ(Split(body, 10'000, [] { return 1; }).parts, 10u);
  EXPECT_EQ(Split(body, SIZE_MAX, [] { return 1; }).parts, 1u);
}

TEST(ListSplitter, NothingInIt) {
  const Outcome outcome = Whole(ProtoBody("NodeList", ""));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.parts, 1u);
  EXPECT_THAT(outcome.names, ElementsAre());
}

struct BadCase {
  const char* name;
  std::string body;
  const char* error;
};

class BadList : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadList, IsRefusedHoweverItIsCut) {
  for (const size_t most : {1, 7, 10'000}) {
    const Outcome outcome = Split(GetParam().body, 16, [most] { return most; });
    EXPECT_THAT(outcome.error, ::testing::HasSubstr(GetParam().error)) << most;
  }
}

std::string Good() { return NodeList({10, 20, 30}); }

INSTANTIATE_TEST_SUITE_P(
    All, BadList,
    ::testing::Values(
        BadCase{"Empty", "", "unfinished"},
        BadCase{"Json", "{\"kind\":\"NodeList\"}", "unfinished"},
        BadCase{"OnlyItsBeginning", Good().substr(0, 4), "unfinished"},
        BadCase{"NoList", std::string("k8s\0", 4) + ProtoField(1, ProtoField(2, "NodeList")),
                "unfinished"},
        BadCase{"CutShort", Good().substr(0, Good().size() - 20), "unfinished"},
        // 40 bytes are announced for an item, and the list has fewer.
        BadCase{"ItemBeyondTheList", ProtoBody("NodeList", std::string("\x12\x28zz", 4)),
                "unfinished"},
        // A number where lists have messages.
        BadCase{"NoMessage", ProtoBody("NodeList", std::string("\x10\x01", 2)), "unfinished"},
        BadCase{"EndlessTag", ProtoBody("NodeList", std::string(12, '\xff')), "unfinished"},
        BadCase{"EndlessLength",
                std::string("k8s\0", 4) + ProtoField(1, "") + "\x12" + std::string(11, '\xff'),
                "unfinished"},
        BadCase{"OtherKind", ProtoBody("PodList", ProtoField(2, ProtoMeta("a", "1"))),
                "must be NodeList, not PodList"},
        BadCase{"EncodedContent",
                ProtoBody("NodeList", ProtoField(2, ProtoMeta("a", "1"))) + ProtoField(3, "gzip"),
                "invalid protobuf"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ks::api
