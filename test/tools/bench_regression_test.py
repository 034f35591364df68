# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/bench_regression.py over made-up measurements and repositories. Measuring takes a minute: ./dev bench regression."""

import contextlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import bench_regression  # noqa: E402

DECISION, CYCLE, DEMO = "ks_decision_bench", "ks_cycle_bench", bench_regression.DEMO
COSTS = {(DECISION, f"BM_Decide/{i}"): 4000.0 + 3000 * i for i in range(20)} | {
    (CYCLE, f"BM_Attempt/{i}"): 15.0 + 10 * i for i in range(3)} | {(DEMO, bench_regression.DEMO_ROW): 670.0}


class MadeUp:
    """Measurements of sides with these costs, `noise` (of a random source) on each."""

    def __init__(self, base, head, noise=lambda: 1.0):
        self.costs, self.noise, self.calls = {"base": base, "head": head}, noise, []

    def __call__(self, side, names):
        self.calls.append((side, names))
        found = {}
        for (program, name), cost in self.costs[side].items():
            if names is None or name in names.get(program, ()):
                found.setdefault(program, {})[name] = cost * self.noise()
        return found


def _noise(seed):
    """Runs are up to a quarter above the cost, a sixth of them far above, as beside other work."""
    source = random.Random(seed)
    return lambda: 1 + source.random() * 0.25 + (source.random() * 0.6 if source.random() < 1 / 6 else 0)


def _slower(factor, *names):
    return {key: cost * (factor if key[1] in names else 1) for key, cost in COSTS.items()}


def _verdicts(measure, changed=(), **options):
    rows, _ = bench_regression.compare(measure, **options)
    return {row.name: row.verdict(changed) for row in rows if row.verdict(changed) != "ok"}


class Comparison(unittest.TestCase):
    def test_noise_is_not_found(self):
        for seed in range(200):
            with self.subTest(seed=seed):
                self.assertEqual(_verdicts(MadeUp(COSTS, COSTS, _noise(seed))), {})

    def test_a_fault_is_found_in_noise(self):
        slow = ("BM_Decide/0", "BM_Decide/7", "BM_Attempt/2", bench_regression.DEMO_ROW)
        found = 0
        for seed in range(200):
            verdicts = _verdicts(MadeUp(COSTS, _slower(1.15, *slow), _noise(seed)))
            self.assertLessEqual(set(verdicts), set(slow), f"seed {seed}")
            found += bool(verdicts)
        self.assertEqual(found, 200)

    def test_a_fault_of_each_row_is_found_without_noise(self):
        for _, name in COSTS:
            with self.subTest(name):
                self.assertEqual(_verdicts(MadeUp(COSTS, _slower(1.11, name))), {name: "WORSE"})
                self.assertEqual(_verdicts(MadeUp(COSTS, _slower(1.09, name))), {})
        self.assertEqual(_verdicts(MadeUp(COSTS, _slower(0.5, "BM_Decide/3"))), {})

    def test_the_least_or_the_median_alone_or_chance_is_no_fault(self):
        for name, base, head in (("a lucky run", [800] + [1000] * 9, [1050] * 10),
                                 ("a busy while", [1000] * 10, [1000] + [1300] * 9),
                                 ("chance", [1000, 2000, 1100, 2000, 1400, 1300], [2000, 1200, 1800, 1900, 1700, 1300])):
            with self.subTest(name):
                self.assertEqual(bench_regression.Row(CYCLE, "a", {"base": base, "head": head}).verdict(), "ok")

    def test_sigmas(self):
        for base, head, want in (([1] * 8, [2] * 8, 3.361), ([1, 2], [1, 2], 0), ([2, 2], [1, 1], -1.549)):
            self.assertAlmostEqual(bench_regression.Row(CYCLE, "a", {"base": base, "head": head}).sigmas(), want, places=3)

    def test_turns_and_rounds(self):
        alike = MadeUp(COSTS, COSTS)
        bench_regression.compare(alike)
        self.assertEqual(alike.calls, [(side, None) for side in bench_regression.TURNS * bench_regression.ROUNDS[0]])
        slower = MadeUp(COSTS, _slower(1.2, "BM_Attempt/1"))
        bench_regression.compare(slower)
        self.assertEqual(len(slower.calls), 4 * bench_regression.ROUNDS[1])
        self.assertEqual(slower.calls[-1], ("base", {CYCLE: ["BM_Attempt/1"]}))

    def test_time_is_up(self):
        slower = MadeUp(COSTS, _slower(1.2, "BM_Attempt/1"))
        self.assertEqual(_verdicts(slower, seconds=1, clock=iter(range(0, 1000, 10)).__next__), {"BM_Attempt/1": "WORSE"})
        self.assertEqual(len(slower.calls), 4 * bench_regression.ROUNDS[0])

    def test_rows_of_one_side(self):
        one = {key: cost for key, cost in COSTS.items() if key[1] != "BM_Decide/3"}
        self.assertEqual(_verdicts(MadeUp(one, COSTS)), {"BM_Decide/3": "new"})
        self.assertEqual(_verdicts(MadeUp(COSTS, one)), {"BM_Decide/3": "GONE"})

    def test_another_benchmark_is_no_fault(self):
        self.assertEqual(_verdicts(MadeUp(COSTS, _slower(1.5, "BM_Decide/1", "BM_Attempt/0")), {DECISION}),
                         {"BM_Decide/1": "other benchmark", "BM_Attempt/0": "WORSE"})

    def test_missing_rows_are_errors(self):
        class Once(MadeUp):
            def __call__(self, side, names):
                found = super().__call__(side, names)
                if len(self.calls) > 2:
                    found[CYCLE].pop("BM_Attempt/1")
                return found

        with self.assertRaisesRegex(bench_regression.Broken, "BM_Attempt/1"):
            bench_regression.compare(Once(COSTS, COSTS))
        with self.assertRaisesRegex(bench_regression.Nothing, "base: no figure of any row"):
            bench_regression.compare(MadeUp({}, COSTS))
        for program in (DECISION, CYCLE, DEMO):
            with self.assertRaisesRegex(bench_regression.Broken, f"head: no figure of {program}"):
                bench_regression.compare(MadeUp(COSTS, {key: cost for key, cost in COSTS.items() if key[0] != program}))

    def test_the_table(self):
        rows, _ = bench_regression.compare(MadeUp(COSTS, _slower(1.2, "BM_Decide/1")))
        lines = bench_regression.table(rows)
        self.assertEqual(len(lines), len(COSTS) + 1)
        self.assertIn(["BM_Decide/1", "7,000.0", "8,400.0", "1.200", "1.200", "WORSE"], [line.split() for line in lines])


class Reports(unittest.TestCase):
    def test_rows_of_a_google_benchmark(self):
        def entry(name, cost, unit="ms", **more):
            return {"name": name, "run_type": "iteration", "cpu_time": cost, "time_unit": unit, **more}

        report = {"benchmarks": [entry("a/5/manual_time", 2.0), entry("a/5/manual_time", 1.5), entry("b", 500, "ns"),
                                 entry("a/5/manual_time_mean", 1.0, run_type="aggregate")]}
        self.assertEqual(bench_regression.rows_of_bench(json.dumps(report)), {"a/5": 1500, "b": 0.5})
        broken = {"benchmarks": [entry("a", 0, error_occurred=True, error_message="no node")]}
        with self.assertRaisesRegex(bench_regression.Broken, "no node"):
            bench_regression.rows_of_bench(json.dumps(broken))
        with self.assertRaisesRegex(bench_regression.Broken, "no report"):
            bench_regression.rows_of_bench("Failed to match any benchmarks")

    def test_rows_of_the_demo(self):
        text = "  scheduler     0.42 s CPU (0.86 ms a pod), 42 MB resident\n  server        0.73 s CPU (1.49 ms a pod), 41 MB resident\n"
        self.assertEqual(bench_regression.rows_of_demo(text), {bench_regression.DEMO_ROW: 860})
        with self.assertRaises(bench_regression.Broken):
            bench_regression.rows_of_demo("demo: no scheduler")


class Programs(unittest.TestCase):
    def test_what_is_run(self):
        ran = []

        def run(program, folder, head, names):
            if program in broken[folder]:
                raise bench_regression.Broken("no such flag")
            ran.append((program, folder, head, names))
            return {}

        broken = {"b": [CYCLE, DEMO], "h": []}
        measure = bench_regression.Measure({"base": "b", "head": "h"}, run)
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual([list(measure(side, None)) for side in ("base", "head", "base")],
                             [[DECISION], [DECISION, CYCLE, DEMO], [DECISION]])
        self.assertEqual(output.getvalue().count("left out"), 2)  # said once
        ran.clear()
        self.assertEqual(list(measure("head", {CYCLE: ["a"]})), [CYCLE])
        self.assertEqual(ran, [(CYCLE, "h", "h", ["a"])])
        broken["h"] = [DEMO]
        with self.assertRaisesRegex(bench_regression.Broken, "no such flag"):
            measure("head", None)


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self._git("init", "--quiet")

    def _git(self, *arguments):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], check=True,
                       capture_output=True)

    def _commit(self, **files):
        for name, text in files.items():
            path = self.root / name.replace("__", "/").replace("_cc", ".cc").replace("_h", ".h")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._git("add", "-A")
        self._git("commit", "--quiet", "-m", "a")

    def test_where_there_is_nothing_to_compare(self):
        with self.assertRaisesRegex(bench_regression.Nothing, "not in this clone"):
            bench_regression.find_base(self.root, None)
        self._commit(src__a_cc="1")
        with self.assertRaisesRegex(bench_regression.Nothing, "the commit before is not in this clone"):
            bench_regression.find_base(self.root, None)
        self._commit(docs="1")
        with self.assertRaisesRegex(bench_regression.Nothing, "nothing of the programs has changed"):
            bench_regression.find_base(self.root, None)
        with self.assertRaisesRegex(bench_regression.Nothing, "abcdef is not in this clone"):
            bench_regression.find_base(self.root, "abcdef")

    def test_what_counts_as_a_change(self):
        self._commit(src__a_cc="1", docs="1")
        self._commit(src__a_cc="2", docs="1")
        self.assertEqual(len(bench_regression.find_base(self.root, None)), 40)
        self.assertEqual(len(bench_regression.find_base(self.root, "HEAD")), 40)  # asked for: although nothing differs
        self._commit(docs="2")
        (self.root / "src" / "b.cc").write_text("not committed yet")
        self.assertEqual(len(bench_regression.find_base(self.root, None)), 40)

    def test_benchmarks_that_have_changed(self):
        files = {"test__bench__decision_bench_cc": '#include "bench/kinds.h"\n', "test__bench__cycle_bench_cc": "1", "test__bench__kinds_h": "1"}
        self._commit(**files)
        for change, want in (({}, set()), ({"test__bench__kinds_h": "2"}, {DECISION}), ({"test__bench__cycle_bench_cc": "2"}, {CYCLE})):
            with self.subTest(change):
                self._commit(**files, note=str(change))
                self._commit(**change, note="2" + str(change))
                self.assertEqual(bench_regression.changed_benches(self.root, "HEAD^"), want)

    def test_check_out(self):
        self._commit(src__a_cc="1")
        self._commit(src__a_cc="2")
        trees = self.root / "build" / "regression"
        commits = [bench_regression.find_base(self.root, name) for name in ("HEAD^", "HEAD")]
        for commit, want in zip(commits, "12"):
            folder = bench_regression.check_out(self.root, commit, trees)
            self.assertEqual((folder / "src" / "a.cc").read_text(), want)
            self.assertEqual([path.name for path in trees.iterdir()], [commit[:12]])
            (folder / "built").touch()
            self.assertTrue((bench_regression.check_out(self.root, commit, trees) / "built").exists())  # is used again


class Status(unittest.TestCase):
    def _status(self, arguments, measure=None, failure=None):
        """What main ends with, and its last line, with these measurements, or a preparation that fails."""
        def prepare(options):
            if failure:
                raise failure
            return {}, set()

        with unittest.mock.patch.object(bench_regression, "prepare", prepare), \
                unittest.mock.patch.object(bench_regression, "Measure", lambda folders: measure), \
                contextlib.redirect_stdout(io.StringIO()) as output:
            return bench_regression.main(arguments), output.getvalue().splitlines()[-1]

    def test_status(self):
        nothing, broken = bench_regression.Nothing("none"), bench_regression.Broken("no row")
        for name, arguments, measure, failure, want in (
                ("alike", [], MadeUp(COSTS, COSTS), None, (0, "none is more than 10% worse")),
                ("slower", [], MadeUp(COSTS, _slower(1.15, "BM_Attempt/0")), None, (1, "more than 10% worse: BM_Attempt/0")),
                ("nothing to compare", [], None, nothing, (0, "nothing to compare: none")),
                ("nothing, asked for", ["--base", "a"], None, nothing, (2, "nothing to compare: none")),
                ("broken", [], None, broken, (2, "no row"))):
            with self.subTest(name):
                status, line = self._status(arguments, measure, failure)
                self.assertEqual(status, want[0])
                self.assertTrue(line.endswith(want[1]), line)


class Settings(unittest.TestCase):
    def test_a_compiler_is_the_same_with_its_folder(self):
        with tempfile.TemporaryDirectory() as scratch, unittest.mock.patch.object(bench_regression.shutil, "which", lambda name: f"/bin/{name}"
                                                                                  if "/" not in name else name):
            read = {}
            for name, compiler in (("short", "g++"), ("long", "/bin/g++"), ("other", "clang++")):
                tree = pathlib.Path(scratch) / name
                tree.mkdir()
                (tree / "CMakeCache.txt").write_text(f"CMAKE_CXX_COMPILER:STRING={compiler}\nKS_UNITY:BOOL=ON\nOTHER:BOOL={name}\n", encoding="utf-8")
                read[name] = bench_regression.settings(tree)
        self.assertEqual(read["short"], read["long"])
        self.assertNotEqual(read["short"], read["other"])


if __name__ == "__main__":
    unittest.main()
