#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The worked examples of whole pods with devices (docs/spec/plugins-dra.md section 16, rows 43 to 53, 55 and 57), asked of a program
that explains dumps: upstream's code (the oracle), and kubeschedctl if it is given.

    device_examples.py [--oracle ORACLE] [--kubeschedctl build/bin/kubeschedctl]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import run

DRIVER, GPU, OTHER = "drv.example", "example.com/gpu", "example.com/other"
UNRESOLVABLE = "UnschedulableAndUnresolvable"
OLD = "2020-01-01T00:00:00Z"
WITHOUT_FIT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [
    {"schedulerName": "default-scheduler", "plugins": {"filter": {"disabled": [{"name": "NodeResourcesFit"}]}}}]}


def node(name, **extended):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {"allocatable": {
        "cpu": "8", "memory": "8Gi", "pods": "10", **{GPU if key == "gpu" else key: value for key, value in extended.items()}}}}


def of_devices(kind, name, spec, **metadata):
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, "uid": name, "resourceVersion": "1", **metadata},
            "spec": spec}


def slice_of(name, devices=8):
    return of_devices("ResourceSlice", f"slice-{name}", {
        "driver": DRIVER, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"d{i}"} for i in range(devices)]})


def device_class(name="gpu", resource=None, created=OLD):
    return of_devices("DeviceClass", name, {"extendedResourceName": resource} if resource else {}, creationTimestamp=created)


def exactly(count=1, name="gpu"):
    return {"deviceClassName": name, "allocationMode": "ExactCount", "count": count}


def claim(name="c", requests=None, **metadata):
    requests = requests or [{"name": "r", "exactly": exactly()}]
    return of_devices("ResourceClaim", name, {"devices": {"requests": requests}}, namespace="ns", **metadata)


def allocated(made, where, consumers=(), timestamp=None, **fields):
    allocation = {"devices": {"results": [{"request": "r", "driver": DRIVER, "pool": where, "device": "d0", **fields}]},
                  "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                      {"key": "metadata.name", "operator": "In", "values": [where]}]}]}}
    if timestamp:
        allocation["allocationTimestamp"] = timestamp
    made["status"] = {"allocation": allocation,
                      "reservedFor": [{"resource": "pods", "name": uid, "uid": uid} for uid in consumers]}
    return made


def container(name, restart=None, **requests):
    requests = {{"gpu": GPU, "other": OTHER}.get(key, key): value for key, value in requests.items()}
    return {"name": name, "image": "busybox", "resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


def pod(claims=(), containers=(), init=(), **status):
    spec = {"containers": list(containers) or [container("c")], "initContainers": list(init)}
    if claims:
        spec["resourceClaims"] = [one if isinstance(one, dict) else {"name": one, "resourceClaimName": one} for one in claims]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "p"}, "spec": spec, "status": status}


FROM_TEMPLATE = {"name": "e", "resourceClaimTemplateName": "t"}
LEFT = {"annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p", "controller": True}]}
GPUS = [node("n1"), slice_of("n1"), device_class("gpu", GPU)]
CONDITIONS = {"bindingConditions": ["ready"], "bindingFailureConditions": ["bad"]}


def rejected(reason, *nodes, plugin="DynamicResources", code=UNRESOLVABLE):
    return {name: {"feasible": False, "plugin": plugin, "code": code, "reasons": [reason]} for name in nodes}


def special(counts, mappings, name="gpu"):
    """What n1 gives the special claim: requests with their counts, and (container, request) for the resource."""
    return {"n1": {"feasible": True, "allocations": [{
        "claim": "<extended-resources>",
        "requests": [{"name": request, "exactly": exactly(count, name)} for request, count in counts],
        "mappings": [{"containerName": one, "resourceName": GPU, "requestName": request} for one, request in mappings]}]}}


def by_number(index, request):
    return f"container-{index}-request-{request}"


FIRST, SECOND = by_number(2, 1), by_number(3, 0)
ALTERNATIVES = [{"name": "r", "firstAvailable": [{"name": "s0", **exactly(2)}, {"name": "s1", **exactly(1)}]}]
NOT_HERE, NONE = "resourceclaim not available on the node", "cannot allocate all claims"
FREED, NOT_FREED = "deallocation of ResourceClaim completed", ("", "preemption: 0/2 nodes are available: 2 Preemption is not helpful for "
                                                              "scheduling.")
TWO = [node("n1"), node("n2"), slice_of("n1"), slice_of("n2"), device_class()]

# name: (objects, configuration, what the record must have). `nodes` are by name; `freed`: a text in PostFilter's message, or a tuple:
# the message is one of these.
EXAMPLES = {
    "43 not filled": ([*TWO, pod([FROM_TEMPLATE])], None, {
        "result": "Gated", "message": 'pod "ns/p": ResourceClaim not created yet'}),
    "43 filled with an empty name": ([*TWO, pod([FROM_TEMPLATE], resourceClaimStatuses=[{"name": "e"}])], None, {
        "result": "Schedulable", "nodes": {"n1": {"feasible": True, "allocations": None}}}),
    "44": ([*TWO, allocated(claim(), "n9"), pod(["c"])], None, {
        "result": "Unschedulable", "nodes": rejected(NOT_HERE, "n1", "n2"), "freed": FREED}),
    "44 reserved by the pod": ([*TWO, allocated(claim(), "n9", ["p"]), pod(["c"])], None, {
        "nodes": rejected(NOT_HERE, "n1", "n2"), "freed": FREED}),
    "44 reserved by another": ([*TWO, allocated(claim(), "n9", ["q"]), pod(["c"])], None, {
        "nodes": rejected(NOT_HERE, "n1", "n2"), "freed": NOT_FREED}),
    "45": ([*TWO, allocated(claim(), "n9"), claim("d", [{"name": "r", "exactly": exactly(9)}]), pod(["c", "d"])], None, {
        "nodes": rejected(NONE, "n1", "n2"), "freed": NOT_FREED}),
    "46": ([*GPUS, pod(containers=[container("c", cpu="1", gpu="2")])], None, {
        "result": "Schedulable", "nodes": special([(by_number(0, 1), 2)], [("c", by_number(0, 1))])}),
    "47": ([node("n1", gpu="4"), *GPUS[1:], pod(containers=[container("c", cpu="1", gpu="2")])], None, {
        "result": "Schedulable", "nodes": {"n1": {"feasible": True, "allocations": None}}}),
    "48": ([*GPUS, pod(containers=[container("c1", cpu="1", gpu="1"), container("c2", gpu="1")],
                       init=[container("i1", gpu="2"), container("i2", gpu="1")])], None, {
        "nodes": special([(FIRST, 1), (SECOND, 1)],
                         [("c1", FIRST), ("c2", SECOND), ("i1", FIRST), ("i1", SECOND), ("i2", FIRST)])}),
    "49": ([*GPUS, pod(containers=[container("c1", gpu="1")], init=[container("i1", gpu="3"), container("i2", gpu="4")])], None, {
        "nodes": special([(by_number(1, 0), 3), (by_number(2, 0), 1)],
                         [("c1", by_number(2, 0)), ("i1", by_number(2, 0)), ("i1", by_number(1, 0)), ("i2", by_number(2, 0)),
                          ("i2", by_number(1, 0))])}),
    "50": ([*GPUS, pod(containers=[container("c", gpu="1")],
                       init=[container("s", restart="Always", gpu="1"), container("i", gpu="2")])], None, {
        "nodes": special([(by_number(index, 0), 1) for index in range(3)],
                         [("s", by_number(0, 0)), ("c", by_number(2, 0)), ("i", by_number(2, 0)), ("i", by_number(1, 0))])}),
    "51": ([*GPUS, pod(containers=[container("c", gpu="1", other="1")])], None, {
        "nodes": rejected(f"Insufficient {OTHER}", "n1", plugin="NodeResourcesFit")}),
    "51 without NodeResourcesFit": ([*GPUS, pod(containers=[container("c", gpu="1", other="1")])], WITHOUT_FIT, {
        "nodes": rejected("cannot fit resource", "n1")}),
    "52": ([*GPUS, claim("left", **LEFT), pod(containers=[container("c", gpu="1")])], None, {
        "nodes": rejected("cannot schedule extended resource claim", "n1"), "freed": "deletion of ResourceClaim completed"}),
    "53 newer": ([*GPUS[:2], device_class("a", GPU, OLD), device_class("b", GPU, "2021-01-01T00:00:00Z"),
                  pod(containers=[container("c", gpu="1")])], None, {
        "nodes": special([(by_number(0, 0), 1)], [("c", by_number(0, 0))], name="b")}),
    "53 equal age": ([*GPUS[:2], device_class("a", GPU), device_class("b", GPU), pod(containers=[container("c", gpu="1")])], None, {
        "nodes": special([(by_number(0, 0), 1)], [("c", by_number(0, 0))], name="a")}),
    "55 timed out": ([*TWO, allocated(claim(), "n1", timestamp=OLD, **CONDITIONS), pod(["c"])], None, {
        "nodes": rejected(NOT_HERE, "n1", "n2"), "freed": FREED}),
    "55 in time": ([*TWO, allocated(claim(), "n1", timestamp="2099-01-01T00:00:00Z", **CONDITIONS), pod(["c"])], None, {
        "result": "Schedulable", "bestNodes": ["n1"], "nodes": rejected(NOT_HERE, "n2")}),
    "57": ([node("n1"), node("n2"), slice_of("n1", 2), slice_of("n2", 1), device_class(), claim("c", ALTERNATIVES), pod(["c"])], None, {
        "result": "Schedulable", "scores": {"n1": (8, 200), "n2": (7, 174)}}),
}


def covers(wanted, found):
    """Whether what is wanted is there; None: the field is absent."""
    if isinstance(wanted, dict):
        return all(found.get(key) is None if value is None else key in found and covers(value, found[key])
                   for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(found) and all(map(covers, wanted, found))
    return wanted == found


def faults(wanted, record):
    """What the record has otherwise."""
    nodes = {one["name"]: one for one in record["nodes"]}
    for field in ("result", "message", "bestNodes"):
        if field in wanted and record.get(field) != wanted[field]:
            yield f"{field}: {record.get(field)}"
    yield from (f"node {name}: {nodes.get(name)}" for name, one in wanted.get("nodes", {}).items() if not covers(one, nodes.get(name, {})))
    for name, score in wanted.get("scores", {}).items():
        found = [(one["raw"], one["weighted"]) for one in nodes[name].get("scores", ()) if one["plugin"] == "DynamicResources"]
        if found != [score]:
            yield f"score of {name}: {found}"
    if "freed" in wanted:
        message, freed = record.get("preemption", {}).get("message", ""), wanted["freed"]
        if message not in freed if isinstance(freed, tuple) else freed not in message:
            yield f"message of PostFilter: {message}"


def ask(command, objects, configuration):
    with tempfile.TemporaryDirectory(prefix="ks-examples-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8")
        words = [*command, "--preemption", "--cluster", str(folder / "cluster.json")]
        if configuration:
            (folder / "config.json").write_text(json.dumps(configuration), encoding="utf-8")
            words += ["--config", str(folder / "config.json")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()[-500:]
    return json.loads(done.stdout), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="default: the one of tools/controlplane; without it the test is left out")
    parser.add_argument("--kubeschedctl")
    args = parser.parse_args()
    oracle = args.oracle or run.oracle()
    if oracle is None:
        return run.SKIPPED
    programs = {"upstream": [oracle]}
    if args.kubeschedctl:
        programs["kubesched"] = [args.kubeschedctl, "explain", "-o", "json"]
    failed = 0
    for side, command in programs.items():
        for name, (objects, configuration, wanted) in EXAMPLES.items():
            record, error = ask(command, objects, configuration)
            found = list(faults(wanted, record)) if record else [error]
            failed += bool(found)
            for text in found:
                print(f"row {name}, {side}: {text}")
    print(f"{len(EXAMPLES)} examples, {', '.join(programs)}: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
