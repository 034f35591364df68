#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks whether the tests would notice: changes a line of a source, builds the tests of its folder with it, and runs them.

The changes are those of universalmutator's rules for C++. No source is touched: a mutant is compiled in a folder of its own
and linked in front of the libraries of build-mutate, whose object of that source then loses. docs/testing.md has the terms
and the scores."""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import queue
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-mutate"
EQUIVALENT = ROOT / "tools" / "mutate_equivalent.tsv"
MUTATOR = "universalmutator==1.14.1"
RULES = ["universal.rules", "cpp.rules", "c_like.rules"]

# What is mutated by default, and the test programs that must notice, the quickest first.
TESTS = {
    "src/scheduler": ["ks_scheduler_test", "ks_inspect_test", "ks_recording_test"],
    "src/queue": ["ks_queue_test", "ks_scheduler_test"],
    "src/cache": ["ks_cache_test", "ks_scheduler_test"],
    "src/framework": ["ks_framework_test", "ks_plugins_test", "ks_scheduler_test"],
    "src/plugins": ["ks_plugins_test", "ks_scheduler_test"],
    "src/client": ["ks_client_test", "ks_integration_test"],
}
CLIENT = re.compile(r"src/client/(write/writer|watch/reflector|election/leader_elector)")  # the rest of src/client is not mutated by default

# Lines whose change no test should notice (logs, checks, what only saves time), or that only declare.
IGNORED = [r"^\s*//", r"^\s*#", r"KS_LOG", r"log::(Info|Error|Warning)", r"KS_D?CHECK", r"KS_CANARY", r"static_assert",
           r"__builtin_prefetch", r"^\s*[\w.>()-]+\.reserve\(.*\);$",
           r"^\s*(namespace|using|template|class|struct|enum|public|private|protected)\b", r"^\s*(\[\[|\}|\{\{?\"\w+\",)"]
_OPERATORS = set("<>*&|/%+-=!")
_WORDS = {"min", "max", "begin", "end", "any_of", "all_of", "none_of", "min_element", "max_element", "while", "else"}  # rules' own
# An argument that is empty, a pointer that is less than null, a value without an operator beside it.
_NONSENSE = re.compile(r"[([{]\s*,|,\s*[)\]}]|[<>]=? nullptr|(?<!\bif)(?<!while)(?<!return)(?<![&|(=])\s\((0|1)==1\)|[\w)\]]\((0|1)==1\)"
                       r"|\((0|1)==1\)( *[\w!(]|;)|\( \[ |[A-Za-z_]-\d|\)_|\(\*\d|[, ]\*\d")

CAUGHT, SURVIVED, NOT_COMPILED, SAME_CODE, EXCUSED = "caught", "survived", "not compiled", "same code", "excused"


@dataclasses.dataclass
class Mutant:
    path: str  # of the source, from the root
    line: int
    before: str
    after: str
    outcome: str = ""
    by: str = ""  # what noticed it
    seconds: float = 0

    def text(self):
        """One line of a report."""
        return f"{self.path}:{self.line}: {self.before.strip()}  ->  {self.after.strip()}"


# ---- which mutants


def worthwhile(before, after):
    """Whether a change may compile and mean something. The rules know no grammar; this knows how our code is formatted:
    operators stand between blanks, template brackets and pointers do not."""
    code = before.split(" // ")[0].rstrip()
    if "".join(after.split()).startswith("".join(code.split())) and len(after) >= len(before):
        return False  # a comment behind the code, or a statement appended to the line
    if any(word in after and word not in before for word in ("break;", "continue;")):
        return False
    if after.strip().startswith("/*"):  # a whole statement goes
        declares = re.match(r"(const|constexpr|auto|return|static)\b(?!;)|[\w:][\w:<>, ]*[&*]? \w+( = |;|\()", code.lstrip())
        return code.endswith(";") and not any(_balance(code)) and not declares
    if _balance(before) != _balance(after) or _NONSENSE.search(after):
        return False
    start = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    while start > 0 and before[start - 1] in _OPERATORS:
        start -= 1
    if start >= len(code):
        return False
    if "(0==1)" in after or "(1==1)" in after:
        return True
    if before[start] in _OPERATORS:
        word = re.match(r"[<>*&|/%+=!-]+", before[start:]).group()
        if word in ("++", "--"):
            return after[start:start + 2] in ("++", "--")
        between = before[start - 1:start] == " " and before[start + len(word):start + len(word) + 1] == " "
        return between and before[start - 2:start - 1] not in ('"', "'") or word in ("!", "-")
    name = re.search(r"[A-Za-z_]\w*$", before[:start] + re.match(r"\w*", before[start:]).group())
    replaced = re.match(r"\w", before[start:]) and re.match(r"\w", after[start:])
    return name is None or not replaced or name.group() in _WORDS


def _balance(text):
    return [text.count(opening) - text.count(closing) for opening, closing in ("()", "{}", "[]")]


def generate(path, mutator, covered):
    """All mutants of a source, in its lines that tests reach; covered None: in all."""
    lines = (ROOT / path).read_text().splitlines(keepends=True)
    with contextlib.redirect_stdout(io.StringIO()):
        found = mutator.mutants_regexp(lines, ruleFiles=RULES, ignorePatterns=IGNORED)
    mutants, seen = [], set()
    for number, after, *_ in found:
        before = lines[number - 1]
        key = (number, "".join(after.split()))
        if key in seen or after.count("\n") != 1 or covered is not None and number not in covered:
            continue
        if worthwhile(before.rstrip("\n"), after.rstrip("\n")):
            seen.add(key)
            mutants.append(Mutant(path, number, before.rstrip("\n"), after.rstrip("\n")))
    return mutants


def sample(mutants, size, seed):
    """So many of them, in an order that the seed gives; size None: all."""
    shuffled = list(mutants)
    random.Random(seed).shuffle(shuffled)
    return shuffled if size is None else shuffled[:size]


def read_excuses(text):
    """Lines 'path<TAB>before<TAB>after<TAB>why': mutants that change no behavior, as somebody has looked into."""
    excuses = {}
    for row in text.splitlines():
        if row and not row.startswith("#"):
            path, before, after, why = row.split("\t")
            excuses[path, before, after] = why
    return excuses


# ---- what tests reach


def covered_lines(reports, root):
    """From gcov's reports: {path from the root: lines that ran}."""
    lines = collections.defaultdict(set)
    for report in reports:
        base = pathlib.Path(report["current_working_directory"])
        for file in report["files"]:
            path = pathlib.Path(os.path.normpath(base / file["file"]))
            if root in path.parents:
                ran = (line["line_number"] for line in file["lines"] if line["count"] > 0)
                lines[str(path.relative_to(root))].update(ran)
    return lines


def gcov_reports(objects, branches=False):
    """The reports of these .gcda files. Several may have one name: nothing is written to a folder."""
    more = ["--branch-probabilities", "--branch-counts"] if branches else []
    done = subprocess.run(["gcov", "--json-format", "--stdout", *more, *map(str, objects)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


# ---- building


def compile_command(arguments, source, output):
    """The command that compiles another source with the same flags, without measuring coverage."""
    command = [word for word in arguments if word != "--coverage" and not word.endswith("ccache")]
    command[command.index("-c") + 1] = str(source)
    command[command.index("-o") + 1] = str(output)
    for flag in ("-MF", "-MT", "-MQ"):
        if flag in command:
            del command[command.index(flag):command.index(flag) + 2]
    return [word for word in command if word != "-MD"] + ["-w", "-U_FORTIFY_SOURCE", f"-ffile-prefix-map={source}=mutant.cc"]


def link_command(line, mutant, output):
    """The command of a test program with an object that wins over those of the libraries."""
    words = shlex.split(line.removeprefix(": && ").removesuffix(" && :"))
    at = words.index("-o")
    words[at + 1] = str(output)
    first = next(i for i, word in enumerate(words) if word.endswith(".o"))
    return words[:first] + [str(mutant)] + words[first:] + ["-Wl,--allow-multiple-definition"]


class Tree:
    """A build tree: how a source is compiled and a test linked."""

    def __init__(self, folder, tests):
        self.folder = folder
        self._links = {}
        for test in tests:
            commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", test], check=True, capture_output=True, text=True)
            self._links[test] = next(line for line in reversed(commands.stdout.splitlines()) if f"-o bin/{test}" in line)
        self._commands, self._grouped = {}, set()  # by source; those that are compiled together with others
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            path = pathlib.Path(os.path.normpath(folder / entry["directory"] / entry["file"]))
            grouped = re.findall(r'^#include "([^"]+)"', path.read_text(), re.M) if path.name.startswith("unity_") else []
            for source in grouped or [str(path)]:
                self._commands.setdefault(os.path.normpath(source), shlex.split(entry["command"]))
            self._grouped.update(map(os.path.normpath, grouped))

    def grouped(self, path):
        """Optimized, its functions may be part of others of the group: another object would not replace it."""
        return str(ROOT / path) in self._grouped

    @classmethod
    def build(cls, tests, jobs):
        """build-mutate: everything unoptimized and measuring coverage, several sources at a time."""
        flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 --coverage", "-DKS_UNITY=ON"]
        if shutil.which("mold"):
            flags.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold")
        subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "--log-level=WARNING", *flags], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", BUILD, "-j", str(jobs), *tests], check=True)
        return cls(BUILD, tests)

    def compile_command(self, path, source, output):
        return compile_command(self._commands[str(ROOT / path)], source, output)

    def link_command(self, test, mutant, output):
        return link_command(self._links[test], mutant, output)

    def measure(self, tests):
        """Runs each test once. Returns the lines that ran, None where nothing measures that, and the seconds of each."""
        for stale in self.folder.rglob("*.gcda"):
            stale.unlink()
        seconds = {}
        for test in tests:
            begin = time.monotonic()
            if not run_test(self.folder / "bin" / test, 1800, None):
                sys.exit(f"mutate: {test} fails without any mutant")
            seconds[test] = time.monotonic() - begin
        measured = [path for path in self.folder.rglob("*.gcda") if "/src/" in str(path)]
        return covered_lines(gcov_reports(measured), ROOT) if measured else None, seconds


def run_test(program, limit, scratch, arguments=("--gtest_brief=1", "--gtest_fail_fast")):
    """Whether it passes in time and with 6 GiB. scratch: where its coverage goes, None: where it belongs."""
    environment = dict(os.environ)
    if scratch is not None:
        environment["GCOV_PREFIX"] = str(scratch)
    try:
        with subprocess.Popen(["prlimit", f"--as={6 << 30}", program, *arguments], cwd=BUILD, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                return process.wait(limit) == 0
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    except subprocess.TimeoutExpired:
        return False


# ---- judging


class Worker:
    """One mutant at a time, in a folder of its own."""

    def __init__(self, tree, folder, limits, seeds):
        self._tree, self._folder, self._limits, self._seeds = tree, folder, limits, seeds
        self._codes = {}  # by source and optimization: the original's object code

    def _compile(self, path, text, optimized):
        """The hash of the object code, None if there is none."""
        source, output = self._folder / pathlib.Path(path).name, self._folder / "mutant.o"
        source.write_text(text)
        command = self._tree.compile_command(path, source, output) + ["-O2" if optimized else "-O0"]
        done = subprocess.run(command, cwd=self._tree.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return hashlib.sha256(output.read_bytes()).hexdigest() if done.returncode == 0 else None

    def _same_code(self, mutant, code, optimized):
        key = (mutant.path, optimized)
        if key not in self._codes:
            self._codes[key] = self._compile(mutant.path, (ROOT / mutant.path).read_text(), optimized)
        return code == self._codes[key]

    def _link(self, test, program):
        subprocess.run(self._tree.link_command(test, self._folder / "mutant.o", program), cwd=self._tree.folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _noticed(self, mutant):
        """The first test that fails with what was compiled last, empty if none does."""
        for test in tests_of(mutant.path):
            program = self._folder / test
            self._link(test, program)
            if not run_test(program, self._limits[test], self._folder / "coverage"):
                return test
        if self._seeds:
            program = self._folder / "ks_sim"
            self._link("ks_sim", program)
            if not run_test(program, 30 + 10 * self._seeds, self._folder / "coverage",
                            ("--seeds", f"1..{self._seeds}", "--stop-at-first")):
                return "ks_sim"
        return ""

    def judge(self, mutant):
        begin = time.monotonic()
        lines = (ROOT / mutant.path).read_text().splitlines()
        assert lines[mutant.line - 1] == mutant.before, "the source changed meanwhile"
        lines[mutant.line - 1] = mutant.after
        text = "\n".join(lines) + "\n"
        self._same_code(mutant, "", False)  # the original first: its object must not be what is linked
        code = self._compile(mutant.path, text, False)
        if code is None:
            mutant.outcome = NOT_COMPILED
        elif self._same_code(mutant, code, False):
            mutant.outcome = SAME_CODE
        else:
            mutant.by = self._noticed(mutant)
            mutant.outcome = CAUGHT if mutant.by else SURVIVED
        if mutant.outcome == SURVIVED and self._same_code(mutant, self._compile(mutant.path, text, True), True):
            mutant.outcome = SAME_CODE
        mutant.seconds = round(time.monotonic() - begin, 1)


def tests_of(path):
    return next(tests for folder, tests in TESTS.items() if path.startswith(folder + "/"))


def folder_of(path):
    return next(folder for folder in TESTS if path.startswith(folder + "/"))


def judge_all(mutants, options, tree, limits, excuses):
    """Judges them side by side until the time is over. Returns those that were judged."""
    deadline = time.monotonic() + options.time * 60 if options.time else float("inf")
    judged = []
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="mutants-") as folder:
        workers = queue.Queue()
        for number in range(options.jobs):
            place = pathlib.Path(folder) / str(number)
            place.mkdir()
            workers.put(Worker(tree, place, limits, options.seeds))

        def judge(mutant):
            if time.monotonic() > deadline:
                return
            worker = workers.get()
            try:
                worker.judge(mutant)
            finally:
                workers.put(worker)
            if mutant.outcome == SURVIVED and (mutant.path, mutant.before.strip(), mutant.after.strip()) in excuses:
                mutant.outcome = EXCUSED
            judged.append(mutant)
            print(f"{mutant.outcome:<12} {mutant.seconds:6.1f} s  {mutant.text()}" + (f"  ({mutant.by})" if mutant.by else ""), flush=True)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for done in [pool.submit(judge, mutant) for mutant in mutants]:
                done.result()
    return judged


# ---- reporting


def scores(mutants):
    """{folder: {column: number}}, the last one "all". Score: percentage of those that change behavior that was noticed."""
    table = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        for row in (folder_of(mutant.path), "all"):
            table[row]["mutants"] += 1
            table[row][mutant.outcome] += 1
    rows = {}
    for row in sorted(table, key=lambda name: (name == "all", name)):
        counts = dict(table[row])
        decided = counts.get(CAUGHT, 0) + counts.get(SURVIVED, 0)
        counts["score"] = round(100 * counts.get(CAUGHT, 0) / decided, 1) if decided else None
        rows[row] = counts
    return rows


def table_text(rows):
    """As in docs/testing.md."""
    columns = ["mutants", NOT_COMPILED, SAME_CODE, EXCUSED, CAUGHT, SURVIVED]
    lines = ["| folder | " + " | ".join(columns) + " | score |", "|---" * (len(columns) + 2) + "|"]
    for row, counts in rows.items():
        score = "" if counts["score"] is None else f"{counts['score']} %"
        lines.append(f"| {row} | " + " | ".join(str(counts.get(column, 0)) for column in columns) + f" | {score} |")
    return "\n".join(lines)


def load_mutator():
    """universalmutator's module, from an environment below the build tree."""
    environment = BUILD / "venv"
    if not (environment / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", "--no-deps", MUTATOR], check=True)
        (environment / "ready").touch()
    sys.path.insert(0, str(next(environment.glob("lib/python3*/site-packages"))))
    from universalmutator import mutator  # pylint: disable=import-outside-toplevel,import-error
    return mutator


def find_sources(paths):
    """The sources below the paths, or the default ones."""
    sources = []
    for path in paths or list(TESTS):
        place = ROOT / path
        found = sorted(place.rglob("*.cc")) if place.is_dir() else [place]
        names = [str(source.resolve().relative_to(ROOT)) for source in found]
        sources += names if paths else [name for name in names if folder_of(name) != "src/client" or CLIENT.match(name)]
    for source in sources:
        if not (ROOT / source).is_file() or not source.startswith(tuple(folder + "/" for folder in TESTS)):
            sys.exit(f"mutate: {source}: only sources below {', '.join(TESTS)} have tests that are known here")
    return sources


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="sources or folders; default: what docs/testing.md lists")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants, drawn from all; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing and of the order (%(default)s)")
    parser.add_argument("--seeds", type=int, default=0, metavar="N", help="seeds of the simulation for those that no test noticed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="mutants at a time (%(default)s)")
    parser.add_argument("--time", type=float, metavar="MINUTES", help="begin no mutant after that")
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="write all of it there, as JSON")
    parser.add_argument("--tree", type=pathlib.Path, metavar="DIR", help="a build tree whose tests are built and pass, instead of an own"
                        " one; then coverage is not asked")
    parser.add_argument("--list", action="store_true", help="show the mutants, of all lines, and build nothing")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse_options(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that folders of mutants are removed
    BUILD.mkdir(exist_ok=True)
    sources, mutator = find_sources(options.paths), load_mutator()
    if options.list:
        for mutant in sample([m for source in sources for m in generate(source, mutator, None)], options.sample, options.seed):
            print(mutant.text())
        return 0
    tests = sorted({test for source in sources for test in tests_of(source)})
    programs = tests + (["ks_sim"] if options.seeds else [])
    tree = Tree(options.tree.resolve(), programs) if options.tree else Tree.build(programs, options.jobs)
    if options.tree:
        sources = [source for source in sources if not tree.grouped(source)]
    covered, seconds = tree.measure(tests)
    limits = {test: 20 + 5 * took for test, took in seconds.items()}
    all_mutants = [mutant for source in sources for mutant in generate(source, mutator, covered and covered.get(source, set()))]
    chosen = sample(all_mutants, options.sample, options.seed)
    where = "in lines that tests reach" if covered is not None else "in lines that tests may reach or not"
    print(f"{len(chosen)} of {len(all_mutants)} mutants {where}, of {len(sources)} sources", flush=True)
    excuses = read_excuses(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
    judged = judge_all(chosen, options, tree, limits, excuses)
    rows = scores(judged)
    print("\nsurvived:", *(mutant.text() for mutant in judged if mutant.outcome == SURVIVED), "", table_text(rows), sep="\n")
    if options.report:
        report = {"sources": sources, "sample": options.sample, "seed": options.seed, "possible": len(all_mutants), "scores": rows,
                  "mutants": [dataclasses.asdict(mutant) for mutant in judged]}
        options.report.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
