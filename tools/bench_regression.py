# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of decisions and of arrival in this tree with those of the commit before; fails if a row is 10 % worse.

    ./dev bench regression                   the commit before; passes where there is nothing to compare with
    ./dev bench regression --base COMMIT     any commit; HEAD: what is not committed yet

Rows are CPU times: BM_Decide (ks_decision_bench), BM_Attempt (ks_cycle_bench: a pod's delta to its binding), and what kubesched
takes for pods that come one by one over HTTPS (kubeschedctl demo; this tree's drives both). The base is built below
build/regression with the settings of this tree's build. Then both sides run by turns, base, head, head, base. A row is worse if the
least of its runs is, and their median, and not by chance. Rows that look worse are run again, up to a limit: noise goes, a fault
stays.
Status 0: not worse, or nothing to compare; 1: worse; 2: could not be measured.
"""

import argparse
import collections
import dataclasses
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 1.10  # of head through base: what is above fails
AGAIN = 1.05  # rows above are measured again: they may be beyond LIMIT, or noise
SIGMAS = 3  # less could be chance
ROUNDS = (4, 16)  # of all rows; at most, of those that are measured again
TURNS = ("base", "head", "head", "base")
PRODUCT = ("src", "cmd", "cmake", "CMakeLists.txt", "CMakePresets.json")
BENCHES = {  # program: its rows
    "ks_decision_bench": r"^BM_Decide/([a-z_]+/5000/(remember|forget)|(plain|mixed)/5000/record|hard_spread_of_1000_applications/5000/remember)",
    "ks_cycle_bench": r"^BM_Attempt/(100|1000|5000)/",
}
DEMO = "demo"
DEMO_ROW = "demo, 250 pods a second"
DEMO_FLAGS = ("--plain", "--nodes", "500", "--pods", "500", "--arrival", "2s")
PROGRAMS = ("kubesched", *BENCHES)
_ALIKE = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_EXE_LINKER_FLAGS", "KS_SANITIZE", "KS_UNITY", "KS_WERROR")
_MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


class Nothing(Exception):
    """There is nothing to compare with; says why. A failure only if a base was asked for."""


class Broken(Exception):
    """The comparison cannot be made; says why."""


# Measuring.

def rows_of_bench(report):
    """{row: µs of CPU, the least of repetitions} of the JSON of a Google benchmark."""
    try:
        entries = json.loads(report)["benchmarks"]
    except ValueError as why:
        raise Broken(f"no report of a benchmark ({why}): {report[:200]!r}") from why
    rows = {}
    for entry in entries:
        if entry.get("run_type") == "aggregate":
            continue
        name = entry["name"].removesuffix("/manual_time")
        if entry.get("error_occurred"):
            raise Broken(f"{name}: {entry.get('error_message')}")
        rows[name] = min(entry["cpu_time"] * _MICROSECONDS[entry["time_unit"]], rows.get(name, float("inf")))
    return rows


def rows_of_demo(summary):
    """The same of what the demo prints."""
    cost = re.search(r"^ *scheduler .*\(([\d.]+) ms a pod\)", summary, re.MULTILINE)
    if not cost:
        raise Broken("the demo does not say what the scheduler took")
    return {DEMO_ROW: float(cost.group(1)) * 1e3}


def _output(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as why:
        raise Broken(str(why)) from why
    if done.returncode != 0:
        raise Broken(f"{' '.join(map(str, command))} ended with status {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def run_program(program, folder, head, names):
    """The rows of one process; `names`: of a benchmark these rows alone, None: all."""
    if program == DEMO:
        return rows_of_demo(_output([head / "kubeschedctl", "demo", *DEMO_FLAGS, "--scheduler", folder / "kubesched"]))
    pattern, repetitions = BENCHES[program], 1
    if names is not None:
        pattern, repetitions = "^(" + "|".join(map(re.escape, sorted(names))) + ")(/manual_time)?$", 5
    return rows_of_bench(_output([folder / program, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}",
                                  "--benchmark_min_time=0.02", "--benchmark_format=json"]))


class Measure:
    """Calling it with (side, names) runs the programs of that side once; names as in run_program, {program: rows}.

    A program of the base that does not run is left out from then on."""

    def __init__(self, folders, run=run_program):
        self._folders, self._run = folders, run  # {side: where its programs are}
        self._programs = {side: [*BENCHES, DEMO] for side in folders}

    def __call__(self, side, names):
        found = {}
        for program in list(self._programs[side]):
            if names is not None and not names.get(program):
                continue
            try:
                found[program] = self._run(program, self._folders[side], self._folders["head"], names and names[program])
            except Broken as why:
                if side == "head":
                    raise
                print(f"regression: left out: {program} of the base does not run: {why}", flush=True)
                self._programs[side].remove(program)
        return found


# Comparing.

@dataclasses.dataclass
class Row:
    """One line of the table."""
    program: str
    name: str
    costs: dict = dataclasses.field(default_factory=lambda: {"base": [], "head": []})  # µs of CPU of each run

    def both(self):
        """Whether both sides have this row."""
        return all(self.costs.values())

    def ratio(self, figure):
        """head through base, of `figure` (min, statistics.median) of their runs."""
        return figure(self.costs["head"]) / figure(self.costs["base"])

    def above(self, limit):
        """Whether the least and the median are: a rare lucky run moves the one, a busy machine the other, a fault both."""
        return self.both() and self.ratio(min) > limit and self.ratio(statistics.median) > limit

    def sigmas(self):
        """By how much more often than by chance a run of head costs more than one of base (the rank sum test of Mann and Whitney)."""
        base, head = self.costs["base"], self.costs["head"]
        more = sum((cost > other) + (cost == other) / 2 for cost in head for other in base)
        pairs = len(base) * len(head)
        return (more - pairs / 2) / math.sqrt(pairs * (len(base) + len(head) + 1) / 12)

    def verdict(self, changed=()):
        """In a word; `changed`: the programs whose own benchmark is another one now."""
        if not self.both():
            return "GONE" if self.costs["base"] else "new"
        if self.above(LIMIT) and self.sigmas() > SIGMAS:
            return "other benchmark" if self.program in changed else "WORSE"
        return "ok"


def _round(measure, rows, names):
    for side in TURNS:
        found = measure(side, names)
        have = {(program, name) for program, costs in found.items() for name in costs}
        # Of the first run nothing is expected but that there is something.
        expected = {key for key, row in rows.items() if row.costs[side] and (names is None or row.name in names.get(row.program, ()))}
        if expected - have:
            raise Broken(f"{side}: no figure of " + ", ".join(sorted(name for _, name in expected - have)))
        if not have:
            raise (Nothing if side == "base" else Broken)(f"{side}: no figure of any row")
        for program, name in sorted(have):
            rows.setdefault((program, name), Row(program, name)).costs[side].append(found[program][name])


def compare(measure, seconds=float("inf"), clock=time.monotonic):
    """The rows, sorted, after as many rounds as they need, and the number of rounds. No row is measured again after so many seconds."""
    begin, rows = clock(), {}
    names, rounds = None, 0
    while rounds < ROUNDS[1]:
        _round(measure, rows, names)
        rounds += 1
        if rounds < ROUNDS[0]:
            continue
        names = collections.defaultdict(list)
        for row in rows.values():
            if row.above(AGAIN):
                names[row.program].append(row.name)
        if not names or clock() - begin > seconds:
            break
    for program in (*BENCHES, DEMO):
        if not any(row.costs["head"] for row in rows.values() if row.program == program):
            raise Broken(f"head: no figure of {program}")
    order = [*BENCHES, DEMO]
    return sorted(rows.values(), key=lambda row: (order.index(row.program), row.name)), rounds


def table(rows, changed=()):
    """Its lines."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'µs of CPU, the least':{width}} {'base':>10} {'head':>10} {'ratio':>6} {'median':>6}  verdict"]
    for row in rows:
        least = [f"{min(row.costs[side]):,.1f}" if row.costs[side] else "" for side in ("base", "head")]
        ratios = [f"{row.ratio(figure):.3f}" if row.both() else "" for figure in (min, statistics.median)]
        lines.append(f"{row.name:{width}} {least[0]:>10} {least[1]:>10} {ratios[0]:>6} {ratios[1]:>6}  {row.verdict(changed)}")
    return lines


# The base.

def _git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)


def find_base(root, asked):
    """The base's commit. Raises Nothing."""
    found = _git(root, "rev-parse", "--verify", "--quiet", f"{asked or 'HEAD^'}^{{commit}}")
    if found.returncode != 0:
        raise Nothing(f"{asked or 'the commit before'} is not in this clone")
    commit = found.stdout.strip()
    if not asked and not changed_files(root, commit, PRODUCT):
        raise Nothing(f"nothing of the programs has changed since {commit[:10]}")
    return commit


def changed_files(root, commit, paths):
    """Those below `paths` that differ from the commit's, sorted."""
    differ = _git(root, "diff", "--name-only", commit, "--", *paths).stdout.splitlines()
    unknown = _git(root, "ls-files", "--others", "--exclude-standard", "--", *paths).stdout.splitlines()
    return sorted({*differ, *unknown})


def changed_benches(root, commit):
    """The programs of BENCHES whose own source, or a header of test/bench in it, differs from the commit's."""
    differ = set(changed_files(root, commit, ("test/bench",)))
    found = set()
    for program in BENCHES:
        source = f"test/bench/{program.removeprefix('ks_')}.cc"
        headers = re.findall(r'#include "(bench/[^"]+)"', (root / source).read_text(encoding="utf-8"))
        if differ & {source, *(f"test/{header}" for header in headers)}:
            found.add(program)
    return found


def check_out(root, commit, trees):
    """The folder below `trees` with the commit's files; those of other commits go."""
    folder = trees / commit[:12]
    if folder.exists():
        return folder
    shutil.rmtree(trees, ignore_errors=True)
    trees.mkdir(parents=True)
    with tempfile.TemporaryFile() as archive:
        subprocess.run(["git", "-C", str(root), "archive", "--format=tar", commit], stdout=archive, check=True)
        archive.seek(0)
        partial = trees / "partial"
        with tarfile.open(fileobj=archive) as tar:
            tar.extractall(partial)
    partial.rename(folder)
    return folder


def settings(tree):
    """{variable: value} of a configured build tree: what must be the same on both sides."""
    lines = (tree / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    values = dict(re.match(r"([^:#/]+):\w+=(.*)", line).groups() for line in lines if re.match(r"[^:#/]+:\w+=", line))
    values = {name: values[name] for name in _ALIKE if name in values}
    compiler = values.get("CMAKE_CXX_COMPILER")  # a tree may name it with or without its folder
    if compiler:
        values["CMAKE_CXX_COMPILER"] = shutil.which(compiler) or compiler
    return values


def build_base(folder, like, jobs):
    """The folder with the base's programs, built with the settings of `like`. Raises Nothing."""
    wanted = settings(like)
    targets = ["kubesched"] + [name for name in BENCHES if (folder / f"test/bench/{name.removeprefix('ks_')}.cc").exists()]
    log = folder.parent / "build.log"
    with log.open("w", encoding="utf-8") as output:
        for command in (["cmake", "--preset", "release", *(f"-D{name}={value}" for name, value in wanted.items())],
                        ["ninja", "-C", "build", "-j", str(jobs), *targets]):
            if subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, check=False).returncode != 0:
                raise Nothing(f"{folder.name} does not build ({log}):\n" + log.read_text(encoding="utf-8")[-2000:])
    built = settings(folder / "build")
    if any(built.get(name) != value for name, value in wanted.items()):
        raise Broken(f"the two are not built alike: {wanted} and {built}")
    return folder / "build" / "bin"


def prepare(options):
    """({side: folder of its programs}, programs whose benchmark has changed). Raises Nothing."""
    if options.programs:
        return dict(zip(("base", "head"), options.programs)), set()
    head = ROOT / "build"
    commit = find_base(ROOT, options.base)
    begin = time.monotonic()
    folder = check_out(ROOT, commit, head / "regression")
    programs = build_base(folder, head, options.jobs)
    print(f"regression: this tree beside {_git(ROOT, 'log', '-1', '--format=%h (%s)', commit).stdout.strip()}, "
          f"built in {time.monotonic() - begin:.0f} s", flush=True)
    return {"base": programs, "head": head / "bin"}, changed_benches(ROOT, commit)


def main(arguments=None):
    """The status."""
    parser = argparse.ArgumentParser(prog="./dev bench regression", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="COMMIT", help="instead of the commit before")
    parser.add_argument("--programs", nargs=2, type=pathlib.Path, metavar=("BASE", "HEAD"), help="folders of programs that are built already")
    parser.add_argument("--seconds", type=float, default=240, help="after that no row is measured again (240)")
    parser.add_argument("--jobs", type=int, default=1, help="of the base's build (1)")
    options = parser.parse_args(arguments)
    try:
        folders, changed = prepare(options)
        begin = time.monotonic()
        rows, rounds = compare(Measure(folders), options.seconds)
    except Nothing as why:
        print(f"regression: nothing to compare: {why}")
        return 2 if options.base else 0
    except Broken as why:
        print(f"regression: {why}")
        return 2
    print("\n".join(table(rows, changed)))
    worse = [row.name for row in rows if row.verdict(changed) == "WORSE"]
    print(f"regression: {len(rows)} rows, {rounds} rounds, {time.monotonic() - begin:.0f} s: "
          + (f"more than {LIMIT - 1:.0%} worse: {', '.join(worse)}" if worse else f"none is more than {LIMIT - 1:.0%} worse"))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
