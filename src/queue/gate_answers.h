// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is remembered of PreEnqueue's answers for the members of one group in the queue, so that not
// all of them have to be asked and placed each time one of them comes: docs/decisions/0050.

#include <cstddef>
#include <vector>

namespace ks::queue {

struct MemberRecord;

// A member is unasked from Join, or a change, to the placement after the next questions.
// Threads: the scheduling thread. Lifetime: members outlive their stay between Join and Leave.
class GateAnswers {
 public:
  using Members = std::vector<MemberRecord*>;

  // `alone`: its answer can change without those of the others.
  void Join(MemberRecord& member, bool alone);
  void Leave(MemberRecord& member);
  // It has changed. Idempotent.
  void NoteUnasked(MemberRecord& member);

  // No answer can change without the others.
  bool ChangeTogether() const { return alone_ == 0; }
  // What one of those that were asked says now holds for all of them.
  bool OneSpeaksForAll() const { return alike_ && ChangeTogether(); }
  const Members& unasked() const { return unasked_; }

  struct Asked {
    bool everybody = false;  // or what they are filed by has changed
    bool alike = false;      // they gave the same answer, and so did those who were not asked
  };
  // The unasked members, at least, have been asked.
  void NoteAsked(Asked asked);
  // Those of `members` that may be filed in the wrong place of their store.
  const Members& ToFile(const Members& members) const;
  // They have been filed, where the last questions wanted.
  void NoteFiled();

 private:
  Members unasked_;
  size_t alone_ = 0;  // members whose answers can change alone
  bool alike_ = false;
  bool asked_ = false;  // since they were filed
  bool everybody_asked_ = false;
};

}  // namespace ks::queue
