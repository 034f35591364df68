#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parity of groups of pods: random worlds, played by kubesched (ks_group_answers) and by upstream's own scheduler (grouporacle).

After each step of a world these must be equal: every pod's node, nomination and conditions, every PodGroup's conditions, who
was evicted, and the number of attempts. A difference is made small and written to a folder. Attempts that upstream leaves to the
flush of unschedulable pods are none (docs/testing.md).

    groups.py --ours build/bin/ks_group_answers                                    500 groups, as in CI
    groups.py --ours build/bin/ks_group_answers --groups 20000 --jobs 2            a long run, by hand
    groups.py --ours build/bin/ks_group_answers --theirs-twice                     upstream against itself
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time

import group_worlds
import run

GROUPS_PER_WORLD = 12
WORLDS_PER_CALL = 20
LONG_RUN = 20000
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 1,
    "profiles": [{"schedulerName": "default-scheduler"}],
}
# One more scorer, which only decides what is equal otherwise.
SCORERS = [{"name": "NodeResourcesFit", "weight": 1000}, {"name": "PodGroupPodsCount", "weight": 1000},
           {"name": "PlacementNumber", "weight": 1}]

# What a long run must have seen, as texts without numbers and names.
REQUIRED = """
PodGroupInitiallyScheduled|True|Scheduled|
minCount (#) cannot be satisfied: # scheduled, # remaining
pod group preemption: found a placement for podgroup, preempting # victims
pod group preemption: No preemption victims found for incoming preemptor
pod group preemption: not eligible due to preemptionPolicy=Never.
pod group preemption: ongoing preemption on nominated nodes
#/# placements are available, first placement status
no feasible placements found
all pods in a single pod group should have the same priority as the pod group's priority
all pods in a single pod group should have the same preemption policy
preempting to accommodate a higher priority podgroup
preempting to accommodate a higher priority compositepodgroup
Insufficient cpu
node(s) didn't match pod anti-affinity rules
node(s) didn't match pod topology spread constraints
node(s) didn't have free ports for the requested pod ports
""".strip().splitlines()


class Sides:
    """The two commands. `twice`: upstream in both places."""

    def __init__(self, ours, theirs, twice):
        self.ours, self.theirs, self.twice = ours, theirs, twice

    def command(self, mine, kind, folder):
        gates = group_worlds.GATES[kind][0]
        configuration = json.loads(json.dumps(CONFIGURATION))
        if "Topology" in gates:
            configuration["profiles"][0]["plugins"] = {"placementScore": {"enabled": SCORERS}}
        path = pathlib.Path(folder) / "configuration.json"
        path.write_text(json.dumps(configuration), encoding="utf-8")
        if mine and not self.twice:
            return [self.ours, str(path), gates]
        return [self.theirs, "--config", str(path), "--feature-gates", gates]

    def play(self, kind, worlds):
        """[(ours, theirs)], one a world."""
        text = "".join(json.dumps(one) + "\n" for one in worlds).encode()
        with tempfile.TemporaryDirectory(prefix="ks-groups-") as folder:
            answers = [answers_of(self.command(mine, kind, folder), text, len(worlds)) for mine in (True, False)]
        return list(zip(*answers))


def answers_of(command, text, count):
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    why = f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-600:]}"
    return answers + [{"error": why}] * (count - len(answers))


def differences(mine, other):
    """[(step, what, ours, theirs)] of the first step that differs."""
    if mine.get("error") or other.get("error"):
        if mine.get("error") != other.get("error"):
            return [(len(mine.get("steps", [])), "error", mine.get("error"), other.get("error"))]
        return []
    ours, theirs = mine.get("steps", []), other.get("steps", [])
    for number, (a, b) in enumerate(zip(ours, theirs)):
        if a == b:
            continue
        found = [(number, key, a["objects"].get(key), b["objects"].get(key))
                 for key in sorted(a["objects"].keys() | b["objects"].keys())
                 if a["objects"].get(key) != b["objects"].get(key)]
        found += [(number, key, a.get(key), b.get(key)) for key in ("evicted", "attempts") if a.get(key) != b.get(key)]
        return found
    if len(ours) != len(theirs):
        return [(min(len(ours), len(theirs)), "steps", len(ours), len(theirs))]
    return []


def woken_earlier(sides, kind, world, found):
    """Whether kubesched only attempts what upstream leaves to the flush of unschedulable pods."""
    more = any(what == "attempts" and mine > other for _, what, mine, other in found)
    if not more:
        return False
    steps = [each for step in world["steps"] for each in (step, {"wait": group_worlds.LONG})]
    return not differences(*sides.play(kind, [{"steps": steps}])[0])


def kind_of(difference):
    return difference[1].split("/")[0]


def shrink(sides, kind, world, wanted, budget=250):
    """A smaller world that differs in the same kind of object."""

    def still(candidate):
        found = differences(*sides.play(kind, [candidate])[0])
        return any(kind_of(one) == wanted for one in found)

    steps = world["steps"]
    changed = True
    while changed and budget > 0:
        changed = False
        for make in (fewer_steps, fewer_objects):
            for candidate in make(steps):
                budget -= 1
                if budget <= 0:
                    break
                if still({"steps": candidate}):
                    steps, changed = candidate, True
                    break
    return {"steps": steps}


def fewer_steps(steps):
    for size in (len(steps) // 2, len(steps) // 4, 1):
        for at in range(len(steps) - size, -1, -max(size, 1)):
            if size:
                yield steps[:at] + steps[at + size:]


def fewer_objects(steps):
    for number, step in enumerate(steps):
        for field in ("put", "delete"):
            for at in range(len(step.get(field, ())) - 1, -1, -1):
                fewer = {**step, field: step[field][:at] + step[field][at + 1:]}
                yield steps[:number] + [fewer] + steps[number + 1:]


class Coverage:
    def __init__(self):
        self.count = collections.Counter()
        self.texts = collections.Counter()

    def add(self, world, answer):
        self.count["groups"] += sum(one["kind"] == "PodGroup" and step is not world["steps"][0]
                                    for step in world["steps"] for one in step.get("put", ()))
        for step in answer.get("steps", ()):
            self.count["attempts"] += step["attempts"]
            self.count["evicted"] += len(step.get("evicted", ()))
            for key, lines in step["objects"].items():
                self.add_object(key.split("/")[0], lines)

    def add_object(self, kind, lines):
        for line in lines:
            if kind == "Pod" and line.startswith("node ") and line != "node ":
                self.count["members with a node"] += 1
            if "|" in line:
                self.texts[re.sub(r"[0-9]+", "#", line)] += 1

    def merge(self, other):
        self.count += other.count
        self.texts += other.texts

    def gaps(self):
        return [text for text in REQUIRED if not any(text in seen for seen in self.texts)]


def jobs_of(args):
    """(kind, numbers of worlds), so many that there are enough groups."""
    worlds = -(-args.groups // GROUPS_PER_WORLD)
    shares = sum(share for _, share in group_worlds.GATES.values())
    for kind, (_, share) in group_worlds.GATES.items():
        if args.kind not in (None, kind):
            continue
        count = worlds if args.kind else -(-worlds * share // shares)
        numbers = range(args.first_world, args.first_world + count)
        for at in range(0, count, WORLDS_PER_CALL):
            yield kind, numbers[at:at + WORLDS_PER_CALL]


def compare(sides, args, kind, numbers):
    coverage, texts = Coverage(), []
    worlds = [group_worlds.world(args.seed, number, kind, GROUPS_PER_WORLD) for number in numbers]
    for number, world, (mine, other) in zip(numbers, worlds, sides.play(kind, worlds)):
        coverage.add(world, other)
        found = differences(mine, other)
        if found and woken_earlier(sides, kind, world, found):
            coverage.count["worlds woken earlier"] += 1
        elif found:
            texts.append(report(sides, args, (kind, number), world, found))
    return coverage, texts


def report(sides, args, which, world, found):
    kind, number = which
    world = {"steps": world["steps"][:found[0][0] + 1]}
    if not args.no_shrink:
        world = shrink(sides, kind, world, kind_of(found[0]))
    mine, other = sides.play(kind, [world])[0]
    found = differences(mine, other) or found
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed-{args.seed}-{kind}-{number}.json"
    path.write_text(json.dumps(world) + "\n", encoding="utf-8")
    lines = [f"seed {args.seed}, {kind}, world {number}: a small world is in {path}"]
    lines += [f"    step {step} {what}:\n        kubesched {a}\n        upstream  {b}" for step, what, a, b in found[:6]]
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="ks_group_answers")
    parser.add_argument("--oracle", help="grouporacle; default: the one of tools/controlplane, without it the test is left out")
    parser.add_argument("--theirs-twice", action="store_true", help="upstream in both places: does it repeat?")
    parser.add_argument("--seed", default=os.environ.get("KS_PARITY_SEED") or "1", help='any text; "fresh": a new one')
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--kind", choices=sorted(group_worlds.GATES))
    parser.add_argument("--first-world", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--stop-after", type=int, default=5, help="calls with differences")
    parser.add_argument("--out", default="group-differences")
    parser.add_argument("--show", help="play this world (with --kind) and print both answers")
    args = parser.parse_args()
    if args.seed == "fresh":
        args.seed = secrets.token_hex(4)
    return args


def show(sides, args):
    world = json.loads(pathlib.Path(args.show).read_text(encoding="utf-8"))
    mine, other = sides.play(args.kind, [world])[0]
    for step, what, a, b in differences(mine, other):
        print(f"step {step} {what}:\n    kubesched {a}\n    upstream  {b}")
    print(json.dumps({"kubesched": mine, "upstream": other}, indent=1))


def main():
    args = parse_arguments()
    theirs = args.oracle or run.oracle("grouporacle")
    if theirs is None:
        return run.SKIPPED
    sides = Sides(args.ours, theirs, args.theirs_twice)
    if args.show:
        show(sides, args)
        return 0
    print(f"groups: seed {args.seed} (KS_PARITY_SEED={args.seed} repeats this run)", flush=True)
    coverage, failed, begun = Coverage(), 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for one, texts in pool.map(lambda job: compare(sides, args, *job), jobs_of(args)):
            coverage.merge(one)
            failed += len(texts)
            for text in texts:
                print(f"DIFFERENCE {text}", flush=True)
            if failed >= args.stop_after:
                pool.shutdown(cancel_futures=True)
                break
    missing = coverage.gaps() if coverage.count["groups"] >= LONG_RUN else []
    for text in missing:
        print(f"GAP in the generator: never seen: {text}")
    counts = ", ".join(f"{number} {what}" for what, number in coverage.count.items())
    print(f"groups: {counts}, {failed} worlds with differences, {time.monotonic() - begun:.0f} s")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
