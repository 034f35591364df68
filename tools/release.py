# SPDX-License-Identifier: Apache-2.0
"""Makes what a release consists of, ready to be tagged and published: behind ./dev release.

    python3 tools/release.py [--out FOLDER] [--allow-dirty] [--check-reproducible] [--jobs N]
    python3 tools/release.py --programs FOLDER [--unchecked]       of programs that are built already; without trying the artifacts
    python3 tools/release.py --compare A B          two releases, or two files: where each differs first (release_diff.py)

Before anything is built: the work tree is that of its commit, and the version is the same everywhere (release_facts.py). The
programs are built anew in build/release-tree, with the same settings everywhere and without the compiler cache. Then image, Debian
package, chart, kubectl plugin, manifests, SBOM, notes and SHA256SUMS are written to --out (build/release). Two folders make the same
bytes: --check-reproducible does all of it once more in a clone in another folder, time zone and umask, and compares. Nothing is
tagged or published: the commands for that are printed. Status 1: a fault, or files that differ."""

import argparse
import fnmatch
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
for _folder in ("image", "controlplane"):
    sys.path.insert(0, str(ROOT / "tools" / _folder))

import content  # noqa: E402  (after the paths above)
import delivery  # noqa: E402
import oci  # noqa: E402
import release_diff  # noqa: E402
import release_facts  # noqa: E402
import sbom  # noqa: E402

PROGRAMS = ("kubesched", "kubeschedctl")
SUMS = "SHA256SUMS"
_CHART = ROOT / "deploy" / "helm" / "kubesched"
_SECOND = ROOT / "deploy" / "second-scheduler"
_TREE = ROOT / "build" / "release-tree"
# Whatever the environment says: a release has one way to be built.
_SETTINGS = ("-DKS_UNITY=ON", "-DKS_CCACHE=OFF", "-DBUILD_TESTING=OFF", "-DCMAKE_CXX_FLAGS=", "-DCMAKE_EXE_LINKER_FLAGS=")


class ReleaseError(Exception):
    """A text for people."""


def _run(*command, why, **more):
    """Lets the command speak. Raises ReleaseError if it fails or, with a tool missing, skips its work."""
    done = subprocess.run([str(word) for word in command], check=False, **more)
    if done.returncode != 0:
        raise ReleaseError(f"{why}: {' '.join(map(str, command))} ended with status {done.returncode}; what it said stands above")


# The programs.

def _build(jobs):
    shutil.rmtree(_TREE, ignore_errors=True)
    _run("cmake", "--preset", "release", "-B", _TREE, *_SETTINGS, cwd=ROOT, why="the programs were not configured")
    _run("cmake", "--build", _TREE, "--target", *PROGRAMS, "--parallel", jobs, cwd=ROOT, why="the programs were not built")
    return _TREE / "bin"


def _check_programs(folder, facts):
    """They are of this version, and do not say where they were built."""
    wanted = {"kubesched": ("--version", f"kubesched v{facts.version} (compatible with Kubernetes v{facts.reference})"),
              "kubeschedctl": ("version", f"kubeschedctl {facts.version}")}
    for name, (word, said) in wanted.items():
        program = folder / name
        if not os.access(program, os.X_OK):
            raise ReleaseError(f"there is no {program}: build it, or leave out --programs")
        answer = sbom.output(program, word).strip()
        if answer != said:
            raise ReleaseError(f"{program} says '{answer}', not '{said}': it is of another tree; build it anew")
        if str(ROOT).encode() + b"/" in program.read_bytes():
            raise ReleaseError(f"{program} names the folder {ROOT} that it was built in, so that other folders make other bytes: "
                               f"it lacks -ffile-prefix-map (cmake/KsBuild.cmake)")


# The artifacts. Each function writes some into `out`, from the programs, with `work` for what is in between.

def _image(facts, out, work, options):
    _run(sys.executable, ROOT / "tools" / "image", "--programs", options.programs, "--out", work, *options.check, why="no image")
    platform = f"v{facts.version}_linux_{oci.ARCHITECTURES[os.uname().machine]}"
    for end in ("tar", "spdx.json"):
        shutil.move(work / f"kubesched-{facts.version}.{end}", out / f"kubesched-image_{platform}.{end}")


def _package(facts, out, work, options):
    _run(sys.executable, ROOT / "tools" / "package.py", "--programs", options.programs, "--out", work, *options.check, why="no package")
    [package] = work.glob(f"kubesched_{facts.version}-1_*.deb")
    shutil.move(package, out / package.name)


def _plugin(_facts, out, work, options):
    _run(sys.executable, ROOT / "tools" / "krew.py", "--programs", options.programs, "--out", work, *options.check, *options.url,
         why="no kubectl plugin")
    for path in work.iterdir():
        shutil.move(path, out / path.name)


def _chart(facts, out, _work, options):
    """As helm package makes it, but the same each time."""
    ignored = (_CHART / ".helmignore").read_text(encoding="utf-8").split()
    files = {f"kubesched/{path.relative_to(_CHART).as_posix()}": content.File(path.read_bytes()) for path in _CHART.rglob("*")
             if path.is_file() and not any(fnmatch.fnmatch(part, word) for part in path.relative_to(_CHART).parts for word in ignored)}
    archive = out / f"kubesched-{facts.version}.tgz"
    archive.write_bytes(gzip.compress(oci.tar_of(files, sbom.epoch()), 9, mtime=0))
    if not options.check:
        return
    if why := delivery.HELM.why_unavailable():
        print(f"the chart was not tried: {why}")
    else:
        _run(delivery.HELM.folder() / "helm", "lint", "--strict", archive, why="the chart is faulty")


def _manifests(facts, out, _work, _options):
    listed = re.search(r"resources: \[(.*)\]", (_SECOND / "kustomization.yaml").read_text(encoding="utf-8")).group(1).split(", ")
    texts = [(_SECOND / name).read_text(encoding="utf-8") for name in listed]
    (out / f"kubesched-second-scheduler_v{facts.version}.yaml").write_text("---\n".join(texts), encoding="utf-8")
    shutil.copyfile(ROOT / "deploy" / "kubeadm" / "kube-scheduler.yaml", out / f"kubesched-kubeadm_v{facts.version}.yaml")


def _notes(facts, out, _work, _options):
    text = f"# kubesched {facts.version}\n\nDecides as kube-scheduler v{facts.reference} does.\n\n{facts.notes}"
    (out / "RELEASE_NOTES.md").write_text(text, encoding="utf-8")


def _sums(out):
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(out.iterdir())]
    (out / SUMS).write_text("".join(lines), encoding="utf-8")  # as sha256sum --check reads it


_ARTIFACTS = (_notes, _manifests, _chart, _image, _package, _plugin)


def _emptied(out):
    """The folder, there and empty. Raises ReleaseError where that would take something else than a release away."""
    if out.exists() and any(out.iterdir()) and not (out / SUMS).exists():
        raise ReleaseError(f"{out} is not empty and is no release's folder: choose another with --out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    return out


def make(facts, options):
    """Fills options.out."""
    out = _emptied(options.out)
    for artifact in _ARTIFACTS:
        with tempfile.TemporaryDirectory(prefix="kubesched-release-") as work:
            artifact(facts, out, pathlib.Path(work), options)
    _sums(out)
    print(f"\n{out}:")
    for path in sorted(out.iterdir()):
        print(f"  {path.stat().st_size:>10,}  {path.name}")


# The same once more, elsewhere.

def check_reproducible(options):
    """Whether another folder makes the same bytes; prints what differs."""
    with tempfile.TemporaryDirectory(prefix="kubesched-reproduced-") as scratch:
        tree, out = pathlib.Path(scratch) / "some" / "other-folder", pathlib.Path(scratch) / "out"
        _run("git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, tree, why="no second tree")
        _run("git", "-C", tree, "checkout", "--quiet", "--detach", release_facts.commit(ROOT), umask=0o027, why="no second tree")
        _run(sys.executable, tree / "tools" / "release.py", "--out", out, "--jobs", options.jobs, "--unchecked", *options.url,
             umask=0o027, env={**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "C"}, why="the second release was not made")
        lines = release_diff.compare(options.out, out)
    if lines:
        raise ReleaseError("not reproducible: another folder made other bytes:\n" + "\n".join(lines))
    print(f"reproducible: {len(list(options.out.iterdir()))} files, the same bytes from another folder, time zone and umask")


def _release(options):
    facts = release_facts.gather(ROOT, for_release=True)
    release_facts.check_repository(ROOT, facts.version, options.allow_dirty)
    if options.check_reproducible and release_facts.changed(ROOT):
        raise ReleaseError("--check-reproducible compares with the commit, and the work tree is not that: commit first")
    options.programs = options.programs.resolve() if options.programs else _build(options.jobs)
    _check_programs(options.programs, facts)
    make(facts, options)
    if options.check_reproducible:
        check_reproducible(options)
    if options.check and not release_facts.changed(ROOT):
        print(f"\nto be done by people:\n  git tag -a v{facts.version} -m 'kubesched {facts.version}' {release_facts.commit(ROOT)}\n"
              f"  git push origin v{facts.version}")
    return 0


def _compare(one, other):
    lines = release_diff.compare(one, other)
    print("\n".join(lines) or "the same")
    return 1 if lines else 0


def main():
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "release", help="where the artifacts go")
    parser.add_argument("--allow-dirty", action="store_true", help="of a work tree with changes: to try it, not to publish it")
    parser.add_argument("--check-reproducible", action="store_true", help="make it twice, in two folders, and compare")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of built programs; without it they are built anew")
    parser.add_argument("--unchecked", dest="check", action="store_const", const=[], default=["--check"],
                        help="do not try image, package, chart and plugin")
    parser.add_argument("--url", help="where the plugin's archive will be fetched from (tools/krew.py)")
    parser.add_argument("--jobs", type=int, default=1, help="compilers side by side")
    parser.add_argument("--compare", nargs=2, type=pathlib.Path, metavar=("A", "B"), help="only say where two releases differ")
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.url = [f"--url={options.url}"] if options.url else []
    try:
        return _compare(*options.compare) if options.compare else _release(options)
    except (ReleaseError, release_facts.FactsError, FileNotFoundError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # in order with what the other tools say
    sys.exit(main())
