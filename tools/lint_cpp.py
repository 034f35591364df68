# SPDX-License-Identifier: Apache-2.0
"""clang-tidy (with clang's own warnings, -Wthread-safety among them) over every source below src/ and cmd/, and a syntax-only
compilation of every header that no source there includes first, to prove that it compiles alone.

    python3 tools/lint_cpp.py --build BUILD_DIR [--jobs N] [--times] [--all] [--record] [PATH_PREFIX...]

Sources of one folder are looked at several at a time, one behind the other in one file: nearly all the time goes into headers,
which are read once then. Sources that define the same name outside of classes, or a macro, do not go together. If there is a finding,
each source is looked at alone, and only that counts. (The build shows that headers which sources include first compile alone.)

Clean results are remembered in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache, /kubesched/lint), by a hash of all that
matters: the tool, .clang-tidy, the compile command, the file and every project header it includes directly or indirectly. So a
second checkout knows what the first one found. Installed libraries are not hashed: after an upgrade of one, remove the cache.

A machine without that cache knows the base, the commit in tools/lint_base.json, at which every file was clean: those that neither they
nor what they include have changed since then are not looked at again. With --all they are; --record makes the commit checked out the
base, if all that is looked at is clean: the rest was at the base before. The base counts for the clang-tidy that found it, and no
longer where something else has changed that decides about findings (_DECIDE).
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

import own_cache
import source_groups

ROOT = pathlib.Path(__file__).resolve().parents[1]
_BASE = ROOT / "tools/lint_base.json"
# Beside the sources: what is asked of them, and with which flags. Of CMakeLists.txt each decides about its folder.
_DECIDE = re.compile(r"(CMakePresets\.json|cmake/.*|(.*/)?(CMakeLists\.txt|\.clang-tidy))")


class Task:
    """One command over one file, or over one that stands for several; clean when its status is 0."""

    def __init__(self, path, command, salt):
        self.path = path
        self.command = command
        self.parts = []  # of a batch: the tasks it stands for
        self.used = source_groups.closure(path)
        digest = hashlib.sha256((salt + "\0" + "\0".join(command).replace(str(ROOT), ".")).encode())
        for used in self.used:
            digest.update(used.read_bytes())
        self.key = digest.hexdigest()

    def name(self):
        return " + ".join(str(task.path.relative_to(ROOT)) for task in self.parts or [self])

    def run(self):
        begin = time.monotonic()
        done = subprocess.run(self.command, cwd=ROOT, capture_output=True, text=True, check=False)
        noise = re.compile(r"^(\d+ warnings? (and \d+ errors? )?generated|\d+ errors? generated|Suppressed \d+|Use -header-filter)")
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not noise.match(line)]
        return done.returncode == 0, "\n".join(lines), time.monotonic() - begin


def _batches(tasks, build):
    """The tidy tasks, several by one."""
    alike = {}  # tasks by folder and flags
    for task in tasks:
        alike.setdefault((task.path.relative_to(ROOT).parts[:2], *task.command[task.command.index("--"):]), {})[task.path] = task
    folder = build / "lint-batches"
    folder.mkdir(exist_ok=True)
    for by_path in alike.values():
        for group in source_groups.groups(by_path, most=16, lines=sys.maxsize, canaries_alone=False):
            parts = [by_path[path] for path in group]
            yield parts[0] if len(parts) == 1 else _batch(parts, folder)


def _batch(parts, folder):
    # Not by #include: clang says of main files only what is not used.
    text = "".join(f'#line 1 "{part.path}"\n{part.path.read_text(encoding="utf-8")}\n' for part in parts)
    path = folder / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".cc")
    path.write_text(text, encoding="utf-8")
    command = [str(path) if word == str(parts[0].path) else word for word in parts[0].command]
    for parent in sorted({str(part.path.parent) for part in parts}):
        command += ["-iquote", parent]
    task = Task(path, command, "")
    task.parts = parts
    return task


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
    first = {source_groups.includes(path)[0] for path in sources if source_groups.includes(path)}
    by_folder = {}  # flags of one source of each folder: its headers may need that target's definitions
    for path in sorted(flags, reverse=True):
        if path.is_relative_to(ROOT):
            by_folder[path.relative_to(ROOT).parts[:2]] = flags[path]
    for header in sorted([*ROOT.glob("src/**/*.h"), *ROOT.glob("cmd/**/*.h"), *ROOT.glob("test/**/*.h")]):
        folder = header.relative_to(ROOT).parts[:2]
        if header not in first and folder in by_folder:
            yield Task(header, ["clang++", *by_folder[folder], "-Wno-unused-const-variable", "-fsyntax-only", "-x", "c++-header",
                                str(header)], salt)


def _tasks(build, prefixes, salt):
    """Tasks of clang-tidy and of headers."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    flags = {pathlib.Path(entry["file"]).resolve(): _compile_flags(entry) for entry in database}
    sources = {path: flags[path] for path in sorted(flags)
               if path.is_relative_to(ROOT / "src") or path.is_relative_to(ROOT / "cmd")}

    def wanted(tasks):
        return [task for task in tasks if not prefixes or any(str(task.path.relative_to(ROOT)).startswith(p) for p in prefixes)]

    return wanted(_tidy_tasks(sources, salt)), wanted(_header_tasks(sources, flags, salt))


def _cache():
    """The folder of what is known to be clean, without what nobody asked about for a month."""
    folder = own_cache.folder("lint")
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if time.time() - entry.stat().st_mtime > 30 * 86400:
            entry.unlink(missing_ok=True)  # another checkout may be at it, too
    return folder


def _known(cache, task):
    """Whether the task is known to be clean; asking keeps the entry young."""
    entry = cache / task.key
    if not entry.exists():
        return False
    entry.touch()
    return True


def _version(shown):
    """The line of `clang-tidy --version` that is the same on every machine: it tells the processor, too."""
    return next(line.strip() for line in shown.splitlines() if "version" in line)


def _git(*words):
    """The lines that git prints; None if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def _since_base(version):
    """The files, by their paths from the root, that are not as they were at the base; None if it says nothing here."""
    base = json.loads(_BASE.read_text(encoding="utf-8")) if _BASE.exists() else {}
    if base.get("clang_tidy") != version:
        return None
    changed, added = _git("diff", "--name-only", base["commit"], "--"), _git("ls-files", "--others", "--exclude-standard")
    return None if changed is None or added is None else {*changed, *added}


def as_at_base(used, changed):
    """Whether a file is as clean as it was at the base: `used` are the paths of it and all that it includes, `changed` those of
    the files that have changed since."""
    deciding = [path for path in changed if _DECIDE.fullmatch(path)]
    folders = [pathlib.PurePath(path).parent for path in deciding if pathlib.PurePath(path).name == "CMakeLists.txt"]
    return (len(folders) == len(deciding) and not changed & used
            and not any(pathlib.PurePath(path).is_relative_to(folder) for path in used for folder in folders))


def _record(version):
    commit, changes = _git("rev-parse", "HEAD"), _git("status", "--porcelain")
    if not commit or changes:
        sys.exit(f"lint_cpp: only a commit can be the base, and files here are not as in the last one: {changes or 'no git'}")
    _BASE.write_text(json.dumps({"commit": commit[0], "clang_tidy": version}, indent=2) + "\n", encoding="utf-8")


def _run_all(pool, tasks):
    """(task, its result), as they come."""
    running = {pool.submit(task.run): task for task in tasks}
    for future in concurrent.futures.as_completed(running):
        yield running[future], future.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--times", action="store_true", help="print the seconds of each file")
    parser.add_argument("--all", action="store_true", help="also files that have not changed since the base")
    parser.add_argument("--record", action="store_true", help="make the commit the base, if all files are clean")
    parser.add_argument("prefix", nargs="*", help="only files whose path begins so, such as src/queue/")
    options = parser.parse_args()
    cache = _cache()
    if options.record and options.prefix:
        parser.error("--record is about all files: name none")
    salt = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    tidy, headers = _tasks(options.build, options.prefix, salt)
    tasks = [*tidy, *headers]
    changed = None if options.all else _since_base(_version(salt))
    new = [task for task in tasks if changed is None or not as_at_base({str(path.relative_to(ROOT)) for path in task.used}, changed)]
    todo = [task for task in new if not _known(cache, task)]
    running = [*_batches([task for task in todo if task in tidy], options.build), *(task for task in todo if task in headers)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while running:
            again = []
            for task, (clean, text, seconds) in _run_all(pool, running):
                if options.times:
                    print(f"{seconds:6.1f} s  {task.name()}")
                if clean:
                    for part in task.parts or [task]:
                        (cache / part.key).touch()
                elif task.parts:
                    again += task.parts
                else:
                    failed += 1
                    print(text.replace(f"{ROOT}/", ""), flush=True)
            running = again
    print(f"{len(tasks)} files, {len(tasks) - len(new)} as at the base, {len(new) - len(todo)} known to be clean, {failed} with findings")
    if options.record and not failed:
        _record(_version(salt))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
