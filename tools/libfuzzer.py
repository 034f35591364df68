# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the targets of test/fuzz with libFuzzer and ASan, two or more at a time. Behind ./dev fuzz.

    python3 tools/libfuzzer.py [--minutes N] [--jobs N] [--build-jobs N] [TARGET...]
    python3 tools/libfuzzer.py --keep [TARGET...]

Each target has N minutes (default 10). What it learns stays in build-fuzz/corpus/TARGET and is where its next run begins; inputs that
break it are in build-fuzz/crashes. Prints a line a target: executions, edges that were reached, inputs kept. The status is 1 if a
target was broken, and the line says how to repeat it.

--keep fuzzes nothing: test/fuzz/found/TARGET.jsonl becomes the fewest inputs that reach the edges that those there and the learned ones reach
beyond test/fuzz/corpus/TARGET, a JSON string a line, whose characters are bytes. The next runs begin with them, and ks_fuzz replays
them. Inputs of more than 512 bytes stay out: a test's data are to be small.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TREE = ROOT / "build-fuzz"
BINARY = TREE / "bin" / "ks_libfuzzer"
LARGEST_KEPT = 512  # bytes
# One input may take so long under ASan before it counts as a hang, and have so much memory.
LIMITS = ("-timeout=60", "-rss_limit_mb=4096", "-max_len=16384")


def build(jobs):
    if not (TREE / "build.ninja").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", TREE, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -g1", "-DKS_LIBFUZZER=ON", "-DKS_SANITIZE=address", "-DKS_UNIT_ONLY=ON",
                        "-DKS_UNITY=ON"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", TREE, f"-j{jobs}", "ks_libfuzzer"], check=True)


def targets():
    # It names them all where it is given none, which libFuzzer takes for a crash.
    told = subprocess.run([BINARY, "-runs=0", "-exact_artifact_path=/dev/null"], env={**os.environ, "KS_FUZZ_TARGET": ""}, cwd=TREE,
                          capture_output=True, text=True, check=False).stderr
    return [name for name in re.search(r"must name one of the targets:(.*)", told)[1].split() if name != "canary"]


def _run(target, arguments, log):
    with open(log, "w", encoding="utf-8", errors="replace") as out:
        return subprocess.run([BINARY, *LIMITS, *arguments], env={**os.environ, "KS_FUZZ_TARGET": target}, cwd=TREE, stdout=out,
                              stderr=subprocess.STDOUT, check=False).returncode


def _last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else "?"


def _given(target):
    """Where the inputs of a target are that the repository holds: corpus, crashes of the past."""
    return [folder for folder in (ROOT / "test" / "fuzz" / name / target for name in ("corpus", "found")) if folder.exists()]


def kept_file(target):
    return ROOT / "test" / "fuzz" / "found" / f"{target}.jsonl"


def unpack(file, folder):
    """The inputs of a kept file as files of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        return
    for number, line in enumerate(file.read_text(encoding="ascii").splitlines()):
        (folder / f"kept-{number}").write_bytes(json.loads(line).encode("latin-1"))


def pack(inputs, file):
    lines = {json.dumps(text.decode("latin-1")) for text in inputs}
    file.write_text("".join(f"{line}\n" for line in sorted(lines, key=lambda line: (len(line), line))), encoding="ascii")


def fuzz(target, seconds):
    """A line about the run, and whether nothing broke."""
    learned, crashes = TREE / "corpus" / target, TREE / "crashes"
    learned.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    log = TREE / f"{target}.log"
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir=TREE) as kept:
        unpack(kept_file(target), pathlib.Path(kept))
        status = _run(target, [f"-max_total_time={seconds}", f"-artifact_prefix={crashes}/{target}-", "-print_final_stats=1", learned,
                               kept, *_given(target)], log)
    text = log.read_text(encoding="utf-8", errors="replace")
    line = (f"{target}: {time.monotonic() - begin:.0f} s, {_last(r'number_of_executed_units: ([0-9]+)', text)} executions,"
            f" {_last(r'cov: ([0-9]+)', text)} edges, {len(list(learned.iterdir()))} inputs learned")
    if status == 0:
        return line, True
    broken = _last(r"Test unit written to (\S+)", text)
    return f"{line}; BROKEN: KS_FUZZ_TARGET={target} build-fuzz/bin/ks_libfuzzer {broken} (log: {log.relative_to(ROOT)})", False


def keep(target):
    """Merges what was learned into what is kept; returns how many inputs that are."""
    learned, file = TREE / "corpus" / target, kept_file(target)
    with tempfile.TemporaryDirectory(dir=TREE) as scratch:
        small, merged = pathlib.Path(scratch) / "small", pathlib.Path(scratch) / "merged"
        unpack(file, small)
        for path in learned.iterdir() if learned.exists() else ():
            if path.stat().st_size <= LARGEST_KEPT:
                shutil.copy(path, small)
        merged.mkdir()
        for folder in _given(target):
            shutil.copytree(folder, merged, dirs_exist_ok=True)
        given = {path.name for path in merged.iterdir()}
        if _run(target, ["-merge=1", "-use_counters=0", merged, small], TREE / f"{target}-merge.log") != 0:
            sys.exit(f"{target}: the corpus cannot be merged, see build-fuzz/{target}-merge.log")
        inputs = [path.read_bytes() for path in merged.iterdir() if path.name not in given]
    if inputs:
        pack(inputs, file)
    return len(inputs)


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="of each target (default 10)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at a time (default: one a core)")
    parser.add_argument("--build-jobs", type=int, default=os.cpu_count(), help="compilers at a time (default: one a core)")
    parser.add_argument("--keep", action="store_true", help="take over what was learned into test/fuzz/found, and end")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="of test/fuzz/fuzz_targets.cc (default: all)")
    options = parser.parse_args()
    build(options.build_jobs)
    known = targets()
    if unknown := [target for target in options.targets if target not in known]:
        parser.error(f"no target is called {unknown[0]}; there are {' '.join(known)}")
    chosen = options.targets or known
    if options.keep:
        for target in chosen:
            print(f"{target}: {keep(target)} inputs in {kept_file(target).relative_to(ROOT)}")
        return 0
    broken = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed(pool.submit(fuzz, target, round(options.minutes * 60)) for target in chosen):
            line, whole = done.result()
            print(line, flush=True)
            broken += not whole
    print(f"{len(chosen) - broken} whole, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
