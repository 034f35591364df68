# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of classes and headers: python3 tools/check_shape.py [--all] [ROOT].

A class in a header has at most 30 methods (constructors and the destructor not counted) and 20 data members, and its members are
defined in at most two sources. A header that brings a heavy library with it is included in its own folder only. What is bigger
stands in a list here and may not grow; when it shrinks, the list must follow. With --all the largest classes are shown."""

import argparse
import dataclasses
import pathlib
import re
import sys

MOST = (30, 20, 2)  # methods, data members, sources
HEAVY = re.compile(r"^(boost/(asio|beast)|cpprest|pplx|yaml-cpp|simdjson|spdlog|CLI/|nlohmann/json\.hpp)")
_TREES = ("src", "cmd")

# (header, class): methods, data members and sources that it has. To be cut, where no reason is given.
CLASSES = {
    ("src/api/pod.h", "PodSpec"): (0, 22, 0),  # upstream's fields
    ("cmd/kubeschedctl/demo/demo_state.h", "ViewState"): (0, 24, 0),  # what one frame shows
}
# Headers that bring a heavy library to other folders: why.
HEADERS = {
    "src/apiserver/store/object.h": "what the in-memory API server stores are JSON trees",
    "src/server/http/server_connection.h": "the core of both HTTPS servers' sessions",
    "cmd/kubeschedctl/cluster/pod_manifest.h": "gives JSON",
    "cmd/kubeschedctl/text/answer_fields.h": "reads JSON",
    "cmd/kubeschedctl/live/live_declare.h": "declares verbs",
}

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_CLASS = re.compile(r"\b(class|struct)\s+(?:KS_\w+(?:\([^()]*\))?\s+)?((?:\w+::)*\w+)(?:\s+final)?\s*(?::[^;{}]*)?\{")
_IGNORED = re.compile(r"^(using|typedef|friend|static_assert|enum|template\s*<[^>]*>\s*(class|struct)\b|class|struct|union|public|private|protected)\b")


@dataclasses.dataclass
class Shape:
    """What a class consists of."""
    header: str
    name: str
    methods: int = 0
    members: int = 0
    sources: int = 0

    def counts(self):
        """As in CLASSES."""
        return self.methods, self.members, self.sources

    def faults(self, most):
        """What is beyond these counts; empty: nothing."""
        return [f"{count} {what}, at most {limit}"
                for count, limit, what in zip(self.counts(), most, ("methods", "data members", "sources")) if count > limit]


def code_only(text):
    """text without comments, the insides of literals and preprocessor lines."""
    text = _TOKEN.sub(lambda match: '""' if match.group()[0] in "\"R'" else " ", text)
    return re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)


def _end_of_block(code, begin):
    """The place behind the brace that closes the one at begin."""
    depth = 0
    for place in range(begin, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def _statements(body):
    """The declarations of a class body, blocks in braces cut out."""
    text, place = "", 0
    while place < len(body):
        if body[place] == "{":
            place = _end_of_block(body, place)
            rest = body[place:].lstrip()
            if rest.startswith((";", ",", "=")):  # an initializer, or the end of a type
                continue
            yield text + "{}"
            text = ""
            continue
        if body[place] == ";":
            yield text
            text = ""
        else:
            text += body[place]
        place += 1


def _without_nesting(text):
    """text without attributes and what stands in angle brackets."""
    text = re.sub(r"\bKS_\w+\([^()]*\)|\[\[[^\]]*\]\]|\balignas\([^()]*\)", "", text)
    text = re.sub(r"\boperator\s*(<=>|<<|>>|<=|>=|<|>|->|\(\))", "operator_", text).replace("->", " ")
    while True:
        shorter = re.sub(r"<[^<>;{}]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def measure(header, code):
    """A Shape for each class of a header's code; sources are not counted."""
    for match in _CLASS.finditer(code):
        begin = match.end() - 1
        shape = Shape(header, match.group(2))
        for statement in _statements(code[begin + 1:_end_of_block(code, begin) - 1]):
            text = re.sub(r"\b(public|private|protected)\s*:", "", statement).strip()
            if not text or _IGNORED.match(text) or text.endswith(("= delete", "= default")):
                continue
            text = _without_nesting(text)
            head = text.split("=")[0] if "operator" not in text else text
            call = re.search(r"([\w~]+)\s*\(", head)
            if call:
                shape.methods += call.group(1).lstrip("~") != shape.name.split("::")[-1]  # constructors and the destructor are not counted
            elif not re.search(r"\b(static|constexpr)\b", head) and "{}" not in text:
                shape.members += 1 + head.count(",")
        yield shape


def shapes(root):
    """All classes in headers, with the number of sources in their folder that define their members."""
    found = []
    for tree in _TREES:
        code = {path: code_only(path.read_text(encoding="utf-8")) for path in sorted((root / tree).rglob("*.*"))
                if path.suffix in (".h", ".cc")}
        for header in (path for path in code if path.suffix == ".h"):
            for shape in measure(str(header.relative_to(root)), code[header]):
                definition = re.compile(r"^[^\s#/][^{\n]*?\b" + shape.name + r"::~?\w+\(", re.MULTILINE)
                shape.sources = sum(path.suffix == ".cc" and path.parent == header.parent and bool(definition.search(text))
                                    for path, text in code.items())
                found.append(shape)
    return found


def heavy_headers(root):
    """(header, source or header of another folder that includes it) for headers that bring a heavy library with them."""
    includes = {}
    for tree in _TREES:
        for path in sorted((root / tree).rglob("*.*")):
            if path.suffix in (".h", ".cc"):
                named = re.findall(r"^\s*#\s*include\s+[<\"]([^>\"]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
                includes[str(path.relative_to(root))] = named
    for header, named in includes.items():
        if not header.endswith(".h") or not any(HEAVY.match(name) for name in named):
            continue
        inside = header.split("/", 1)[1]
        for path, others in includes.items():
            if inside in others and path.rsplit("/", 1)[0] != header.rsplit("/", 1)[0]:
                yield header, path
                break


def findings(root, classes=None, headers=None):
    """One line per fault, or entry of the lists that no longer stands for one."""
    classes = CLASSES if classes is None else classes
    headers = HEADERS if headers is None else headers
    found, used = [], set()
    for shape in shapes(root):
        entry = (shape.header, shape.name)
        used.add(entry)
        faults = shape.faults(classes.get(entry, MOST))
        if faults:
            found.append(f"{shape.header}: {shape.name} has {'; '.join(faults)}: cut it by what its parts do")
        elif entry in classes and shape.counts() != classes[entry]:
            found.append(f"{shape.header}: {shape.name} has become smaller, {shape.counts()}: so must its entry in tools/check_shape.py")
    for header, path in heavy_headers(root):
        used.add(header)
        if header not in headers:
            found.append(f"{header}: brings a heavy library to {path}: keep it in sources, or in a header of one folder")
    found += [f"tools/check_shape.py: {entry} is listed for nothing" for entry in [*classes, *headers] if entry not in used]
    return found


def main():
    """Prints the findings; 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="show the largest classes")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    if options.all:
        for shape in sorted(shapes(options.root), key=lambda it: (-it.methods - it.members, it.name))[:40]:
            print(f"{shape.methods:4} methods {shape.members:4} members {shape.sources:2} sources  {shape.name}  {shape.header}")
    violations = findings(options.root)
    print("\n".join(violations) or "shape: kept")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
