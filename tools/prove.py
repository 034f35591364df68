# SPDX-License-Identifier: Apache-2.0
"""What takes hours: fresh seeds, sweeps, soak, fuzzing, all placement seeds, a sample of mutants. Behind ./dev prove.

    python3 tools/prove.py [--hours N] [--seed S] [--only WORD]... [--list]

The steps take turns, each with seeds that no turn before it had, until the hours are over; every step has had one turn at least. A
step that fails is told at once, with the command that repeats it, and the rest goes on. Logs are in build/prove/; the last line is
"N passed, N failed", and the status is 1 if a step failed.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SKIPPED = 77  # what a step without its servers ends with


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    command: str  # in the project's folder; {seed} and {first}..{last}: this turn's
    environment: str = ""  # NAME=VALUE, likewise
    seeds: int = 1  # how many seeds a turn has


def _fuzz(target, mutations):
    return Step(f"fuzz {target}",
                f"build-asan-ubsan/bin/ks_fuzz {target} --mutations {mutations} --seed {{seed}} test/fuzz/corpus/{target}")


_PARITY = "python3 test/parity/run.py --kubeschedctl build/bin/kubeschedctl --jobs 2 --out build/prove/differences --seed {seed}"
_E2E = "build/bin/ks_e2e_test --gtest_filter={}"
STEPS = (
    Step("simulation", "build/bin/ks_sim --seeds {first}..{last} --jobs 2", seeds=2000),
    Step("what the simulation reaches", "python3 tools/sim_coverage.py --seeds {first}..{last}", seeds=2000),
    Step("planted bugs", "build/bin/ks_sim_canary --canary all --seeds 1..2000"),
    Step("parity", f"{_PARITY} --pods 20000"),
    Step("parity, preemption", f"{_PARITY} --pods 10000 --preemption"),
    Step("parity, volumes", f"{_PARITY} --pods 10000 --volumes --preemption"),
    Step("CEL expressions", "build/bin/ks_cel_compare random --seed {seed} --count 200000"),
    Step("both forms of objects", "build/bin/ks_fuzz_forms all --seed {seed} --count 50000 --answers test/fuzz/forms/answers.jsonl"
                                  " test/api/data/forms.jsonl"),
    Step("placement", _E2E.format("*Placement*"), "KS_PLACEMENT_SEEDS=10"),
    *(step for version in ("v1.35", "v1.36") for step in (
        Step(f"servers of {version}", f"python3 tools/controlplane build --version {version}"),
        Step(f"API server {version}", _E2E.format("*"), f"KS_KUBERNETES_VERSION={version}"))),
    Step("rights of the manifests", _E2E.format("Scheduling.*:*Placement*:*Volumes*Kubesched:Group*:*Resize*ours"), "KS_E2E_USER=serviceaccount"),
    Step("configuration files", _E2E.format("*ConfigParity*"), "KS_PARITY_SEED={seed}"),
    Step("upstream suites", "python3 tools/upstream.py --seed {seed}"),
    Step("chart", "python3 test/deploy/deploy_test.py"),
    Step("chart, manifests and plugin on the real server", "python3 test/deploy/cluster_test.py build/bin/kubesched build/bin/kubeschedctl"),
    Step("replicas of one lease", "python3 test/release/mixed.py --server real --old build/bin/kubesched --new build/bin/kubesched"
                                  " --kubeschedctl build/bin/kubeschedctl --seed {seed}"),
    Step("soak", "build/bin/ksdev soak --minutes 25 --seed {seed}"),
    Step("faults", "python3 test/faults/run.py --minutes 20 --seed {seed}"),
    Step("churn", "build/bin/ks_churn"),
    *(_fuzz(target, 20000) for target in ("quantity", "selector", "pod", "node", "workload", "text", "dump", "protobuf",
                                             "kubeconfig", "flags", "http", "extender", "otlp", "metrics")),
    _fuzz("module", 5000),
    _fuzz("recording", 5000),
    _fuzz("cel", 3000),
    *(_fuzz(target, 500) for target in ("config", "convert", "patch", "admission")),
    Step("fuzzing led by coverage", "python3 tools/libfuzzer.py --minutes 20"),
    Step("whole suite beside a load", "python3 tools/under_load.py ./dev test"),
    Step("mutants", "python3 tools/mutate.py --sample 200 --seed {seed} --seeds 20 --time 90 --report build/prove/mutants.json"),
)


def turn(step, first_seed):
    """The step's command line and environment for the turn that begins with this seed."""
    words = {"seed": first_seed, "first": first_seed, "last": first_seed + step.seeds - 1}
    return step.command.format(**words), step.environment.format(**words)


def _run(step, number, first_seed, folder):
    command, environment = turn(step, first_seed)
    log = folder / f"{step.name.replace(', ', '-').replace(' ', '-')}-{number}.log"
    begin = time.monotonic()
    with open(log, "w", encoding="utf-8") as out:
        status = subprocess.run(shlex.split(command), cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False,
                                env={**os.environ, **dict(word.split("=", 1) for word in environment.split())}).returncode
    verdict = {0: "passed", SKIPPED: "skipped"}.get(status, f"FAILED with status {status}")
    print(f"{step.name}: {verdict} after {time.monotonic() - begin:.0f} s", flush=True)
    if status not in (0, SKIPPED):
        print(f"  log: {log.relative_to(ROOT)}\n  again: {' '.join((environment + ' ' + command).split())}", flush=True)
    return status


def _parse():
    parser = argparse.ArgumentParser(prog="./dev prove", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=8, help="no turn begins later (default 8)")
    parser.add_argument("--seed", type=int, help="where seeds begin (default: drawn)")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="only steps with this word in their name")
    parser.add_argument("--list", action="store_true", help="print the steps and end")
    options = parser.parse_args()
    options.steps = [step for step in STEPS if not options.only or any(word in step.name for word in options.only)]
    if not options.steps:
        parser.error(f"no step has {' or '.join(options.only)} in its name: see --list")
    return options


def main():
    options = _parse()
    if options.list:
        for step in options.steps:
            print(f"{step.name}: {step.environment} {step.command}".replace("  ", " "))
        return 0
    folder = ROOT / "build" / "prove"
    folder.mkdir(parents=True, exist_ok=True)
    seed = random.SystemRandom().randrange(10**6, 10**9) if options.seed is None else options.seed
    print(f"prove: seeds from {seed} on (--seed {seed} repeats this run), {options.hours:g} hours, logs in {folder.relative_to(ROOT)}")
    end, passed, failed, skipped, number = time.monotonic() + options.hours * 3600, 0, 0, 0, 0
    while number == 0 or time.monotonic() < end:
        for step in options.steps:
            if number and time.monotonic() >= end:
                break
            status = _run(step, number, seed, folder)
            seed += step.seeds
            passed, failed, skipped = passed + (status == 0), failed + (status not in (0, SKIPPED)), skipped + (status == SKIPPED)
        number += 1
    print(f"{skipped} skipped\n{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
