// SPDX-License-Identifier: Apache-2.0
#include "framework/name_set.h"

#include "base/mutex.h"

namespace ks::framework {
namespace {

const NameSet::Names kNone;

class Table {
 public:
  // Elements of a std::set stay where they are.
  const NameSet::Names* Share(const NameSet::Names& names) {
    const MutexLock lock(mutex_);
    return &*sets_.insert(names).first;
  }

 private:
  Mutex mutex_;
  std::set<NameSet::Names> sets_ KS_GUARDED_BY(mutex_);
};

Table& Shared() {
  static Table table;
  return table;
}

}  // namespace

NameSet::NameSet() : names_(&kNone) {}

NameSet::NameSet(const Names& names) : names_(names.empty() ? &kNone : Shared().Share(names)) {}

bool NameSet::Insert(const std::string& name) {
  if (names_->contains(name)) return false;
  Names more = *names_;
  more.insert(name);
  *this = NameSet(more);
  return true;
}

}  // namespace ks::framework
