# SPDX-License-Identifier: Apache-2.0
"""What a release says of itself, and whether all places say the same: used by tools/release.py and test/release.

The version is that of CMakeLists.txt. It stands again where people copy it from (PLACES) and in the heading of CHANGELOG.md's
uppermost section, together with the release of kube-scheduler that it stands for."""

import dataclasses
import datetime
import re
import subprocess

PLACES = (  # (file, what stands there: the group is the version); each must be there, however often
    ("deploy/helm/kubesched/Chart.yaml", r"^version: (\S+)$"),
    ("deploy/helm/kubesched/Chart.yaml", r'^appVersion: "(\S+)"$'),
    ("deploy/kubeadm/kube-scheduler.yaml", r"image: kubesched:(\S+)$"),
    ("deploy/second-scheduler/deployment.yaml", r"image: kubesched:(\S+)$"),
    ("docs/operating.md", r"kubesched[-_:](\d+\.\d+\.\d+)"),
)
REFERENCES = (  # the same of the release of kube-scheduler
    ("src/daemon/reference_version.h", r'kReferenceVersion = "(\S+)"'),
    ("test/controlplane/go.mod", r"^\s*k8s\.io/kubernetes v(\S+)$"),
)
CHANGELOG = "CHANGELOG.md"
_PROJECT = ("CMakeLists.txt", r"^project\(kubesched VERSION (\S+)")
_RELEASED = re.compile(r"^## (?P<version>\d+\.\d+\.\d+) \((?P<date>\d{4}-\d{2}-\d{2}); reference: kube-scheduler v(?P<reference>\S+)\)$")
_UNRELEASED = re.compile(r"^## Unreleased \((?P<version>\d+\.\d+\.\d+); reference: kube-scheduler v(?P<reference>\S+)\)$")


class FactsError(Exception):
    """A text for people: place and cure, one fault a line."""


@dataclasses.dataclass(frozen=True)
class Facts:
    """Of one tree."""
    version: str
    reference: str  # without "v"
    notes: str  # the uppermost section of CHANGELOG.md, without its heading
    released: bool  # whether that section has a date


def _found(root, path, pattern):
    """(line, what the pattern's group has there), in order."""
    for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
        for match in re.finditer(pattern, line):
            yield number, match.group(1)


def _only(root, path, pattern):
    values = [value for _, value in _found(root, path, pattern)]
    if len(values) != 1:
        raise FactsError(f"{path}: {len(values)} lines like {pattern}: exactly one is needed")
    return values[0]


def _others(root, places, wanted, source):
    """Faults of the places that say something else."""
    for path, pattern in places:
        found = list(_found(root, path, pattern))
        if not found:
            yield f"{path}: nothing like {pattern}: put it back, or take the place out of tools/release_facts.py"
        for number, value in found:
            if value != wanted:
                yield f"{path}:{number}: says {value}, {source} says {wanted}: write {wanted}"


def _section(root):
    """The line number and the text of the changelog's uppermost heading, and what stands below it."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    match = re.search(r"^## .*$", text, re.MULTILINE)
    if not match:
        raise FactsError(f"{CHANGELOG}: no section: begin one with '## Unreleased (VERSION; reference: kube-scheduler vVERSION)'")
    below = re.split(r"^## ", text[match.end():], maxsplit=1, flags=re.MULTILINE)[0]
    return text.count("\n", 0, match.start()) + 1, match.group(), below.strip() + "\n"


def _heading_faults(heading, version, reference, for_release):
    wanted = f"## {version} (YYYY-MM-DD; reference: kube-scheduler v{reference})"
    released = _RELEASED.match(heading)
    match = released or (None if for_release else _UNRELEASED.match(heading))
    if not match:
        yield f"says '{heading}': write '{wanted}'"
        return
    if match["version"] != version:
        yield f"says {match['version']}, {_PROJECT[0]} says {version}: write '{wanted}', or raise the version there"
    if match["reference"] != reference:
        yield f"says kube-scheduler v{match['reference']}, {REFERENCES[0][0]} says {reference}: write '{wanted}'"
    if released:
        try:
            datetime.date.fromisoformat(released["date"])
        except ValueError:
            yield f"{released['date']} is no day: write the day of the release"


def versions(root):
    """The tree's own and kube-scheduler's, from where they are decided."""
    return _only(root, *_PROJECT), _only(root, *REFERENCES[0])


def gather(root, for_release):
    """The facts of the tree at `root`. for_release: the changelog's section must have the release's form, otherwise it may still be
    'Unreleased'. Raises FactsError that names every place that disagrees."""
    version, reference = versions(root)
    number, heading, notes = _section(root)
    faults = [*_others(root, PLACES, version, _PROJECT[0]), *_others(root, REFERENCES[1:], reference, REFERENCES[0][0]),
              *(f"{CHANGELOG}:{number}: {fault}" for fault in _heading_faults(heading, version, reference, for_release))]
    if for_release and not notes.strip():
        faults.append(f"{CHANGELOG}:{number}: the section is empty: say what is new")
    if faults:
        raise FactsError("\n".join(faults))
    return Facts(version, reference, notes, bool(_RELEASED.match(heading)))


def _git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FactsError(f"{root}: git {' '.join(words)}: {done.stderr.strip()}: a release is made in a clone with its history")
    return done.stdout


def commit(root):
    """Of the tree, in full."""
    return _git(root, "rev-parse", "HEAD").strip()


def changed(root):
    """Paths that the commit does not have as they are here; new ones count."""
    return [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]


def check_repository(root, version, allow_dirty):
    """Raises FactsError if the work tree is not its commit's, or if the version's tag is another commit's."""
    paths = changed(root)
    if paths and not allow_dirty:
        shown = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        raise FactsError(f"the work tree is not that of the commit: {shown}: commit or remove them, or try with --allow-dirty")
    tagged = _git(root, "rev-list", "--max-count=1", "--ignore-missing", f"refs/tags/v{version}").strip() \
        if _git(root, "tag", "--list", f"v{version}").strip() else ""
    if tagged and tagged != commit(root):
        raise FactsError(f"the tag v{version} is of the commit {tagged[:12]}: raise the version in {_PROJECT[0]}, or go to that commit")
