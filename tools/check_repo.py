# SPDX-License-Identifier: Apache-2.0
"""Checks the repository itself: python3 tools/check_repo.py [--root ROOT] [--compile-commands FILE].

Each rule is a function from the project's files to findings and has samples in test/tools/checks_test.py. With the compile
commands of a configured build, sources that no target builds are found, too.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

_CPP = (".cc", ".h")
_LIMITS = (  # first match counts: (path pattern, lines)
    (r"^(src|cmd)/.*\.cc$", 600), (r"^(src|cmd|test)/.*\.h$", 300), (r"^test/.*\.cc$", 1000), (r"\.py$", 600))
_BANNED = {  # in C++ code: what to use instead
    r"\bs?rand\s*\(": "base/random.h with a seed",
    r"\brandom_device\b": "base/random.h with a seed",
    r"\btime\s*\(\s*(nullptr|NULL|0)\s*\)": "base/clock.h",
    r"\bgethostbyname\w*\b": "getaddrinfo",
    r"\bstrtok\s*\(": "string_view",
    r"\bv?sprintf\s*\(": "fmt::format",
    r"\b(gmtime|localtime|asctime|ctime)\s*\(": "the _r form, or std::chrono",
    r"\bsystem\s*\(": "posix_spawn",
    r"\bFRIEND_TEST\b": "the public interface",
    r"\busing\s+namespace\s+std\s*;": "names in full",
}
_TEXT_HASH = r"\bstd::hash<(std::)?string|\bunordered_(map|set)<std::string(_view)?\b(?!.*\bTextHash\b)"  # for what users write
_OPEN_HASHES = {  # files below src/ that may use what _TEXT_HASH finds: reason
    "src/api/decode/field_reader.cc": "a cache with one place for each hash: one that is taken costs a look elsewhere",
    "src/api/decode/decode_pod.cc": "the same",
}
_SLEEP = r"\bsleep_(for|until)\b|(?<!\w)(u|nano)?sleep\s*\("  # banned below src/ and test/; a measuring tool may wait
_EXEMPT = {  # (path, pattern of _BANNED): reason
    ("cmd/kubesched/daemon.cc", r"\brandom_device\b"): "the one place a production seed comes from",
}
_QUOTES_RULES = ("tools/check_repo.py", "test/tools/checks_test.py", "docs/style.md")  # name what is forbidden
_UNFINISHED = re.compile(r"\b(FIXME|XXX)\b|\bTODO\b(?!\(#\d+\))")
_FIXED_PORT = re.compile(r"(127\.0\.0\.1|localhost|\[::1?\]|0\.0\.0\.0):0*[1-9]\d*")
_PORTS_ONLY_PARSED = {  # tests whose addresses nobody connects to, and one that counts on nobody listening
    "test/client/credentials_test.cc", "test/client/kubeconfig_test.cc", "test/client/rest_client_test.cc",
    "test/config/tracing_test.cc",
    "test/client/transport_tls_test.cc", "test/client/url_test.cc",
}
_PATHS_MADE_UP = {"docs/adding_a_plugin.md", "test/tools/mutate_test.py", "test/tools/sim_coverage_test.py"}  # name files that are examples
_PROJECT_PATH = re.compile(r"(?<![\w./$}-])((?:src|cmd|test|tools|docs|cmake|deploy)/[\w./-]+\.(?:h|cc|py|md|cmake))\b(?!\.)")
_MACHINE_PATH = re.compile(r"(?<![\w.$}])/(work|home|root|Users|farm|tmp)/\w")


class Files:
    """The project's text files by their path relative to the root."""

    def __init__(self, texts, compiled=None):
        self.texts = texts
        self.compiled = compiled  # paths of the sources that some target builds, or None if not known

    def having(self, *suffixes):
        return ((path, text) for path, text in self.texts.items() if path.endswith(suffixes))


def _code_only(text):
    """text with comments and the insides of string literals blanked, lines kept."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def _lines(text, pattern):
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(pattern, line):
            yield number, line


def rule_spdx(files):
    for path, text in files.texts.items():
        if not path.endswith((*_CPP, ".py", ".go", ".cmake", "CMakeLists.txt")) and path not in ("dev", ".ci/run"):
            continue
        head = text.splitlines()[:2]
        if not any(line in ("// SPDX-License-Identifier: Apache-2.0", "# SPDX-License-Identifier: Apache-2.0") for line in head):
            yield path, 1, "the SPDX line is missing (or was reformatted)"
        if path.endswith(".h") and (len(head) < 2 or head[1] != "#pragma once"):
            yield path, 2, "second line must be #pragma once"


def rule_length(files):
    for path, text in files.texts.items():
        for pattern, limit in _LIMITS:
            if re.search(pattern, path):
                count = text.count("\n")
                if count > limit:
                    yield path, limit + 1, f"{count} lines, limit {limit}: split it by what its parts do"
                break


def rule_banned_call(files):
    for path, text in files.having(*_CPP):
        code = _code_only(text)
        for pattern, instead in _BANNED.items():
            if (path, pattern) not in _EXEMPT:
                for number, _ in _lines(code, pattern):
                    yield path, number, f"banned ({pattern}); use {instead}"
        if not path.startswith("cmd/"):
            for number, _ in _lines(code, _SLEEP):
                yield path, number, "no waiting by time: wait for a condition; a FakeClock in tests"


def rule_text_hash(files):
    for path, text in files.having(*_CPP):
        if path.startswith("src/") and not path.startswith(("src/apiserver/", "src/base/text_hash")) and path not in _OPEN_HASHES:
            for number, _ in _lines(_code_only(text), _TEXT_HASH):
                yield path, number, "a hash whose texts anybody can choose; use base/text_hash.h or base/string_map.h"


def rule_unfinished(files):
    for path, text in files.having(*_CPP, ".py", ".go", ".md", "dev", "CMakeLists.txt", ".cmake"):
        if path not in _QUOTES_RULES and not path.startswith("docs/spec/"):
            for number, _ in _lines(text, _UNFINISHED):
                yield path, number, "a leftover needs an issue number, as in TODO(#12), or an end"


def rule_fixed_port(files):
    for path, text in files.having(*_CPP):
        if path.startswith("test/") and path not in _PORTS_ONLY_PARSED:
            for number, _ in _lines(re.sub(r"(?<!:)//.*", "", text), _FIXED_PORT):
                yield path, number, "fixed port: bind port 0 (addresses that are only parsed: tools/check_repo.py has a list)"


def rule_machine_path(files):
    for path, text in files.texts.items():
        for number, line in _lines(text, _MACHINE_PATH):
            yield path, number, f"a path of one machine: {line.strip()[:80]}"


def rule_title(files):
    for path, text in files.having(".md"):
        outside = re.sub(r"^```.*?^```", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
        titles = [number for number, _ in _lines(outside, r"^# ")]
        if titles[:1] != [1]:
            yield path, 1, "a document begins with its title"
        for number in titles[1:]:
            yield path, number, "a second title: use ## for sections"


def rule_python_syntax(files):
    for path, text in files.having(".py"):
        try:
            compile(text, path, "exec")
        except SyntaxError as error:
            yield path, error.lineno, str(error)


def rule_dead_file(files):
    everything = "\n".join(text for text in files.texts.values())
    build_files = "\n".join(text for path, text in files.texts.items() if path.endswith(("CMakeLists.txt", ".cmake")))
    included = set(re.findall(r'#\s*include\s+"([^"]+)"', everything))
    for path in files.texts:
        name = path.rsplit("/", 1)[-1]
        top = path.split("/")[0]
        if path.endswith(".h") and top in ("src", "cmd", "test"):
            if path.split("/", 1)[1] not in included and path not in included and name not in included:
                yield path, 1, "no file includes this header"
        elif path.endswith(".cc") and files.compiled is not None and path not in files.compiled and name not in build_files:
            yield path, 1, "no target builds this source"
        elif top == "tools" and path.endswith((".py", ".sh", ".supp")) and not path.startswith(("tools/controlplane/", "tools/image/")):
            if sum(text.count(name) for other, text in files.texts.items() if other != path) == 0:
                yield path, 1, "nothing mentions this tool"


def rule_gone_path(files):
    for path, text in files.texts.items():
        if path in _QUOTES_RULES or path in _PATHS_MADE_UP or path.startswith(("docs/spec/", "test/fuzz/corpus/")):
            continue
        for number, line in _lines(text, _PROJECT_PATH):
            for named in _PROJECT_PATH.findall(line):
                if named not in files.texts:
                    yield path, number, f"there is no {named}"


RULES = {name[len("rule_"):]: value for name, value in list(globals().items()) if name.startswith("rule_")}


def findings(files):
    """One line per violation, sorted."""
    return sorted(f"{path}:{number}: [{name}] {text}" for name, rule in RULES.items() for path, number, text in rule(files))


def _sources(path):
    """path, or the sources of ours that it stands for (KS_UNITY)."""
    if "/Unity/" not in str(path):
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))]


def _read(root, compile_commands):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True,
                            text=True, check=False)
    if listed.returncode != 0:  # an unpacked archive
        paths = [str(path.relative_to(root)) for path in root.rglob("*") if not path.relative_to(root).parts[0].startswith("build")]
    else:
        paths = listed.stdout.splitlines()
    texts = {}
    for path in paths:
        try:
            texts[path] = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):  # binary, or deleted and not yet committed
            continue
    compiled = None
    if compile_commands:
        entries = json.loads(compile_commands.read_text(encoding="utf-8"))
        compiled = {str(path.relative_to(root)) for entry in entries for path in _sources(pathlib.Path(entry["file"]))
                    if path.is_relative_to(root)}
    return Files(texts, compiled)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--compile-commands", type=pathlib.Path)
    options = parser.parse_args()
    violations = findings(_read(options.root, options.compile_commands))
    print("\n".join(violations) or "repository rules: kept")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
