#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the parity test itself: that every kind of difference is seen, that what is allowed to differ is not, that cases
repeat, and that shrinking keeps what matters."""

import collections
import copy
import json
import unittest

import compare
import device_world
import devices
import generate
import group_worlds
import groups
import preempting
import shrink
import volumes

RECORD = {
    "pod": "default/p", "profile": "default-scheduler", "result": "Schedulable", "message": "m",
    "unschedulablePlugins": ["NodeResourcesFit"], "bestNodes": ["a"],
    "nodes": [
        {"name": "a", "feasible": True, "total": 12, "scores": [
            {"plugin": "ImageLocality", "raw": 5, "weighted": 5}, {"plugin": "NodeResourcesFit", "raw": 7, "weighted": 7}],
         "allocations": [
             {"claim": "c", "allocation": {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}},
             {"claim": "<extended-resources>", "allocation": {}, "requests": [{"name": "q"}], "mappings": [{"requestName": "q"}]}]},
        {"name": "b", "feasible": False, "plugin": "NodeResourcesFit", "code": "Unschedulable",
         "reasons": ["Insufficient cpu", "Insufficient memory"]},
    ],
}

# What to change, and the field that must be named.
SEEN = (
    (lambda r: r.update(pod="default/q"), "pod"),
    (lambda r: r.update(profile="other"), "profile"),
    (lambda r: r.update(result="Unschedulable"), "result"),
    (lambda r: r.pop("message"), "message"),
    (lambda r: r.update(unschedulablePlugins=["NodeName"]), "unschedulablePlugins"),
    (lambda r: r.update(bestNodes=["a", "b"]), "bestNodes"),
    (lambda r: r["nodes"].pop(), "nodes"),
    (lambda r: r["nodes"][1].update(feasible=True), "nodes.feasible"),
    (lambda r: r["nodes"][1].update(plugin="NodeName"), "nodes.plugin"),
    (lambda r: r["nodes"][1].update(code="UnschedulableAndUnresolvable"), "nodes.code"),
    (lambda r: r["nodes"][1]["reasons"].pop(), "nodes.reasons"),
    (lambda r: r["nodes"][1]["reasons"].append("Insufficient cpu"), "nodes.reasons"),
    (lambda r: r["nodes"][0].update(total=13), "nodes.total"),
    (lambda r: r["nodes"][0]["scores"][0].update(raw=6), "nodes.scores[ImageLocality] (raw, weighted)"),
    (lambda r: r["nodes"][0]["scores"][1].update(weighted=6), "nodes.scores[NodeResourcesFit] (raw, weighted)"),
    (lambda r: r["nodes"][0]["scores"].pop(), "nodes.scores[NodeResourcesFit] (raw, weighted)"),
    (lambda r: r["nodes"][0]["scores"].append({"plugin": "VolumeBinding", "raw": 1, "weighted": 1}),
     "nodes.scores[VolumeBinding] (raw, weighted)"),
    (lambda r: r["nodes"][0].pop("allocations"), "nodes.allocations"),
    (lambda r: r["nodes"][0]["allocations"].reverse(), "nodes.allocations"),
    (lambda r: r["nodes"][0]["allocations"][0]["allocation"]["devices"]["results"][0].update(device="y"), "nodes.allocations.allocation"),
    (lambda r: r["nodes"][0]["allocations"][0]["allocation"].update(nodeSelector={"x": 1}), "nodes.allocations.allocation"),
    (lambda r: r["nodes"][0]["allocations"][1].pop("requests"), "nodes.allocations.requests"),
    (lambda r: r["nodes"][0]["allocations"][1]["mappings"][0].update(requestName="r"), "nodes.allocations.mappings"),
)
ALLOWED = (
    lambda r: r["nodes"][1]["reasons"].reverse(),
    lambda r: r["nodes"][0]["scores"].append({"plugin": "DynamicResources", "raw": 0, "weighted": 0}),
    lambda r: r["nodes"][0]["allocations"][1]["allocation"].update(devices={"results": []}),  # what is empty is as absent
)

V1, V2 = {"pod": "default/v1", "priority": 1}, {"pod": "default/v2", "priority": 0, "terminating": True}
FOUND = "found a potential placement for pod on node a, preempting 1 victims"
PREEMPTING = {"pod": "default/p", "profile": "default-scheduler", "result": "Unschedulable", "message": "m", "nodes": [],
              "preemption": {"node": "a", "nomination": "override", "code": "Success", "message": FOUND, "event": "m " + FOUND,
                             "victims": [V1], "violations": 0, "tried": [
                                 {"node": "a", "victims": [V1]}, {"node": "b", "victims": [V2], "violations": 1},
                                 {"node": "c", "code": "Unschedulable", "reasons": ["x", "y"]}]}}
PREEMPTION_SEEN = (
    (lambda p: p.update(node="b"), "preemption.node"),
    (lambda p: p.update(nomination="none"), "preemption.nomination"),
    (lambda p: p.update(code="Error"), "preemption.code"),
    (lambda p: p.update(message="x"), "preemption.message"),
    (lambda p: p.update(event="x"), "preemption.event"),
    (lambda p: p.update(victims=[V2]), "preemption.victims"),
    (lambda p: p.update(violations=1), "preemption.violations"),
    (lambda p: p["tried"].pop(), "preemption.tried"),
    (lambda p: p["tried"][1].update(victims=[V1, V2]), "preemption.nodes.victims"),
    (lambda p: p["tried"][1].update(violations=2), "preemption.nodes.violations"),
    (lambda p: p["tried"][2].update(code="Error"), "preemption.nodes.code"),
    (lambda p: p["tried"][2]["reasons"].pop(), "preemption.nodes.reasons"),
)


class ComparePreemption(unittest.TestCase):
    def test_differences_are_seen(self):
        for change, field in PREEMPTION_SEEN:
            other = copy.deepcopy(PREEMPTING)
            change(other["preemption"])
            for ours, theirs in ((PREEMPTING, other), (other, PREEMPTING)):
                self.assertIn(field, [compare.kind(found) for found, _, _ in compare.differences(ours, theirs)])
        other = {name: value for name, value in PREEMPTING.items() if name != "preemption"}
        self.assertIn("preemption", [found for found, _, _ in compare.differences(PREEMPTING, other)])

    def test_any_of_equal_candidates_may_be_taken_with_its_own_victims(self):
        ours, theirs = copy.deepcopy(PREEMPTING), copy.deepcopy(PREEMPTING)
        theirs["preemption"]["ties"] = ["b"]
        theirs["preemption"]["tried"][1].pop("violations")
        ours["preemption"]["tried"][1].pop("violations")
        words = {"message": FOUND.replace("node a", "node b"), "event": "m " + FOUND.replace("node a", "node b")}
        ours["preemption"].update(words, node="b", victims=[V2])
        self.assertEqual([], list(compare.differences(ours, theirs)))
        ours["preemption"]["victims"] = [V1]
        self.assertEqual(["preemption.victims"], [found for found, _, _ in compare.differences(ours, theirs)])
        theirs["preemption"]["ties"] = ["c"]
        self.assertIn("preemption.node", [found for found, _, _ in compare.differences(ours, theirs)])

    def test_coverage_counts_kinds(self):
        coverage = compare.Coverage()
        coverage.add(PREEMPTING)
        wanted = {"candidate found": 1, "candidates: 2": 1, "victims: 1": 1, "violations: 0": 1, "nomination: override": 1,
                  "node: x": 1, "node: y": 1}
        self.assertEqual(wanted, dict(coverage.preemption))


class Compare(unittest.TestCase):
    def test_differences_are_seen(self):
        for change, field in SEEN:
            other = copy.deepcopy(RECORD)
            change(other)
            for ours, theirs in ((RECORD, other), (other, RECORD)):
                self.assertIn(field, [compare.kind(found) for found, _, _ in compare.differences(ours, theirs)])

    def test_allowed_differences(self):
        for change in ALLOWED:
            other = copy.deepcopy(RECORD)
            change(other)
            self.assertEqual([], list(compare.differences(RECORD, other)))

    def test_a_search_without_end_says_nothing(self):
        theirs = {"pod": "default/p", "profile": "default-scheduler", "result": "Error", "nodes": [],
                  "message": 'running "DynamicResources" filter plugin: node a: timed out trying to allocate devices'}
        self.assertEqual([], list(compare.differences(RECORD, theirs)))
        self.assertIn("result", [name for name, _, _ in compare.differences(RECORD, {**theirs, "message": "another"})])
        coverage = compare.Coverage()
        coverage.add(theirs)
        self.assertEqual(1, coverage.left_out)

    def test_of_syntax_errors_only_that_there_is_one(self):
        def failed(text):
            return {"pod": "default/p", "profile": "x", "result": "Error", "nodes": [], "message": f"claim ns/c: {text}"}

        for ours, theirs, equal in (("Syntax error: a", "Syntax error: b", True), ("x Syntax error: a", "Syntax error: a", False),
                                    ("for device A in slice s: e", "for device {B: 1\n} in slice s: e", True),
                                    ("for device A in slice s: e", "for device A in slice t: e", False)):
            self.assertEqual(equal, not list(compare.differences(failed(ours), failed(theirs))), (ours, theirs))

    def test_a_silent_scorer_says_nothing_about_any_node(self):
        def scored(*raws):
            record = copy.deepcopy(RECORD)
            record["nodes"][1] = {"name": "b", "feasible": True, "total": 12, "scores": []}
            for node, raw in zip(record["nodes"], raws):
                if raw is not None:
                    node["scores"].append({"plugin": "VolumeBinding", "raw": raw, "weighted": raw})
            return record

        field = "nodes.scores[VolumeBinding] (raw, weighted)"
        for ours, theirs, want in (((None, None), (0, 0), []), ((0, 0), (0, 0), []), ((9, 0), (9, 0), []),
                                   ((9, None), (9, 0), [field]), ((0, None), (0, 0), [field]),
                                   ((None, None), (0, 9), [field, field]), ((0, 0), (None, None), [field, field])):
            found = [compare.kind(name) for name, _, _ in compare.differences(scored(*ours), scored(*theirs))]
            self.assertEqual(want, found, (ours, theirs))

    def test_coverage_counts_verdicts(self):
        coverage = compare.Coverage()
        coverage.add(RECORD)
        self.assertEqual((1, 2), (coverage.pods, coverage.nodes))
        self.assertEqual(1, coverage.rejections["NodeResourcesFit Unschedulable Insufficient memory"])
        self.assertEqual(1, coverage.scores["ImageLocality"])
        self.assertEqual({"claims: 2": 1, "devices of a claim: 1": 1, "devices of a claim: 0": 1, "node selector: none": 2,
                          "special claim, requests: 1, mappings: 1": 1}, coverage.allocations)


class Generate(unittest.TestCase):
    def test_a_case_is_named_by_seed_and_number(self):
        first = json.dumps(generate.case("s", 3, 20))
        self.assertEqual(first, json.dumps(generate.case("s", 3, 20)))
        self.assertNotEqual(first, json.dumps(generate.case("s", 4, 20)))
        self.assertNotEqual(first, json.dumps(generate.case("t", 3, 20)))

    def test_at_most_as_many_pods_on_a_node_as_upstream_sorts_stably(self):
        for number in range(20):
            made = preempting.case("s", number, 5)
            self.assertEqual(json.dumps(made), json.dumps(preempting.case("s", number, 5)))
            nodes = collections.Counter(item["spec"].get("nodeName") for item in made[0]["items"] if item["kind"] == "Pod")
            del nodes[None]
            self.assertLessEqual(max(nodes.values()), preempting.MOST_PODS_PER_NODE)

    def test_volumes_leave_nothing_to_the_order_of_a_hash_set(self):
        for number in range(30):
            made = volumes.case("s", number, 40)
            self.assertEqual(json.dumps(made), json.dumps(volumes.case("s", number, 40)))
            of_kind = collections.defaultdict(list)
            for item in made[0]["items"]:
                of_kind[item["kind"]].append(item)
            sizes = [volume["spec"]["capacity"]["storage"] for volume in of_kind["PersistentVolume"]]
            self.assertEqual(len(sizes), len(set(sizes)))
            kept = [json.dumps([volume["spec"]["claimRef"][key] for key in ("namespace", "name")])
                    for volume in of_kind["PersistentVolume"] if "claimRef" in volume["spec"]]
            self.assertEqual(len(kept), len(set(kept)))
            strict = [driver for driver in of_kind["CSIDriver"] if driver["spec"].get("preventPodSchedulingIfMissing")]
            self.assertLessEqual(len(strict), 1)

    def test_devices_leave_nothing_to_the_order_of_a_list(self):
        for number in range(30):
            made = devices.case("s", number, 40)
            self.assertEqual(json.dumps(made), json.dumps(devices.case("s", number, 40)))
            of_kind = collections.defaultdict(list)
            for item in made[0]["items"]:
                of_kind[item["kind"]].append(item)
            classes = [item["metadata"]["name"] for item in of_kind["DeviceClass"]]
            self.assertEqual(sorted(classes), classes)
            for kind in ("ResourceClaim", "ResourceSlice"):
                names = [(item["metadata"].get("namespace"), item["metadata"]["name"]) for item in of_kind[kind]]
                self.assertEqual(len(names), len(set(names)))
            numbers = collections.defaultdict(set)
            for item in of_kind["ResourceSlice"]:
                pool = item["spec"]["pool"]
                numbers[item["spec"]["driver"], pool["name"]].add(pool["resourceSliceCount"])
            self.assertTrue(all(len(one) == 1 for one in numbers.values()))

    def test_gates_that_are_off_by_default_are_drawn(self):
        seen = collections.Counter()
        for number in range(60):
            made = devices.gated_case("s", number, 5)
            closed = [gate for gate in device_world.GATED if gate + "=true" in made[2]]
            seen.update(closed)
            for gate in closed:
                self.assertFalse([need for need in device_world.NEEDS.get(gate, ()) if need + "=false" in made[2]])
            if "DRADerivedAttributes" in closed:
                seen["fields"] += "derivedAttributes" in json.dumps(made[0])
        self.assertEqual([], [name for name in (*device_world.GATED, "fields") if not seen[name]])

    def test_device_worlds_repeat(self):
        self.assertEqual(device_world.case(7), device_world.case(7))
        self.assertNotEqual(device_world.case(7), device_world.case(8))

    def test_without_cross_pod_terms(self):
        for number in range(20):
            text = json.dumps(generate.case("s", number, 50, cross_pod=False)[0])
            for word in ("topologySpreadConstraints", "podAffinity", "podAntiAffinity", "ReplicaSet", "Service"):
                self.assertNotIn(f'"{word}"', text)


class Shrink(unittest.TestCase):
    def test_keeps_what_the_predicate_needs(self):
        made = generate.case("s", 1, 30)
        pod = next(item for item in made[0]["items"] if item["kind"] == "Pod" and "nodeName" not in item["spec"])
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"

        def holds(case):
            items = case[0].get("items", ())
            return (any(item["kind"] == "Node" for item in items) and
                    any(item["metadata"]["name"] == pod["metadata"]["name"] and item["spec"].get("containers") for item in items
                        if item["kind"] == "Pod" and "spec" in item))
        small, configuration, gates = shrink.shrink(made, name, holds)
        self.assertTrue(holds((small, configuration, gates)))
        self.assertEqual(["Node", "Pod"], sorted(item["kind"] for item in small["items"]))
        self.assertEqual((None, ""), (configuration, gates))


class GroupWorlds(unittest.TestCase):
    STEP = {"attempts": 1, "objects": {"Pod/play/a": ["node n1", "nominated "], "PodGroup/play/g": ["PodGroupInitiallyScheduled|True|Scheduled|"]},
            "evicted": ["Pod/play/v"]}
    SEEN = (
        (lambda s: s.update(attempts=2), "attempts"),
        (lambda s: s.update(evicted=[]), "evicted"),
        (lambda s: s["objects"].update({"Pod/play/a": ["node n2", "nominated "]}), "Pod/play/a"),
        (lambda s: s["objects"].pop("PodGroup/play/g"), "PodGroup/play/g"),
    )

    def test_differences_are_seen(self):
        for change, wanted in self.SEEN:
            other = copy.deepcopy(self.STEP)
            change(other)
            found = groups.differences({"steps": [self.STEP, self.STEP]}, {"steps": [self.STEP, other]})
            self.assertEqual([(1, wanted)], [one[:2] for one in found])
        self.assertEqual([], groups.differences({"steps": [self.STEP]}, {"steps": [self.STEP]}))
        self.assertNotEqual([], groups.differences({"steps": [self.STEP]}, {"error": "exit 1"}))
        self.assertEqual([(1, "steps", 1, 2)], groups.differences({"steps": [self.STEP]}, {"steps": [self.STEP, self.STEP]}))

    def test_attempts_that_upstream_leaves_to_the_flush_are_none(self):
        class Answers:
            """Of both sides to the world with waits, which it keeps."""
            def __init__(self, *answers):
                self.answers, self.asked = answers, None

            def play(self, _kind, worlds):
                self.asked = worlds
                return [self.answers]

        more = {**self.STEP, "attempts": 2}
        same, other = {"steps": [self.STEP]}, {"steps": [more]}
        world = {"steps": [{"put": []}]}
        for mine, theirs, waited, wanted in ((other, same, (same, same), True), (other, same, (other, same), False),
                                             (same, other, (same, same), False)):
            sides = Answers(*waited)
            self.assertEqual(wanted, groups.woken_earlier(sides, "gangs", world, groups.differences(mine, theirs)))
            if wanted:
                self.assertEqual([{"steps": [{"put": []}, {"wait": group_worlds.LONG}]}], sides.asked)

    def test_worlds_repeat_and_tell_of_every_pod_once(self):
        for kind in group_worlds.GATES:
            for number in range(20):
                world = group_worlds.world("s", number, kind)
                self.assertEqual(world, group_worlds.world("s", number, kind))
                pods = [one["metadata"]["name"] for step in world["steps"] for one in step.get("put", ()) if one["kind"] == "Pod"]
                self.assertEqual(len(pods), len(set(pods)))


if __name__ == "__main__":
    unittest.main()
