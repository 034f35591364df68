// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unpacks a gzip body as it comes.

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace ks::client {

// Threads: one at a time.
class Inflater {
 public:
  Inflater();

  // Appends to `out` what `packed`, the next piece of the body, holds. False: it is no gzip, or
  // something follows its end.
  bool Add(std::string_view packed, std::string* out);
  // The body was whole.
  bool IsDone() const { return done_; }

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  std::unique_ptr<z_stream_s, End> stream_;  // null: out of memory
  bool done_ = false;
};

}  // namespace ks::client
