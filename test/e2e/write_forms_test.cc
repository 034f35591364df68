// SPDX-License-Identifier: Apache-2.0
// Bindings and events in protobuf, as kube-apiserver takes them: what it stores is what it stores
// of the same in JSON.
#include <gtest/gtest.h>

#include <string>

#include "api/json/encode.h"
#include "api/proto/proto_bodies.h"
#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

class WriteForms : public ClusterFixture {
 protected:
  // Posts a body in one of the forms.
  void Post(const std::string& path, std::string body, std::string_view form) {
    const client::RestReply reply =
        cluster_->admin().SendAndWait({.method = "POST",
                                       .target = path,
                                       .body = std::move(body),
                                       .content_type = std::string(form)});
    ASSERT_TRUE(reply.ok()) << form << ": " << reply.error->message;
    EXPECT_EQ(reply.code, 201);
  }
  // Without what no two objects have alike.
  static json Comparable(json object) {
    for (const char* own : {"name", "uid", "resourceVersion", "creationTimestamp"}) {
      object["metadata"].erase(own);
    }
    for (json& entry : object["metadata"]["managedFields"]) entry.erase("time");
    for (json& condition : object["status"]["conditions"]) condition.erase("lastTransitionTime");
    return object;
  }
};

TEST_F(WriteForms, Event) {
  const std::string path = "/apis/events.k8s.io/v1/namespaces/default/events";
  api::Pod pod;
  pod.meta.ns = Symbol("default");
  pod.meta.name = "p";
  pod.meta.uid = "u";
  pod.meta.resource_version = "7";
  api::EventRecord event;
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host";
  event.action = "Scheduling";
  event.reason = "FailedScheduling";
  event.note = "0/3 nodes are available: 3 ü.";
  event.warning = true;
  event.regarding = std::make_shared<const api::Pod>(pod);
  event.related = event.regarding;
  event.event_time = RealClock().WallNow();
  event.series_count = 2;
  event.series_last_observed = event.event_time;
  event.name = "p.json";
  Post(path, api::EventBody(event), client::kJsonType);
  event.name = "p.protobuf";
  Post(path, api::EventProto(event), client::kProtobufType);
  const json stored = cluster_->Get(path + "/p.protobuf");
  EXPECT_EQ(stored["note"], event.note);
  EXPECT_EQ(stored["series"]["count"], 2);
  EXPECT_EQ(Comparable(stored), Comparable(cluster_->Get(path + "/p.json")));
}

TEST_F(WriteForms, Binding) {
  const std::string path = "/api/v1/namespaces/default/pods/";
  cluster_->CreateNode(NodeManifest("node-1", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "15"}}));
  const auto bind = [&](const std::string& name, std::string_view form) {
    json manifest = PodManifest(name, {{"cpu", "1"}});
    manifest["spec"]["schedulerName"] = "nobody";
    cluster_->CreatePod(manifest);
    api::Pod pod;
    pod.meta.ns = Symbol("default");
    pod.meta.name = name;
    pod.meta.uid = cluster_->Get(path + name)["metadata"]["uid"];
    const bool protobuf = form == client::kProtobufType;
    Post(path + name + "/binding",
         protobuf ? api::BindingProto(pod, "node-1") : api::BindingBody(pod, "node-1"), form);
    return Comparable(cluster_->Get(path + name));
  };
  const json in_json = bind("one", client::kJsonType);
  const json in_protobuf = bind("two", client::kProtobufType);
  EXPECT_EQ(in_protobuf["spec"]["nodeName"], "node-1");
  // The name of the volume with the service account's token is made up.
  EXPECT_EQ(in_protobuf["status"], in_json["status"]);
  EXPECT_EQ(in_protobuf["metadata"], in_json["metadata"]);
}

}  // namespace
}  // namespace ks::e2e
