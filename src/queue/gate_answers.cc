// SPDX-License-Identifier: Apache-2.0
#include "queue/gate_answers.h"

#include <utility>

#include "queue/pod_stores.h"

namespace ks::queue {

void GateAnswers::Join(MemberRecord& member, bool alone) {
  NoteUnasked(member);
  member.alone = alone;
  if (alone) ++alone_;
}

void GateAnswers::Leave(MemberRecord& member) {
  if (member.unasked) std::erase(unasked_, &member);
  if (member.alone) --alone_;
  member.unasked = member.alone = false;
}

void GateAnswers::NoteUnasked(MemberRecord& member) {
  if (!std::exchange(member.unasked, true)) unasked_.push_back(&member);
}

void GateAnswers::NoteAsked(Asked asked) {
  alike_ = asked.alike;
  asked_ = true;
  everybody_asked_ |= asked.everybody;
}

const GateAnswers::Members& GateAnswers::ToFile(const Members& members) const {
  return everybody_asked_ ? members : unasked_;
}

void GateAnswers::NoteFiled() {
  if (asked_) {
    for (MemberRecord* member : unasked_) member->unasked = false;
    unasked_.clear();
  }
  asked_ = everybody_asked_ = false;
}

}  // namespace ks::queue
