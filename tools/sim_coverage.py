# SPDX-License-Identifier: Apache-2.0
"""What of the scheduler the simulation reaches: lines and branches that ran, functions that never did.

    python3 tools/sim_coverage.py [--seeds 1..2000] [--jobs N] [--tree DIR] [--folder src/queue ...] [--lines]

Builds ks_sim unoptimized and measuring (build-coverage, or --tree: one that exists), runs the seeds, and prints a table of the folders
and the functions that no seed entered; with --lines the ranges of lines in functions that were entered, too. A branch is one way out of
a condition, exceptions left out. What several objects hold (headers, templates) counts as reached if it was in one of them.
"""

import argparse
import collections
import itertools
import os
import pathlib
import subprocess
import sys

import mutate

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("src/scheduler", "src/queue", "src/cache", "src/daemon")


class Coverage:
    """Of files below the root."""

    def __init__(self):
        self.lines = collections.defaultdict(dict)  # path: {line: times}
        self.branches = collections.defaultdict(dict)  # path: {(line, number on it): times}
        self.functions = collections.defaultdict(dict)  # path: {(first line, last line): (name, times)}

    def add(self, report, root):
        """One of gcov's reports."""
        base = pathlib.Path(report["current_working_directory"])
        for file in report["files"]:
            path = pathlib.Path(os.path.normpath(base / file["file"]))
            if root not in path.parents:
                continue
            name = str(path.relative_to(root))
            for line in file["lines"]:
                self._most(self.lines[name], line["line_number"], line["count"])
                ways = (branch["count"] for branch in line["branches"] if not branch["throw"])
                for number, count in enumerate(ways):
                    self._most(self.branches[name], (line["line_number"], number), count)
            for function in file["functions"]:
                place = (function["start_line"], function["end_line"])
                _, times = self.functions[name].get(place, ("", 0))
                self.functions[name][place] = (function["demangled_name"], max(times, function["execution_count"]))

    @staticmethod
    def _most(counts, key, count):
        counts[key] = max(count, counts.get(key, 0))

    def row(self, folder):
        """(lines that ran, lines, branches taken, branches) of the files below it."""
        def of(table):
            counts = [count for path, found in table.items() if path.startswith(folder + "/") for count in found.values()]
            return sum(count > 0 for count in counts), len(counts)
        return (*of(self.lines), *of(self.branches))

    def never_entered(self, folder):
        """(path, line, name) of functions; those inside of others that were not entered are left out."""
        for path, functions in sorted(self.functions.items()):
            last = 0
            for (begin, end), (name, times) in sorted(functions.items()) if path.startswith(folder + "/") else ():
                if times == 0 and end > last:
                    last = end
                    yield path, begin, name

    def never_ran(self, folder):
        """(path, first line, last line) of lines without one between them that ran, in functions that were entered."""
        for path, lines in sorted(self.lines.items()):
            if not path.startswith(folder + "/"):
                continue
            left_out = [place for place, (_, times) in self.functions[path].items() if times == 0]
            known = [(line, times) for line, times in sorted(lines.items()) if not any(begin <= line <= end for begin, end in left_out)]
            for ran, group in itertools.groupby(known, lambda entry: entry[1] > 0):
                if not ran:
                    numbers = [line for line, _ in group]
                    yield path, numbers[0], numbers[-1]


def build(tree, jobs):
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 --coverage", "-DKS_UNITY=ON", "-DKS_COVERAGE=ON",
             "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"]
    subprocess.run(["cmake", "-S", ROOT, "-B", tree, "-G", "Ninja", "--log-level=WARNING", *flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", tree, "-j", str(jobs), "ks_sim"], check=True)


def measure(tree, seeds, jobs):
    for stale in tree.rglob("*.gcda"):
        stale.unlink()
    subprocess.run([tree / "bin" / "ks_sim", "--seeds", seeds, "--jobs", str(jobs)], check=True, cwd=tree)
    coverage = Coverage()
    for report in mutate.gcov_reports(sorted(path for path in tree.rglob("*.gcda") if "/src/" in str(path)), branches=True):
        coverage.add(report, ROOT)
    return coverage


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def report_text(coverage, folders, with_lines):
    yield "| folder | lines | ran | % | branches | taken | % |"
    yield "|---|---|---|---|---|---|---|"
    for folder in folders:
        ran, lines, taken, branches = coverage.row(folder)
        yield f"| {folder} | {lines} | {ran} | {percent(ran, lines)} | {branches} | {taken} | {percent(taken, branches)} |"
    for folder in folders:
        yield f"\n{folder}: functions that no seed entered"
        for path, line, name in coverage.never_entered(folder):
            yield f"{path}:{line}: {name}"
        for path, first, last in coverage.never_ran(folder) if with_lines else ():
            yield f"{path}:{first}-{last}: never ran"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1..2000")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--folder", nargs="+", default=FOLDERS)
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    tree = (options.tree or ROOT / "build-coverage").resolve()
    if options.tree is None:
        build(tree, options.jobs)
    for line in report_text(measure(tree, options.seeds, options.jobs), options.folder, options.lines):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
