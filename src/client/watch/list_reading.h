// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request of a list: in protobuf its objects are read as they come, so that a large list is
// never held as text, and its server is not kept waiting; in JSON they are read when it is whole.

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "api/proto/list_splitter.h"
#include "client/http/transport.h"
#include "client/rest/rest_client.h"

namespace ks::client {

template <class T>
void Append(std::vector<T> more, std::vector<T>* all) {
  all->insert(all->end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

// Threads: as BodyReader; Take afterwards. Lifetime: borrows the decoder, until Take.
template <class T>
class ListReading final : public BodyReader {
 public:
  explicit ListReading(api::Decoder& decoder) : decoder_(decoder) {}

  bool Begin(const HttpResponse& head) override {
    page_ = api::ListPage<T>();
    splitter_.reset();
    if (head.status == 200 && head.content_type.starts_with(kProtobufType)) splitter_.emplace();
    return splitter_.has_value();
  }

  void OnPiece(std::string_view piece) override {
    splitter_->Add(piece);
    while (const std::optional<std::string> part = splitter_->TakePart()) Read(*part);
  }

  // What the answer brought; `body`: of what was gathered.
  Result<api::ListPage<T>> Take(std::string_view body) {
    if (!splitter_.has_value()) return decoder_.List<T>(body);
    const std::optional<std::string> last = splitter_->Finish();
    if (!last.has_value()) {
      return Error{"invalid protobuf: not a list in the envelope of Kubernetes"};
    }
    Read(*last);
    return std::move(page_);
  }

 private:
  // A failure stays: what comes behind it is not read.
  void Read(std::string_view part) {
    if (!page_.ok()) return;
    Result<api::ListPage<T>> more = decoder_.List<T>(part);
    if (!more.ok()) {
      page_ = more.error();
      return;
    }
    Append(std::move(more->items), &page_->items);
    Append(std::move(more->texts), &page_->texts);
    if (!more->resource_version.empty()) page_->resource_version = more->resource_version;
    if (!more->continue_token.empty()) page_->continue_token = more->continue_token;
  }

  api::Decoder& decoder_;
  std::optional<api::ListSplitter> splitter_;  // nothing: the body is gathered
  Result<api::ListPage<T>> page_ = api::ListPage<T>();
};

}  // namespace ks::client
