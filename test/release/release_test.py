# SPDX-License-Identifier: Apache-2.0
"""The version is the same everywhere in this tree; and self-tests of ./dev release: what it refuses, what its comparison finds, and
that the same input makes the same bytes. Programs are not built here."""

import contextlib
import gzip
import io
import lzma
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import package  # noqa: E402
import release  # noqa: E402
import release_diff  # noqa: E402
import release_facts  # noqa: E402

import content  # noqa: E402  (release has its folder on the path)
import oci  # noqa: E402

_EPOCH = 1700000000
_RELEASED = "## {} (2026-11-27; reference: kube-scheduler v{})"
_FACTS = release_facts.Facts("0.9.1", "1.37.1", "### Added\n\n- Something.\n", True)


class WithScratch(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class ThisTree(unittest.TestCase):
    def test_the_version_is_the_same_everywhere(self):
        try:
            release_facts.gather(ROOT, for_release=False)
        except release_facts.FactsError as error:
            self.fail(f"\n{error}")


class Facts(WithScratch):
    """Over a copy of the files that name the version, with a changelog of its own."""

    def setUp(self):
        super().setUp()
        for path in {"CMakeLists.txt", *(path for path, _ in release_facts.PLACES + release_facts.REFERENCES)}:
            (self.scratch / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.scratch / path)
        self.version, self.reference = release_facts.versions(ROOT)
        self.write_changelog(_RELEASED.format(self.version, self.reference))

    def write_changelog(self, heading, below="- New.\n"):
        text = f"# Changelog\n\nNewest first.\n\n{heading}\n\n{below}\n## 0.0.1 (2026-01-01; reference: kube-scheduler v1.36.0)\n\n- Old.\n"
        (self.scratch / release_facts.CHANGELOG).write_text(text, encoding="utf-8")

    def replace(self, path, old, new):
        text = (self.scratch / path).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.scratch / path).write_text(text.replace(old, new, 1), encoding="utf-8")

    def refused(self, *wanted, for_release=True):
        with self.assertRaises(release_facts.FactsError) as caught:
            release_facts.gather(self.scratch, for_release)
        for text in wanted:
            self.assertIn(text, str(caught.exception))
        return str(caught.exception)

    def test_what_agrees_is_taken(self):
        facts = release_facts.gather(self.scratch, for_release=True)
        self.assertEqual(facts, release_facts.Facts(self.version, self.reference, "- New.\n", True))
        self.write_changelog(f"## Unreleased ({self.version}; reference: kube-scheduler v{self.reference})")
        self.assertFalse(release_facts.gather(self.scratch, for_release=False).released)

    def test_each_place_is_named(self):
        for path, before in (("deploy/helm/kubesched/Chart.yaml", "\nversion: "), ("deploy/helm/kubesched/Chart.yaml", '\nappVersion: "'),
                             ("deploy/kubeadm/kube-scheduler.yaml", "image: kubesched:"), ("docs/operating.md", "kubesched_"),
                             ("deploy/second-scheduler/deployment.yaml", "image: kubesched:"), ("docs/operating.md", "kubesched-")):
            with self.subTest(path=path, before=before):
                self.setUp()
                self.replace(path, before + self.version, before + "7.7.7")
                said = self.refused("says 7.7.7", f"write {self.version}", for_release=False)
                self.assertRegex(said, rf"^{path}:\d+: ")
                self.assertEqual(len(said.splitlines()), 1)

    def test_a_place_that_is_gone(self):
        self.replace("deploy/kubeadm/kube-scheduler.yaml", "image: kubesched:", "image: somewhere/else:")
        self.refused("deploy/kubeadm/kube-scheduler.yaml: nothing like", "put it back")

    def test_all_faults_are_told_at_once(self):
        self.replace("CMakeLists.txt", self.version, "8.0.0")
        said = self.refused("CHANGELOG.md:5: says " + self.version)
        for path, _ in release_facts.PLACES:
            self.assertIn(f"\n{path}:" if not said.startswith(path) else path, said)

    def test_references_disagree(self):
        self.replace("test/controlplane/go.mod", f"k8s.io/kubernetes v{self.reference}", "k8s.io/kubernetes v7.7.7")
        self.refused("test/controlplane/go.mod:", "says 7.7.7", f"write {self.reference}")

    def test_headings_of_the_changelog(self):
        for heading, wanted in ((_RELEASED.format("7.7.7", self.reference), "says 7.7.7"),
                                (_RELEASED.format(self.version, "1.36.0"), "says kube-scheduler v1.36.0"),
                                (_RELEASED.format(self.version, self.reference).replace("11-27", "13-27"), "2026-13-27 is no day"),
                                (f"## Unreleased ({self.version}; reference: kube-scheduler v{self.reference})",
                                 f"write '## {self.version} ("),
                                ("## News", f"write '## {self.version} (")):
            with self.subTest(heading=heading):
                self.write_changelog(heading)
                self.refused("CHANGELOG.md:5: ", wanted)

    def test_empty_sections_are_refused(self):
        self.write_changelog(_RELEASED.format(self.version, self.reference), below="")
        self.refused("CHANGELOG.md:5: the section is empty")
        (self.scratch / release_facts.CHANGELOG).write_text("# Changelog\n", encoding="utf-8")
        self.refused("CHANGELOG.md: no section")


class Repository(WithScratch):
    def git(self, *words):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
        subprocess.run(["git", "-C", self.scratch, *identity, *words], check=True, capture_output=True)

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet")
        (self.scratch / "file").write_text("1", encoding="utf-8")
        self.git("add", "file")
        self.git("commit", "--quiet", "-m", "first")

    def test_changes_are_refused_by_name(self):
        release_facts.check_repository(self.scratch, "1.0.0", False)
        (self.scratch / "new").write_text("", encoding="utf-8")
        (self.scratch / "file").write_text("2", encoding="utf-8")
        with self.assertRaisesRegex(release_facts.FactsError, "not that of the commit: file, new: commit"):
            release_facts.check_repository(self.scratch, "1.0.0", False)
        release_facts.check_repository(self.scratch, "1.0.0", True)

    def test_a_tag_of_another_commit_is_refused(self):
        self.git("tag", "-a", "v1.0.0", "-m", "1.0.0")
        release_facts.check_repository(self.scratch, "1.0.0", False)
        self.git("commit", "--quiet", "--allow-empty", "-m", "second")
        with self.assertRaisesRegex(release_facts.FactsError, r"the tag v1\.0\.0 is of the commit [0-9a-f]{12}: raise the version"):
            release_facts.check_repository(self.scratch, "1.0.0", False)
        release_facts.check_repository(self.scratch, "1.0.1", False)

    def test_no_repository(self):
        shutil.rmtree(self.scratch / ".git")
        with unittest.mock.patch.dict("os.environ", {"GIT_CEILING_DIRECTORIES": str(self.scratch.parent)}):
            with self.assertRaisesRegex(release_facts.FactsError, "a release is made in a clone"):
                release_facts.commit(self.scratch)


def _tar(files, epoch=_EPOCH):
    return oci.tar_of({name: content.File(data) for name, data in files.items()}, epoch)


def _ar(members):
    made = b"!<arch>\n"
    for name, data in members.items():
        made += f"{name:<16}{_EPOCH:<12}0     0     100644  {len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return made


def _image(layers):
    image = oci.build([{"usr/bin/p": content.File(data)} for data in layers], {"User": "1:1", "Env": []}, {}, "amd64", _EPOCH)
    with tempfile.TemporaryDirectory() as scratch:
        return oci.write(image, "1.0", "amd64", pathlib.Path(scratch) / "image").read_bytes()


class Differences(WithScratch):
    """Planted, and named with their place."""

    def test_the_same(self):
        self.assertIsNone(release_diff.first_difference(_image([b"1", b"2"]), _image([b"1", b"2"])))

    def test_bytes(self):
        self.assertEqual(release_diff.first_difference(b"abcdef", b"abXdef"), "offset 2 of 6 and 6 bytes: b'cdef' and b'Xdef'")
        self.assertEqual(release_diff.first_difference(b"abc", b"abcd"), "offset 3 of 3 and 4 bytes: b'' and b'd'")

    def test_in_archives(self):
        one, other = ({"a": b"same", "b/c": b"x" + tail} for tail in (b"1", b"2"))
        for pack in (gzip.compress, lzma.compress):
            with self.subTest(pack=pack):
                said = release_diff.first_difference(pack(_tar(one)), pack(_tar(other)))
                self.assertTrue(said.startswith("unpacked: b/c: offset 1 of 2 and 2 bytes"), said)

    def test_in_a_debian_package(self):
        one, other = (_ar({"debian-binary": b"2.0\n", "data.tar.xz": lzma.compress(_tar({"usr/bin/p": data}))}) for data in (b"1", b"2"))
        said = release_diff.first_difference(one, other)
        self.assertTrue(said.startswith("data.tar.xz: unpacked: usr/bin/p: offset 0"), said)

    def test_in_an_image(self):
        """The layer, not the digests that follow from it."""
        said = release_diff.first_difference(_image([b"1", b"2"]), _image([b"1", b"3"]))
        self.assertTrue(said.startswith("layer 1: unpacked: usr/bin/p: offset 0"), said)

    def test_what_stands_beside_the_bytes(self):
        self.assertIn("time 1700000000", release_diff.first_difference(_tar({"a": b""}), _tar({"a": b""}, _EPOCH + 1)))
        self.assertEqual(release_diff.first_difference(_tar({"a": b""}), _tar({"a": b"", "b": b""})), "b: only in the second")
        self.assertEqual(release_diff.first_difference(_tar({"a": b""}), _tar({"b": b""})), "a stands where the other has b")
        packed = [gzip.compress(b"a" * 1000, level, mtime=0) for level in (0, 9)]
        self.assertIn("the same content, packed otherwise", release_diff.first_difference(*packed))
        self.assertIn("made at 1 and made at 2", release_diff.first_difference(*(gzip.compress(b"a", 9, mtime=time) for time in (1, 2))))

    def test_in_a_program(self):
        program = pathlib.Path(sys.executable).resolve().read_bytes()
        name, section = max(release_diff.sections(program).items(), key=lambda item: len(item[1]))
        place = program.index(section) + len(section) // 2
        changed = program[:place] + bytes([program[place] ^ 1]) + program[place + 1:]
        self.assertTrue(release_diff.first_difference(program, changed).endswith(f"; sections that differ: {name}"))

    def test_folders(self):
        one, other = self.scratch / "one", self.scratch / "other"
        for folder, data in ((one, "1"), (other, "2")):
            folder.mkdir()
            (folder / "same").write_text("same", encoding="utf-8")
            (folder / "file").write_text(data, encoding="utf-8")
        (one / "more").write_text("", encoding="utf-8")
        self.assertEqual(release_diff.compare(one, other), ["file: offset 0 of 1 and 1 bytes: b'1' and b'2'", f"more: only in {one}"])
        self.assertEqual(release_diff.compare(one, one), [])
        with contextlib.redirect_stdout(io.StringIO()) as said, unittest.mock.patch.object(
                sys, "argv", ["release.py", "--compare", str(one), str(other)]):
            self.assertEqual(release.main(), 1)
        self.assertIn("more: only in", said.getvalue())

    def test_nothing_to_compare(self):
        with self.assertRaisesRegex(FileNotFoundError, "there is no "):
            release_diff.compare(self.scratch, self.scratch / "none")


class Made(WithScratch):
    """The artifacts that need no programs."""

    def make(self, out):
        options = types.SimpleNamespace(out=out, check=[], url=[], programs=None)
        cheap = (release._notes, release._manifests, release._chart)  # pylint: disable=protected-access
        with unittest.mock.patch.object(release, "_ARTIFACTS", cheap), contextlib.redirect_stdout(io.StringIO()):
            release.make(_FACTS, options)
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def test_twice_the_same(self):
        first = self.make(self.scratch / "one")
        self.assertEqual(first, self.make(self.scratch / "two"))
        self.assertEqual(sorted(first), ["RELEASE_NOTES.md", "SHA256SUMS", "kubesched-0.9.1.tgz", "kubesched-kubeadm_v0.9.1.yaml",
                                         "kubesched-second-scheduler_v0.9.1.yaml"])
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.scratch / "one", check=True, capture_output=True)
        self.assertEqual(len(first["SHA256SUMS"].splitlines()), len(first) - 1)
        self.assertTrue(first["RELEASE_NOTES.md"].endswith(b"- Something.\n"))

    def test_the_chart_is_complete(self):
        made = self.make(self.scratch / "one")["kubesched-0.9.1.tgz"]
        self.assertEqual(made[4:8], bytes(4))  # gzip's time stamp
        with tarfile.open(fileobj=io.BytesIO(made)) as archive:
            packed = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        chart = ROOT / "deploy" / "helm"
        files = [path for path in chart.rglob("*") if path.is_file()]
        self.assertEqual(packed, {path.relative_to(chart).as_posix(): path.read_bytes() for path in files})

    def test_the_second_scheduler_is_one_file(self):
        text = self.make(self.scratch / "one")["kubesched-second-scheduler_v0.9.1.yaml"].decode()
        folder = ROOT / "deploy" / "second-scheduler"
        alone = [(folder / name).read_text(encoding="utf-8") for name in ("rbac.yaml", "config.yaml", "deployment.yaml")]
        self.assertEqual(text.count("\nkind: "), sum(part.count("\nkind: ") for part in alone))
        for part in alone:
            self.assertIn(part, text)
        for document in text.split("\n---\n"):
            self.assertEqual(document.count("\nkind: "), 1, document)

    def test_only_its_own_folder_is_emptied(self):
        self.make(self.scratch)  # empty so far
        (self.scratch / "SHA256SUMS").unlink()
        with self.assertRaisesRegex(release.ReleaseError, "is not empty and is no release's folder"):
            self.make(self.scratch)
        self.assertTrue((self.scratch / "RELEASE_NOTES.md").exists())


class Package(WithScratch):
    def test_times_of_the_files_are_the_commits(self):
        """A checkout's are its own, and those before the commit would go into the package."""
        package._tree(self.scratch / "tree", "0.9.1", _EPOCH)  # pylint: disable=protected-access
        times = {path.stat().st_mtime for path in (self.scratch / "tree" / "debian").rglob("*")}
        self.assertEqual(times, {_EPOCH})


class Programs(WithScratch):
    def check(self, scheduler="kubesched v0.9.1 (compatible with Kubernetes v1.37.1)", tool="kubeschedctl 0.9.1", more=""):
        for name, said in (("kubesched", scheduler), ("kubeschedctl", tool)):
            path = self.scratch / name
            path.write_text(f"#!/bin/sh\necho '{said}'\n#{more}\n", encoding="utf-8")
            path.chmod(0o755)
        release._check_programs(self.scratch, _FACTS)  # pylint: disable=protected-access

    def test_of_this_version_and_of_no_folder(self):
        self.check()
        for words in ({"scheduler": "kubesched v0.9.0 (compatible with Kubernetes v1.37.1)"}, {"tool": "kubeschedctl 0.9.2"}):
            with self.subTest(words=words), self.assertRaisesRegex(release.ReleaseError, "is of another tree; build it anew"):
                self.check(**words)
        with self.assertRaisesRegex(release.ReleaseError, "lacks -ffile-prefix-map"):
            self.check(more=f"{ROOT}/src/base/text.cc")

    def test_not_there(self):
        with self.assertRaisesRegex(release.ReleaseError, "there is no .*: build it"):
            release._check_programs(self.scratch, _FACTS)  # pylint: disable=protected-access


if __name__ == "__main__":
    unittest.main()
