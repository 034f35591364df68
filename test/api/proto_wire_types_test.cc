// SPDX-License-Identifier: Apache-2.0
// Messages whose fields are numbers where they should be bytes: an error, and no assertion.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <protozero/pbf_writer.hpp>

#include "api/decode/decoder.h"
#include "api/pod.h"
#include "api/proto/list_splitter.h"
#include "api/proto/proto_envelope.h"

namespace ks::api {
namespace {

using protozero::pbf_writer;

constexpr uint32_t kType = 1;
constexpr uint32_t kRaw = 2;
constexpr uint32_t kEncoding = 3;

// The envelope of a pod whose field `number` is a number.
std::string Envelope(uint32_t number) {
  std::string body("k8s\0", 4);
  pbf_writer writer(body);
  if (number == kType) {
    writer.add_uint64(kType, 7);
  } else {
    pbf_writer type(writer, kType);
    type.add_string(1, "v1");
    type.add_string(2, "Pod");
  }
  if (number == kRaw) {
    writer.add_uint64(kRaw, 7);
  } else {
    writer.add_message(kRaw, std::string());
  }
  if (number == kEncoding) writer.add_uint64(kEncoding, 7);
  return body;
}

TEST(ProtoWireTypes, AnEnvelope) {
  for (const uint32_t number : {kType, kRaw, kEncoding}) {
    SCOPED_TRACE(number);
    Decoder decoder;
    EXPECT_FALSE(decoder.Object<Pod>(Envelope(number)).ok());
    EXPECT_FALSE(decoder.List<Pod>(Envelope(number)).ok());
  }
}

TEST(ProtoWireTypes, TheKindInAnEnvelope) {
  std::string body("k8s\0", 4);
  pbf_writer writer(body);
  {
    pbf_writer type(writer, kType);
    type.add_uint64(2, 7);
  }
  EXPECT_FALSE(Decoder().Object<Pod>(body).ok());
}

TEST(ProtoWireTypes, AWatchEvent) {
  std::string type;
  pbf_writer(type).add_uint64(1, 7);
  EXPECT_FALSE(Decoder().Event<Pod>("\n" + type).ok());

  std::string object;
  pbf_writer event(object);
  event.add_string(1, "ADDED");
  event.add_uint64(2, 7);
  EXPECT_FALSE(Decoder().Event<Pod>(object).ok());

  std::string raw;
  pbf_writer outer(raw);
  outer.add_string(1, "ADDED");
  {
    pbf_writer extension(outer, 2);
    extension.add_uint64(1, 7);
  }
  EXPECT_FALSE(Decoder().Event<Pod>(raw).ok());
}

TEST(ProtoWireTypes, AnEntryOfAMap) {
  constexpr uint32_t kMetadata = 1;
  constexpr uint32_t kLabels = 11;
  const auto pod = [](const std::function<void(pbf_writer&)>& add_label) {
    std::string message;
    pbf_writer writer(message);
    {
      pbf_writer meta(writer, kMetadata);
      add_label(meta);
    }
    return WriteEnvelope("v1", "Pod", message);
  };
  EXPECT_FALSE(
      Decoder().Object<Pod>(pod([](pbf_writer& meta) { meta.add_uint64(kLabels, 7); })).ok());
  for (const uint32_t part : {1U, 2U}) {
    EXPECT_FALSE(Decoder()
                     .Object<Pod>(pod([part](pbf_writer& meta) {
                       pbf_writer entry(meta, kLabels);
                       entry.add_uint64(part, 7);
                     }))
                     .ok())
        << part;
  }
}

TEST(ProtoWireTypes, AListInPieces) {
  ListSplitter splitter;
  splitter.Add(Envelope(kRaw));
  EXPECT_EQ(splitter.Finish(), std::nullopt);
}

// Its managed fields cannot be taken out: it stays as it is.
TEST(ProtoWireTypes, TheMetadataOfAKeptText) {
  std::string message;
  pbf_writer(message).add_uint64(1, 7);
  EXPECT_EQ(WithoutManagedFields(message), message);
}

}  // namespace
}  // namespace ks::api
