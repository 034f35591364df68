// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/expression.h"

#include <utility>

#include "base/check.h"

namespace ks::plugins {
namespace {

// Of a program that is kept: some forty operations.
constexpr size_t kSmall = size_t{16} << 10;

}  // namespace

Expression::Expression(cel::Engine& engine, std::string text, cel::Program::Wanted wanted) {
  Result<ProgramPtr> compiled = engine.Compile(text, wanted);
  if (!compiled.ok()) {
    error_ = compiled.error().message;
    return;
  }
  const ProgramPtr& program = *compiled;
  weight_ = program->weight();
  if (program->bytes() <= kSmall) {
    kept_ = program;
    return;
  }
  left_bytes_ = program->bytes();
  left_ = std::shared_ptr<Left>(
      new Left{.engine = engine, .wanted = wanted, .text = std::move(text), .last = program});
}

Expression::ProgramPtr Expression::program() const {
  if (left_ == nullptr) return kept_;
  const MutexLock lock(left_->mutex);
  ProgramPtr program = left_->last.lock();
  if (program != nullptr) return program;
  Result<ProgramPtr> compiled = left_->engine.Compile(left_->text, left_->wanted);
  KS_CHECK(compiled.ok(), "a text that compiled before");
  left_->last = *compiled;
  return std::move(*compiled);
}

size_t Expression::bytes() const {
  size_t bytes = sizeof(*this) + error_.size();
  if (kept_ != nullptr) bytes += kept_->bytes();
  if (left_ != nullptr) bytes += sizeof(Left) + left_->text.size();
  return bytes;
}

}  // namespace ks::plugins
