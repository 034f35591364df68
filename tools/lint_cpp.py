# SPDX-License-Identifier: Apache-2.0
"""clang-tidy (with clang's own warnings, -Wthread-safety among them) over every source below src/ and cmd/, and a syntax-only
compilation of every header that no source there includes first, to prove that it compiles alone.

    python3 tools/lint_cpp.py --build BUILD_DIR [--jobs N] [--times] [PATH_PREFIX...]

Clean results are remembered in BUILD_DIR/lint-cache by a hash of all that matters: the tool, .clang-tidy, the compile command,
the file and every project header it includes directly or indirectly. Installed libraries are not hashed: after an upgrade of
one, remove the cache.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_INCLUDE_ROOTS = (ROOT / "src", ROOT / "test", ROOT / "cmd")


@functools.cache
def _includes(path):
    """Project files that path includes directly, in their order."""
    found = []
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
        for folder in (path.parent, *_INCLUDE_ROOTS):
            if (folder / name).is_file():
                found.append((folder / name).resolve())
                break
    return tuple(found)


def _closure(path):
    """path and every project file it includes directly or indirectly, sorted."""
    seen, todo = {path}, [path]
    while todo:
        for included in _includes(todo.pop()):
            if included not in seen:
                seen.add(included)
                todo.append(included)
    return sorted(seen)


class Task:
    """One command over one file; clean when its status is 0."""

    def __init__(self, path, command, salt):
        self.path = path
        self.command = command
        digest = hashlib.sha256((salt + "\0" + "\0".join(command)).encode())
        for used in _closure(path):
            digest.update(used.read_bytes())
        self.key = digest.hexdigest()

    def run(self):
        begin = time.monotonic()
        done = subprocess.run(self.command, cwd=ROOT, capture_output=True, text=True, check=False)
        noise = re.compile(r"^(\d+ warnings? (and \d+ errors? )?generated|\d+ errors? generated|Suppressed \d+|Use -header-filter)")
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not noise.match(line)]
        return done.returncode == 0, "\n".join(lines), time.monotonic() - begin


def _compile_flags(entry):
    """The entry's compiler flags without the compiler cache, the output and the input."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.endswith("clang++")) + 1:]
    flags = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = True
        elif word != "-MD":
            flags.append(word)
    return flags


def _tidy_tasks(sources, salt):
    config = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
    for path, flags in sources.items():
        yield Task(path, ["clang-tidy", "--quiet", str(path), "--", "-x", "c++", *flags], salt + config)


def _header_tasks(sources, flags, salt):
    first = {_includes(path)[0] for path in sources if _includes(path)}
    by_folder = {}  # flags of one source of each folder: its headers may need that target's definitions
    for path in sorted(flags, reverse=True):
        if path.is_relative_to(ROOT):
            by_folder[path.relative_to(ROOT).parts[:2]] = flags[path]
    for header in sorted([*ROOT.glob("src/**/*.h"), *ROOT.glob("cmd/**/*.h"), *ROOT.glob("test/**/*.h")]):
        folder = header.relative_to(ROOT).parts[:2]
        if header not in first and folder in by_folder:
            yield Task(header, ["clang++", *by_folder[folder], "-Wno-unused-const-variable", "-fsyntax-only", "-x", "c++-header",
                                str(header)], salt)


def _tasks(build, prefixes):
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    flags = {pathlib.Path(entry["file"]).resolve(): _compile_flags(entry) for entry in database}
    sources = {path: flags[path] for path in sorted(flags)
               if path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "cmd")}
    salt = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    tasks = [*_tidy_tasks(sources, salt), *_header_tasks(sources, flags, salt)]
    return [task for task in tasks if not prefixes or any(str(task.path.relative_to(ROOT)).startswith(p) for p in prefixes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--times", action="store_true", help="print the seconds of each file")
    parser.add_argument("prefix", nargs="*", help="only files whose path begins so, such as src/queue/")
    options = parser.parse_args()
    cache = options.build / "lint-cache"
    cache.mkdir(exist_ok=True)
    tasks = _tasks(options.build, options.prefix)
    todo = [task for task in tasks if not (cache / task.key).exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(task.run): task for task in todo}
        for future in concurrent.futures.as_completed(running):
            task = running[future]
            clean, text, seconds = future.result()
            if options.times:
                print(f"{seconds:6.1f} s  {task.path.relative_to(ROOT)}")
            if clean:
                (cache / task.key).touch()
            else:
                failed += 1
                print(text.replace(f"{ROOT}/", ""), flush=True)
    print(f"{len(tasks)} files, {len(tasks) - len(todo)} known to be clean, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
