#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parity test: random clusters and pods, explained by kubeschedctl and by upstream's own code (the oracle).

Every verdict, message, plugin, code, reason, raw and weighted score, total and best node must be equal. The seed is the same in
each run unless KS_PARITY_SEED or --seed names another one, so that a change is judged by what it changed; "fresh" draws one and
prints it. A difference is shrunk to a small case and written to a folder.

    run.py --kubeschedctl build/bin/kubeschedctl                         3,000 pods, as in CI
    run.py --kubeschedctl build/bin/kubeschedctl --pods 200000 --jobs 2 --seed fresh
                                                                         a long run, by hand
    run.py --kubeschedctl build/bin/kubeschedctl --preemption            preemption on full clusters
    run.py --kubeschedctl build/bin/kubeschedctl --volumes               volumes, claims, drivers and limits
    run.py --kubeschedctl build/bin/kubeschedctl --volumes --preemption  the same, and what preemption would do
    run.py --kubeschedctl build/bin/kubeschedctl --devices --preemption  resource claims, devices, extended resources of classes
    run.py --kubeschedctl build/bin/kubeschedctl --devices --gates --preemption
                                                                         the same, with gates that are off by default
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

import compare
import devices
import generate
import preempting
import shrink
import volumes

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # ctest's word for a test that did not run
PODS_PER_CASE = 150

# What a long run must have seen at least once, or the generator has a gap.
REQUIRED = """
NodeUnschedulable UnschedulableAndUnresolvable node(s) were unschedulable
TaintToleration UnschedulableAndUnresolvable node(s) had untolerated taint(s)
NodeAffinity UnschedulableAndUnresolvable node(s) didn't match Pod's node affinity/selector
NodeAffinity UnschedulableAndUnresolvable node(s) didn't match scheduler-enforced node affinity
NodeAffinity UnschedulableAndUnresolvable pod affinity terms conflict
- UnschedulableAndUnresolvable node(s) didn't satisfy plugin(s) [NodeAffinity]
- NotInPreFilterResult
NodePorts Unschedulable node(s) didn't have free ports for the requested pod ports
NodeResourcesFit Unschedulable Insufficient cpu
NodeResourcesFit Unschedulable Insufficient memory
NodeResourcesFit Unschedulable Insufficient ephemeral-storage
NodeResourcesFit Unschedulable Insufficient example.com/gpu
NodeResourcesFit Unschedulable Insufficient hugepages-2Mi
NodeResourcesFit Unschedulable Too many pods
NodeResourcesFit UnschedulableAndUnresolvable Insufficient cpu
NodeResourcesFit UnschedulableAndUnresolvable Insufficient memory
NodeResourcesFit UnschedulableAndUnresolvable Insufficient hugepages-2Mi
NodeResourcesFit UnschedulableAndUnresolvable Insufficient kubernetes.io/something
NodeDeclaredFeatures UnschedulableAndUnresolvable node(s) didn't match Pod's required features
"""
REQUIRED_CROSS_POD = """
PodTopologySpread Unschedulable node(s) didn't match pod topology spread constraints
PodTopologySpread UnschedulableAndUnresolvable node(s) didn't match pod topology spread constraints (missing required label)
InterPodAffinity UnschedulableAndUnresolvable node(s) didn't match pod affinity rules
InterPodAffinity Unschedulable node(s) didn't match pod anti-affinity rules
InterPodAffinity Unschedulable node(s) didn't satisfy existing pods anti-affinity rules
InterPodAffinity UnschedulableAndUnresolvable parsing pod: ...
"""
REQUIRED_SCORES = ("TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "ImageLocality")
REQUIRED_SCORES_CROSS_POD = ("PodTopologySpread", "InterPodAffinity")
REQUIRED_PREEMPTION = """
candidate found
victims: 1
victims: 2
victims: 5 or more
victims: terminating among them
violations: 1
violations: 2 or more
several nodes tie
node: Insufficient cpu
node: Too many pods
node: No preemption victims found for incoming pod
node: node(s) didn't match pod affinity rules
node: node(s) didn't match pod anti-affinity rules
node: node(s) didn't satisfy existing pods anti-affinity rules
node: node(s) didn't match pod topology spread constraints
node: node(s) didn't have free ports for the requested pod ports
nomination: clear
nomination: none
nomination: override
not eligible due to preemptionPolicy=Never.
not eligible due to a terminating pod on the nominated node.
"""
REQUIRED_VOLUMES = """
VolumeRestrictions UnschedulableAndUnresolvable persistentvolumeclaim "_" not found
VolumeRestrictions Unschedulable node(s) had no available disk
VolumeRestrictions Unschedulable node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod
NodeVolumeLimits Unschedulable node(s) exceed max volume count
NodeVolumeLimits Unschedulable _ CSI driver is not installed on the node
NodeVolumeLimits UnschedulableAndUnresolvable looking up PVC _: persistentvolumeclaim "_" not found
VolumeBinding UnschedulableAndUnresolvable waiting for ephemeral volume controller to create the persistentvolumeclaim "_"
VolumeBinding UnschedulableAndUnresolvable persistentvolumeclaim "_" bound to non-existent persistentvolume "_"
VolumeBinding UnschedulableAndUnresolvable persistentvolumeclaim "_" is being deleted
VolumeBinding UnschedulableAndUnresolvable PVC _ was not created for pod _ (pod is not owner)
VolumeBinding UnschedulableAndUnresolvable pod has unbound immediate PersistentVolumeClaims
VolumeBinding UnschedulableAndUnresolvable node(s) didn't match PersistentVolume's node affinity
VolumeBinding UnschedulableAndUnresolvable node(s) didn't find available persistent volumes to bind
VolumeBinding UnschedulableAndUnresolvable node(s) did not have enough free storage
VolumeBinding UnschedulableAndUnresolvable node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)
VolumeZone UnschedulableAndUnresolvable node(s) had no available volume zone
"""
REQUIRED_VOLUME_ERRORS = (
    "VolumeBindingMode not set for StorageClass",
    "converting volume(_) from inline to csi",
    "PersistentVolumeClaim had no name",
)
REQUIRED_DEVICES = """
DynamicResources UnschedulableAndUnresolvable pod "_": ResourceClaim not created yet
DynamicResources UnschedulableAndUnresolvable pod "_", spec.resourceClaim "_": none of the supported fields are set
DynamicResources UnschedulableAndUnresolvable could not find ResourceClaim "_"
DynamicResources UnschedulableAndUnresolvable resourceclaim "_" is being deleted
DynamicResources UnschedulableAndUnresolvable ResourceClaim _ was not created for Pod _ (Pod is not owner)
DynamicResources UnschedulableAndUnresolvable request _: device class _ does not exist
DynamicResources UnschedulableAndUnresolvable resource claim _, request _: unknown request type
DynamicResources UnschedulableAndUnresolvable cannot fit resource
DynamicResources UnschedulableAndUnresolvable cannot schedule extended resource claim
DynamicResources UnschedulableAndUnresolvable invalid resource pools were encountered
DynamicResources UnschedulableAndUnresolvable cannot allocate all claims
DynamicResources UnschedulableAndUnresolvable resourceclaim not available on the node
"""
REQUIRED_GATED = """
pod "_": ResourceClaim not created yet
pod "_", spec.resourceClaim "_": none of the supported fields are set
could not find ResourceClaim "_"
resourceclaim "_" is being deleted
ResourceClaim _ was not created for Pod _ (Pod is not owner)
"""
REQUIRED_DEVICE_ERRORS = (
    "unsupported request",
    "asks for all devices, but resource pool _ is currently being updated",
    "asks for all devices, but resource pool _ is currently invalid",
    "because a claim constraint would not be satisfied",
    "devices exceeds the claim limit of",
    "CEL compile error",
    "CEL runtime error: no such key",
    "nodeSelectorTerms",
)
REQUIRED_CLOSED_GATES = ("compile derived attribute", "evaluate derived attribute")  # errors
REQUIRED_ALLOCATIONS = """
claims: 3 or more
config FromClass
config FromClaim
devices of a claim: 4 or more
node selector: 1 label(s)
node selector: 2 label(s)
node selector: none
node selector: the node
result of an alternative
result with adminAccess
result with bindingConditions
result with consumedCapacity
result with shareID
result with tolerations
special claim, requests: 0, mappings: 0
special claim, requests: 1, mappings: 1
special claim, requests: 1, mappings: 2
special claim, requests: 2, mappings: 4 or more
special claim, requests: 3 or more, mappings: 4 or more
"""
REQUIRED_FREED = """
deallocation of ResourceClaim completed
deletion of ResourceClaim completed
claims to free one of: 2 or more
"""
LONG_RUN_PODS = 20000


# Where upstream ends itself: NodeResourcesBalancedAllocation has no cache for the selectors of the device class that serves an
# extended resource which its arguments name (docs/spec/plugins-node.md).
_PANIC = b"noderesources.(*resourceAllocationScorer).deviceMatchesClass"


class Failure(Exception):
    """A side did not give an answer at all."""


class UpstreamPanic(Exception):
    """Upstream cannot be asked about this."""


def explain(command, folder):
    """The records of one side, a line per pod. Raises Failure."""
    words = [*command, "--cluster", str(folder / "cluster.json")]
    if (folder / "config.json").exists():
        words += ["--config", str(folder / "config.json")]
    gates = (folder / "gates.txt").read_text(encoding="utf-8")
    if gates:
        words += ["--feature-gates", gates]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode != 0 and b"panic: " in done.stderr and _PANIC in done.stderr:
        raise UpstreamPanic
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-1000:]}")
    return done.stdout.splitlines()


def compare_folder(commands, folder, coverage=None):
    """The pods with differences: [(pod, [difference, ...])]."""
    ours, theirs = explain(commands["ours"], folder), explain(commands["theirs"], folder)
    found = []
    if len(ours) != len(theirs):
        found.append(("", [("number of records", len(ours), len(theirs))]))
    for mine, other in zip(ours, theirs):
        mine, other = json.loads(mine), json.loads(other)
        if coverage is not None:
            coverage.add(other)
        if mine != other:
            differing = list(compare.differences(mine, other))
            if differing:
                found.append((other["pod"], differing))
    return found


def generator(args):
    """The function that makes the cases."""
    if args.devices:
        return devices.gated_case if args.gates else devices.case
    if args.volumes:
        return volumes.case
    return preempting.case if args.preemption else generate.case


def run_case(commands, args, number):
    """One case: (coverage, [text of a difference, ...])."""
    coverage, texts = compare.Coverage(), []
    pods = min(PODS_PER_CASE, args.pods - number * PODS_PER_CASE)
    made = generator(args)(args.seed, number, pods, not args.no_cross_pod)
    with tempfile.TemporaryDirectory(prefix="ks-parity-") as scratch:
        folder = pathlib.Path(scratch)
        generate.write(made, folder)
        try:
            found = compare_folder(commands, folder, coverage)
        except UpstreamPanic:
            return compare.Coverage(panics=1), []
        except Failure as failure:
            found = [("", [("exit", str(failure), "")])]
    for pod, differing in found[:args.shrink]:
        texts.append(report(commands, args, (number, made, pod, differing)))
    texts += [f"case {number} {pod}: {differing[0]}" for pod, differing in found[args.shrink:]]
    return coverage, texts


def report(commands, args, difference):
    """Shrinks a difference, writes it to a folder and returns a text about it."""
    number, made, pod, differing = difference
    folder = pathlib.Path(args.out) / f"seed-{args.seed}-case-{number}-{pod.replace('/', '-') or 'all'}"
    wanted = compare.kind(differing[0][0])

    def still_there(candidate):
        generate.write(candidate, folder)
        try:
            found = compare_folder(commands, folder)
        except UpstreamPanic:
            return False
        except Failure:
            return wanted == "exit"
        return any(compare.kind(field) == wanted for _, one in found for field, _, _ in one)

    small = shrink.shrink(made, pod, still_there)
    generate.write(small, folder)
    for side in commands:
        try:
            (folder / f"{side}.jsonl").write_bytes(b"\n".join(explain(commands[side], folder)) + b"\n")
        except Failure as failure:
            (folder / f"{side}.err").write_text(str(failure), encoding="utf-8")
    lines = [f"case {number}, pod {pod or '(all)'}: {len(differing)} differences; a small case is in {folder}"]
    lines += [f"    {field}: kubesched {mine!r}, upstream {other!r}" for field, mine, other in differing[:6]]
    (folder / "difference.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "\n".join(lines)


def oracle(name="oracle"):
    """The path of an oracle, or None with the reason on standard error."""
    found = subprocess.run([sys.executable, str(ROOT / "tools" / "controlplane"), "bindir"], capture_output=True, text=True,
                           check=False)
    if found.returncode != 0:
        print(f"LEFT OUT: {found.stderr.strip()}", file=sys.stderr)
        return None
    return str(pathlib.Path(found.stdout.strip()) / name)


def closed_gate_gaps(coverage):
    return ([text for text in REQUIRED_CLOSED_GATES if not any(text in error for error in coverage.errors)] +
            [text for text in ("result with skipNodeOperations",) if text not in coverage.allocations])


def device_gaps(coverage):
    wanted = ((REQUIRED_DEVICES, coverage.rejections), (REQUIRED_GATED, coverage.gated), (REQUIRED_ALLOCATIONS, coverage.allocations),
              (REQUIRED_FREED, coverage.preemption))
    return ([text for texts, seen in wanted for text in texts.strip().splitlines() if text not in seen] +
            [text for text in REQUIRED_DEVICE_ERRORS if not any(text in error for error in coverage.errors)] +
            ([] if coverage.scores["DynamicResources"] else ["score DynamicResources"]))


def gaps(args, coverage):
    """What a long run should have seen and did not."""
    if coverage.pods < LONG_RUN_PODS:
        return []
    if args.devices:
        return closed_gate_gaps(coverage) if args.gates else device_gaps(coverage)
    if args.volumes:
        return ([text for text in REQUIRED_VOLUMES.strip().splitlines() if text not in coverage.rejections] +
                [text for text in REQUIRED_VOLUME_ERRORS if not any(text in error for error in coverage.errors)] +
                ([] if coverage.scores["VolumeBinding"] else ["score VolumeBinding"]))
    if args.preemption:
        return [text for text in REQUIRED_PREEMPTION.strip().splitlines() if text not in coverage.preemption]
    texts, scorers = REQUIRED.strip().splitlines(), REQUIRED_SCORES
    if not args.no_cross_pod:
        texts, scorers = texts + REQUIRED_CROSS_POD.strip().splitlines(), scorers + REQUIRED_SCORES_CROSS_POD
    seen = {name.strip() for name in coverage.rejections}
    return [text for text in texts if text not in seen] + [f"score {name}" for name in scorers if not coverage.scores[name]]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeschedctl", required=True)
    parser.add_argument("--oracle", help="default: the one of tools/controlplane; without it the test is left out")
    parser.add_argument("--seed", default=os.environ.get("KS_PARITY_SEED") or "1", help='any text; "fresh": a new one')
    parser.add_argument("--pods", type=int, default=3000)
    parser.add_argument("--first-case", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--shrink", type=int, default=1, help="differences to shrink per case")
    parser.add_argument("--stop-after", type=int, default=10, help="cases with differences")
    parser.add_argument("--preemption", action="store_true",
                        help="full clusters, and also what preemption would do: node, victims in order, violated budgets, texts, "
                             "every node that was tried")
    parser.add_argument("--volumes", action="store_true",
                        help="clusters with volumes, claims, storage classes, drivers, capacities, limits and attachments")
    parser.add_argument("--devices", action="store_true",
                        help="clusters with devices, classes, taint rules, claims in every state and extended resources")
    parser.add_argument("--gates", action="store_true",
                        help="with --devices: in each cluster gates of the allocator are on that are off by default")
    parser.add_argument("--no-cross-pod", action="store_true", help="leave out affinity between pods and topology spread")
    parser.add_argument("--out", default="parity-differences", help="the folder for small cases")
    args = parser.parse_args()
    if args.seed == "fresh":
        args.seed = secrets.token_hex(4)
    return args


def main():
    args = parse_arguments()
    args.oracle = args.oracle or oracle()
    if args.oracle is None:
        return SKIPPED
    print(f"parity: seed {args.seed} (KS_PARITY_SEED={args.seed} repeats this run), {args.pods} pods", flush=True)
    commands = {"ours": [args.kubeschedctl, "explain", "-o", "json"], "theirs": [args.oracle]}
    if args.preemption:
        commands = {side: [*command, "--preemption"] for side, command in commands.items()}
    coverage, failed, begun = compare.Coverage(), 0, time.monotonic()
    cases = range(args.first_case, -(-args.pods // PODS_PER_CASE))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one, texts in pool.map(lambda number: run_case(commands, args, number), cases):
            coverage.merge(one)
            failed += bool(texts)
            for text in texts:
                print(f"DIFFERENCE {text}", flush=True)
            if failed >= args.stop_after:
                pool.shutdown(cancel_futures=True)
                break
    print(coverage.report())
    missing = gaps(args, coverage)
    for text in missing:
        print(f"GAP in the generator: never seen: {text}")
    tried = f"{coverage.preemption['candidate found']} preempting, " if args.preemption else ""
    print(f"parity: {coverage.pods} pods, {tried}{coverage.nodes} verdicts on nodes, {failed} cases with differences, "
          f"{time.monotonic() - begun:.0f} s")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
