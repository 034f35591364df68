// SPDX-License-Identifier: Apache-2.0
#pragma once
// An expression of a device class, a request or a derived attribute, ready to be evaluated.
//
// Upstream: docs/spec/plugins-dra.md section 6.3 c.

#include <cstddef>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "cel/engine.h"

namespace ks::plugins {

// Keeps small programs. Large ones, a hundred times as large as their text, are left to the engine,
// which forgets those beyond its limit: a claim may have hundreds of them. Then they are compiled
// anew when they are asked for. Threads: any. Lifetime: the engine outlives it.
class Expression {
 public:
  using ProgramPtr = std::shared_ptr<const cel::Program>;

  // Compiles it.
  Expression(cel::Engine& engine, std::string text, cel::Program::Wanted wanted);

  // Null: it does not compile.
  ProgramPtr program() const;
  // Why it does not compile.
  const std::string& error() const { return error_; }
  // What an evaluation can cost (cel/weight.h); 0 if it does not compile.
  size_t weight() const { return weight_; }
  // Of the program, where it is not kept here.
  size_t left_bytes() const { return left_bytes_; }
  // In use here, roughly.
  size_t bytes() const;

 private:
  // Finds a program again that is not kept.
  struct Left {
    cel::Engine& engine;
    const cel::Program::Wanted wanted;
    const std::string text;
    Mutex mutex{};
    std::weak_ptr<const cel::Program> last KS_GUARDED_BY(mutex){};
  };

  ProgramPtr kept_;
  std::shared_ptr<Left> left_;
  std::string error_;
  size_t weight_ = 0;
  size_t left_bytes_ = 0;
};

}  // namespace ks::plugins
