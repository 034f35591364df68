// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/store.h"

#include <gtest/gtest.h>

#include "apiserver/store/json_write.h"

namespace ks::apiserver {
namespace {

const KindInfo& Maps() { return *FindKind("v1", "ConfigMap"); }
const KindInfo& Pods() { return *FindKind("v1", "Pod"); }

Json Map(const std::string& ns, const std::string& name, const std::string& value = "") {
  return {{"metadata", {{"namespace", ns}, {"name", name}}}, {"data", {{"v", value}}}};
}

std::vector<std::string> NamesAt(const Store& store, uint64_t version,
                                 const Store::KeyView& from = {}) {
  std::vector<std::string> names;
  const bool known = store.VisitAt(Maps(), version, from, [&names](const ObjectPtr& object) {
    names.push_back(object->ns + '/' + object->name + '=' +
                    object->Parse()["data"]["v"].get<std::string>());
    return true;
  });
  return known ? names : std::vector<std::string>{"forgotten"};
}

using Names = std::vector<std::string>;

TEST(Store, TextHasSortedKeysKindAndVersion) {
  Store store;
  const ObjectPtr object = store.Put(Maps(), Map("a", "b"));
  EXPECT_EQ(object->text,
            R"({"apiVersion":"v1","data":{"v":""},"kind":"ConfigMap","metadata":{"name":"b",)"
            R"("namespace":"a","resourceVersion":"2"}})");
  EXPECT_EQ(object->text.substr(object->version_offset, 2), "2\"");
  EXPECT_EQ(Store::TextAt(*object, 12345),
            R"({"apiVersion":"v1","data":{"v":""},"kind":"ConfigMap","metadata":{"name":"b",)"
            R"("namespace":"a","resourceVersion":"12345"}})");
}

TEST(Store, AnotherVersionIsFoundWhereOthersLookAlike) {
  Store store;
  Json object = Map("a", "b");
  object["metadata"]["annotations"]["resourceVersion"] = "9";
  object["involvedObject"]["resourceVersion"] = "9";
  const Json changed = Json::parse(Store::TextAt(*store.Put(Maps(), object), 70));
  EXPECT_EQ(changed["metadata"]["resourceVersion"], "70");
  EXPECT_EQ(changed["metadata"]["annotations"]["resourceVersion"], "9");
  EXPECT_EQ(changed["involvedObject"]["resourceVersion"], "9");
}

TEST(Store, OneCounterForAllKinds) {
  Store store;
  EXPECT_EQ(store.version(), 1U);
  EXPECT_EQ(store.Put(Maps(), Map("a", "b"))->resource_version, 2U);
  EXPECT_EQ(store.Put(Pods(), Map("a", "b"))->resource_version, 3U);
  EXPECT_EQ(store.Remove(Maps(), "a", "b")->resource_version, 4U);
  EXPECT_EQ(store.version(), 4U);
}

TEST(Store, ListOrderIsThatOfStorageKeys) {
  Store store;
  for (const char* ns : {"a", "a-b", "ab"}) {
    for (const char* name : {"x", "x-y", "x.y"}) store.Put(Maps(), Map(ns, name));
  }
  // '-' and '.' come before '/': a-b/… before a/….
  EXPECT_EQ(NamesAt(store, store.version()),
            (Names{"a-b/x=", "a-b/x-y=", "a-b/x.y=", "a/x=", "a/x-y=", "a/x.y=", "ab/x=", "ab/x-y=",
                   "ab/x.y="}));
}

TEST(Store, LogTellsBeforeAndAfter) {
  Store store;
  const ObjectPtr first = store.Put(Maps(), Map("a", "b", "1"));
  const ObjectPtr second = store.Put(Maps(), Map("a", "b", "2"));
  store.Remove(Maps(), "a", "b");
  uint64_t sequence = *store.SequenceAfter(Maps(), 1);
  const Change* added = store.At(Maps(), sequence++);
  EXPECT_EQ(added->type, Change::Type::kAdded);
  EXPECT_EQ(added->object, first);
  EXPECT_EQ(added->before, nullptr);
  const Change* modified = store.At(Maps(), sequence++);
  EXPECT_EQ(modified->type, Change::Type::kModified);
  EXPECT_EQ(modified->object, second);
  EXPECT_EQ(modified->before, first);
  const Change* deleted = store.At(Maps(), sequence++);
  EXPECT_EQ(deleted->type, Change::Type::kDeleted);
  EXPECT_EQ(deleted->version, 4U);
  EXPECT_EQ(deleted->before, second);
  EXPECT_EQ(deleted->object->Parse()["metadata"]["resourceVersion"], "4");
  EXPECT_EQ(store.At(Maps(), sequence), nullptr);
}

TEST(Store, EarlierStatesComeFromTheLog) {
  Store store;
  store.Put(Maps(), Map("a", "1", "x"));  // 2
  store.Put(Maps(), Map("a", "3", "x"));  // 3
  store.Put(Maps(), Map("a", "1", "y"));  // 4
  store.Put(Maps(), Map("a", "2", "x"));  // 5
  store.Remove(Maps(), "a", "3");         // 6
  store.Put(Maps(), Map("a", "1", "z"));  // 7
  EXPECT_EQ(NamesAt(store, 1), Names{});
  EXPECT_EQ(NamesAt(store, 2), (Names{"a/1=x"}));
  EXPECT_EQ(NamesAt(store, 3), (Names{"a/1=x", "a/3=x"}));
  EXPECT_EQ(NamesAt(store, 4), (Names{"a/1=y", "a/3=x"}));
  EXPECT_EQ(NamesAt(store, 5), (Names{"a/1=y", "a/2=x", "a/3=x"}));
  EXPECT_EQ(NamesAt(store, 6), (Names{"a/1=y", "a/2=x"}));
  EXPECT_EQ(NamesAt(store, 7), (Names{"a/1=z", "a/2=x"}));
  EXPECT_EQ(NamesAt(store, 5, {"a", "2"}), (Names{"a/2=x", "a/3=x"}));
  EXPECT_EQ(NamesAt(store, 5, {"a", "3"}), (Names{"a/3=x"}));
}

TEST(Store, HistoryIsBoundedPerKind) {
  Store store({.history = 3});
  store.Put(Pods(), Map("a", "p"));                                                 // 2
  for (int i = 0; i < 5; ++i) store.Put(Maps(), Map("a", "b", std::to_string(i)));  // 3 … 7
  EXPECT_EQ(store.ForgottenVersion(Maps()), 4U);
  EXPECT_FALSE(store.SequenceAfter(Maps(), 3).has_value());
  ASSERT_TRUE(store.SequenceAfter(Maps(), 4).has_value());
  EXPECT_EQ(store.At(Maps(), *store.SequenceAfter(Maps(), 4))->version, 5U);
  EXPECT_EQ(NamesAt(store, 3), Names{"forgotten"});
  EXPECT_EQ(NamesAt(store, 4), Names{"a/b=1"});
  EXPECT_EQ(store.ForgottenVersion(Pods()), 0U);
  EXPECT_TRUE(store.SequenceAfter(Pods(), 1).has_value());
}

TEST(Store, ForgettingHistoryForgetsAllBeforeNow) {
  Store store;
  store.Put(Maps(), Map("a", "b"));
  const uint64_t next = store.NextSequence(Maps());
  store.ForgetHistory();
  EXPECT_FALSE(store.SequenceAfter(Maps(), 1).has_value());
  EXPECT_EQ(store.SequenceAfter(Maps(), 2), next);
  EXPECT_EQ(store.FirstSequence(Maps()), next);
  store.Put(Maps(), Map("a", "c"));
  EXPECT_EQ(store.At(Maps(), next)->object->name, "c");
}

TEST(Store, SubscribersHearOfTheirKindUntilTheyLeave) {
  Store store;
  int woken = 0;
  std::shared_ptr<void> handle = store.Subscribe(Maps(), [&woken] { ++woken; });
  store.Put(Maps(), Map("a", "b"));
  store.Put(Pods(), Map("a", "b"));
  store.Remove(Maps(), "a", "b");
  EXPECT_EQ(woken, 2);
  handle.reset();
  store.Put(Maps(), Map("a", "b"));
  EXPECT_EQ(woken, 2);
}

TEST(Store, SelectableFieldsAreStringsWithDefaults) {
  Store store;
  const ObjectPtr pod =
      store.Put(Pods(), Json::parse(R"({"metadata":{"name":"p","labels":{"b":"2","a":"1"}},
                              "spec":{"nodeName":"n","hostNetwork":true},"status":{"phase":"Running"}})"));
  // spec.nodeName, restartPolicy, schedulerName, serviceAccountName, hostNetwork, status.phase, …
  EXPECT_EQ(pod->fields[0], "n");
  EXPECT_EQ(pod->fields[1], "");
  EXPECT_EQ(pod->fields[4], "true");
  EXPECT_EQ(pod->fields[5], "Running");
  EXPECT_EQ(pod->labels,
            (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}}));
  const ObjectPtr node = store.Put(*FindKind("v1", "Node"), Json{{"metadata", {{"name", "n"}}}});
  EXPECT_EQ(node->fields[0], "false");  // spec.unschedulable
}

struct StringRow {
  std::string name;
  std::string text;
  std::string want;
};

class JsonStrings : public ::testing::TestWithParam<StringRow> {};

TEST_P(JsonStrings, AreWrittenAsGoWritesThem) {
  std::string out;
  AppendJsonString(GetParam().text, &out);
  EXPECT_EQ(out, GetParam().want);
  EXPECT_TRUE(Json::accept(out));
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, JsonStrings,
    ::testing::Values(StringRow{"Plain", "abc", "\"abc\""},
                      StringRow{"Html", "<a&b>", R"("\u003ca\u0026b\u003e")"},
                      StringRow{"Quotes", "a\"b\\c", R"("a\"b\\c")"},
                      StringRow{"Controls", "\n\r\t\b\f\x01", R"("\n\r\t\b\f\u0001")"},
                      StringRow{"Umlauts", "größe 😀", "\"größe 😀\""},
                      StringRow{"LineSeparators", "\u2028\u2029", R"("\u2028\u2029")"},
                      StringRow{"BadBytes", "a\xFF\xC3", R"("a\ufffd\ufffd")"},
                      StringRow{"Overlong", "\xC0\xAF", R"("\ufffd\ufffd")"},
                      StringRow{"Surrogate", "\xED\xA0\x80", R"("\ufffd\ufffd\ufffd")"}),
    [](const auto& row) { return row.param.name; });

TEST(JsonWrite, SameValueAsTheLibraryWrites) {
  const std::string text =
      R"({"a":[1,-2,3.5,true,null,"x"],"b":{},"c":[],"d":18446744073709551615,"e":1e+300})";
  std::string out;
  AppendJson(Json::parse(text), &out);
  EXPECT_EQ(out, text);
}

}  // namespace
}  // namespace ks::apiserver
