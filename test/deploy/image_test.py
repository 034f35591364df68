# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/image: the same content makes the same bytes, in OCI's form. That it runs is the test `image`."""

import hashlib
import io
import json
import pathlib
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "image"))

import content  # noqa: E402
import oci  # noqa: E402
import trial  # noqa: E402

_EPOCH = 1700000000
_FILES = {"usr/bin/program": content.File(b"program", 0o755), "lib": content.Link("usr/lib"), "tmp": content.Folder(0o1777)}


def _image(files):
    return oci.build([files, {"etc/name": content.File(b"n")}], {"User": "1:1", "Env": []}, {}, "amd64", _EPOCH)


class Layers(unittest.TestCase):
    def test_entries(self):
        with tarfile.open(fileobj=io.BytesIO(oci.tar_of(_FILES, _EPOCH))) as archive:
            entries = archive.getmembers()
        self.assertEqual([entry.name for entry in entries], ["lib", "tmp", "usr", "usr/bin", "usr/bin/program"])
        self.assertEqual({(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries}, {(0, 0, "", _EPOCH)})
        self.assertEqual([entry.mode for entry in entries], [0o777, 0o1777, 0o755, 0o755, 0o755])
        self.assertTrue(entries[0].issym())

    def test_order_does_not_matter(self):
        self.assertEqual(_image(_FILES).manifest, _image(dict(reversed(_FILES.items()))).manifest)
        self.assertNotEqual(_image(_FILES).manifest, _image({**_FILES, "more": content.File(b"")}).manifest)


class Layouts(unittest.TestCase):
    def test_written_and_read(self):
        scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        image = _image(_FILES)
        archive = oci.write(image, "1.0", "amd64", scratch / "layout")
        for blob in (scratch / "layout" / "blobs" / "sha256").iterdir():
            self.assertEqual(hashlib.sha256(blob.read_bytes()).hexdigest(), blob.name)
        index = json.loads((scratch / "layout" / "index.json").read_text(encoding="utf-8"))
        self.assertEqual(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"], "1.0")
        first = archive.read_bytes()
        self.assertEqual(oci.write(image, "1.0", "amd64", scratch / "layout").read_bytes(), first)
        root = scratch / "root"
        root.mkdir()
        self.assertEqual(trial.unpack(scratch / "layout", root)["User"], "1:1")
        self.assertEqual((root / "usr/bin/program").read_bytes() + (root / "etc/name").read_bytes(), b"programn")


class Packages(unittest.TestCase):
    def test_a_changed_file_is_refused(self):
        package = content.Package("tzdata")
        path = package.paths("usr/share/zoneinfo/Europe/")[0]
        self.assertTrue(package.read(path))
        package._digests[path] = "0" * 32  # pylint: disable=protected-access
        with self.assertRaisesRegex(content.ContentError, "is not what the package tzdata has"):
            package.read(path)

    def test_one_that_is_not_there(self):
        with self.assertRaisesRegex(content.ContentError, "no package nosuch"):
            content.Package("nosuch")


if __name__ == "__main__":
    unittest.main()
