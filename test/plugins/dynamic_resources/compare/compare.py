# SPDX-License-Identifier: Apache-2.0
"""Compares our device allocator with upstream's on random worlds (test/parity/device_world.py), or on requests of a file.

    compare.py [--oracle DRAORACLE] --ours KS_DRA_ANSWERS [--seed 1] [--count 20000] [--file REQUESTS] [--gates GATE,GATE...]

Every answer must be the same: verdict, text, devices, amounts, configuration, node selector. A difference is made small before
it is shown. Searches that upstream does not end in time are left out and counted. Status 77: a program is not there.
"""

import argparse
import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path += [str(ROOT / "tools" / "controlplane"), str(ROOT / "test" / "parity")]
import build  # noqa: E402
import device_world  # noqa: E402

LEFT_OUT = {"timeout", "panic"}  # what upstream does not answer
# What a smaller request keeps: lists that may become empty, and what a world without is not upstream's.
KEPT = {"slices", "classes", "claims", "spec", "devices", "requests", "exactly", "firstAvailable", "allocationMode", "count",
        "dedicated", "shared", "deviceClassName", "value", "default"}
KEPT_WHOLE = {"metadata", "node", "name", "driver", "pool", "device", "cel", "nodeSelector", "consumed"}


class Program:
    """Either side: answers requests, one line each."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        """The answer to one request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args[0]} ended with status {self.process.wait()}: {json.dumps(request)}")
        return json.loads(line)


def normal(answer):
    """What counts of an answer: what is empty is as absent, of syntax errors only that there is one (docs/spec/plugins-dra.md 7), and of
    devices that upstream dumps with all their fields (docs/spec/plugins-dra.md 3.2) only that there is one."""
    if isinstance(answer, str):
        return re.sub("for device .* in slice", "for device X in slice", answer.split("Syntax error:")[0])
    if isinstance(answer, dict):
        return {key: normal(value) for key, value in answer.items() if value not in ("", [], None)}
    if isinstance(answer, list):
        return [normal(value) for value in answer]
    return answer


def _parts(request):
    """Places that can be left out of a request, as (holder, key)."""
    found = []

    def visit(value):
        if isinstance(value, dict):
            for key, one in value.items():
                if key in KEPT_WHOLE:
                    continue
                if key not in KEPT:
                    found.append((value, key))
                visit(one)
        elif isinstance(value, list):
            for index, one in enumerate(value):
                found.append((value, index))
                if not isinstance(one, list):
                    visit(one)
    visit(request)
    return found


def shrink(request, differs):
    """A smaller request that still differs."""
    smaller = True
    while smaller:
        smaller = False
        for number in reversed(range(len(_parts(request)))):
            tried = copy.deepcopy(request)
            parts = _parts(tried)
            if number >= len(parts):
                continue
            holder, key = parts[number]
            del holder[key]
            try:
                if differs(tried):
                    request, smaller = tried, True
            except (RuntimeError, KeyError):
                continue
    return request


def kind(answer):
    """What sort of answer it is, for the tally."""
    for key in (*sorted(LEFT_OUT), "error", "nodeError", "allocations"):
        if key in answer:
            return key
    return "none"


def requests(options):
    """(name, request) of all that shall be asked."""
    if options.file:
        with open(options.file, encoding="utf-8") as lines:
            yield from ((f"line {i}", json.loads(line)) for i, line in enumerate(lines, 1))
        return
    for seed in range(options.seed, options.seed + options.count):
        yield f"seed {seed}", device_world.case(seed, options.gates)


def main():
    """Runs the comparison; the status is 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", default=str(build.binary_dir() / "draoracle"))
    parser.add_argument("--ours", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--file")
    parser.add_argument("--shown", type=int, default=5, help="differences after which it ends")
    parser.add_argument("--gates", type=lambda text: [gate for gate in text.split(",") if gate], default=[],
                        help="feature gates to turn on, of device_world.GATED; or `all`")
    parser.add_argument("--patience", default="512", help="of our search, before it begins to remember dead ends")
    options = parser.parse_args()
    if options.gates == ["all"]:
        options.gates = sorted(device_world.GATED)
    for program in (options.oracle, options.ours):
        if not os.access(program, os.X_OK):
            print(f"{program} is not there: run ./dev controlplane build")
            return 77
    gates = ",".join(gate + "=true" for gate in options.gates)
    version = "1.37" if device_world.FRACTIONAL in options.gates else "1.36"  # of the API servers that the gate asks for
    reference = Program([options.oracle, "-timeout", "2s", "-feature-gates", gates, "-min-compatibility-version", version])
    ours = Program([options.ours, gates, version, options.patience])
    tally, differences = collections.Counter(), 0

    def differs(request):
        wanted = reference.ask(request)
        return not LEFT_OUT & wanted.keys() and normal(wanted) != normal(ours.ask(request))

    for name, request in requests(options):
        wanted = reference.ask(request)
        tally[kind(wanted)] += 1
        if LEFT_OUT & wanted.keys() or normal(wanted) == normal(ours.ask(request)):
            continue
        small = shrink(request, differs)
        differences += 1
        print(f"{name}: {json.dumps(small)}\n  reference: {json.dumps(normal(reference.ask(small)))}\n"
              f"  ours:      {json.dumps(normal(ours.ask(small)))}", flush=True)
        if differences == options.shown:
            break
    print(f"{sum(tally.values())} compared ({', '.join(f'{n} {k}' for k, n in sorted(tally.items()))}), {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
