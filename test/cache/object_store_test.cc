// SPDX-License-Identifier: Apache-2.0
#include "cache/object_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/builders.h"
#include "testing/deltas.h"

namespace ks::cache {
namespace {

using ks::testing::Delete;
using ks::testing::MakePod;
using ks::testing::Replace;
using ks::testing::Upsert;

// Writes each call as text.
class Recorder final : public ObjectHandler<api::Pod> {
 public:
  void Add(const api::PodPtr& pod) override { calls.push_back("add " + Text(*pod)); }
  void Update(const api::PodPtr& old_pod, const api::PodPtr& new_pod) override {
    calls.push_back("update " + Text(*old_pod) + " -> " + Text(*new_pod) +
                    (IsRecreated(*old_pod, *new_pod) ? " recreated" : ""));
  }
  void Delete(const api::PodPtr& pod, bool final_state_unknown) override {
    calls.push_back("delete " + Text(*pod) + (final_state_unknown ? " unknown" : ""));
  }
  std::vector<std::string> Take() { return std::exchange(calls, {}); }

  std::vector<std::string> calls;

 private:
  static std::string Text(const api::Pod& pod) {
    return pod.meta.Key() + "@" + pod.meta.resource_version;
  }
};

api::PodPtr PodAt(const std::string& name, const std::string& version) {
  return MakePod().Name(name).ResourceVersion(version).Obj();
}
using Calls = std::vector<std::string>;

TEST(ObjectStoreTest, UpsertsAndDeletes) {
  ObjectStore<api::Pod> store;
  Recorder recorder;
  store.Apply(Upsert(PodAt("p", "1")), recorder);
  store.Apply(Upsert(PodAt("p", "2")), recorder);
  EXPECT_EQ(store.Get("ns/p")->meta.resource_version, "2");
  store.Apply(Delete(PodAt("p", "3")), recorder);
  store.Apply(Delete(PodAt("p", "3")), recorder);  // unknown by now
  EXPECT_EQ(recorder.calls, (Calls{"add ns/p@1", "update ns/p@1 -> ns/p@2", "delete ns/p@3"}));
  EXPECT_EQ(store.Get("ns/p"), nullptr);
  EXPECT_EQ(store.size(), 0U);
}

TEST(ObjectStoreTest, ReplaceDeletesFirstThenKeepsTheReceivedOrder) {
  ObjectStore<api::Pod> store;
  Recorder recorder;
  store.Apply(Replace<api::Pod>({PodAt("c", "1"), PodAt("a", "1"), PodAt("b", "1")}), recorder);
  EXPECT_EQ(recorder.Take(), (Calls{"add ns/c@1", "add ns/a@1", "add ns/b@1"}));

  store.Apply(Replace<api::Pod>({PodAt("d", "5"), PodAt("b", "1")}), recorder);
  EXPECT_EQ(recorder.Take(), (Calls{"delete ns/a@1 unknown", "delete ns/c@1 unknown", "add ns/d@5",
                                    "update ns/b@1 -> ns/b@1"}));
  EXPECT_EQ(store.List().size(), 2U);
  EXPECT_EQ(store.List()[0]->meta.name, "b");
}

TEST(ObjectStoreTest, MissedDeleteAndCreateIsOneUpdate) {
  ObjectStore<api::Pod> store;
  Recorder recorder;
  store.Apply(Upsert(PodAt("p", "1")), recorder);
  store.Apply(Replace<api::Pod>({MakePod().Name("p").Uid("other").ResourceVersion("9").Obj()}),
              recorder);
  EXPECT_EQ(recorder.calls, (Calls{"add ns/p@1", "update ns/p@1 -> ns/p@9 recreated"}));
}

TEST(ObjectStoreTest, StoreHasChangedBeforeTheCall) {
  class Looker final : public ObjectHandler<api::Pod> {
   public:
    explicit Looker(const ObjectStore<api::Pod>& store) : store_(store) {}
    void Add(const api::PodPtr& pod) override { EXPECT_EQ(store_.Get(pod->meta.Key()), pod); }
    void Update(const api::PodPtr&, const api::PodPtr& pod) override { Add(pod); }
    void Delete(const api::PodPtr& pod, bool) override {
      EXPECT_EQ(store_.Get(pod->meta.Key()), nullptr);
    }

   private:
    const ObjectStore<api::Pod>& store_;
  };
  ObjectStore<api::Pod> store;
  Looker looker(store);
  store.Apply(Upsert(PodAt("p", "1")), looker);
  store.Apply(Upsert(PodAt("p", "2")), looker);
  store.Apply(Replace<api::Pod>({}), looker);
}

}  // namespace
}  // namespace ks::cache
