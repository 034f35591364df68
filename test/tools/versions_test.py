# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/controlplane/versions.py: which program of which release is taken. Nothing is built."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import build  # noqa: E402
import versions  # noqa: E402


class Versions(unittest.TestCase):
    def setUp(self):
        scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.older = scratch / "older"
        self.today = scratch / "today"
        for folder, programs in ((self.older, ("kube-apiserver", "kube-controller-manager")), (self.today, build.BINARIES)):
            folder.mkdir()
            for program in programs:
                (folder / program).touch(mode=0o755)
        self.enterContext(mock.patch.dict(os.environ, {"KS_V1_36_BIN": str(self.older), "KS_CONTROLPLANE_BIN": str(self.today)}))
        os.environ.pop(versions.VARIABLE, None)

    def test_the_modules_pin_what_their_folders_say(self):
        self.assertIn("v1.36", versions.names())
        for name in versions.names():
            with self.subTest(version=name):
                self.assertTrue(versions.module(name).release().startswith(name + "."))

    def test_unset_is_todays(self):
        self.assertIsNone(versions.why_unavailable())
        self.assertEqual(versions.release(), build.pinned_release())
        self.assertEqual(versions.path("kube-apiserver"), self.today / "kube-apiserver")

    def test_only_the_servers_are_older(self):
        with mock.patch.dict(os.environ, {versions.VARIABLE: "v1.36"}):
            self.assertIsNone(versions.why_unavailable())
            self.assertTrue(versions.release().startswith("v1.36."))
            for program, folder in (("kube-apiserver", self.older), ("kube-controller-manager", self.older), ("etcd", self.today),
                                    ("kubectl", self.today), ("kube-scheduler", self.today)):
                self.assertEqual(versions.path(program), folder / program)

    def test_what_is_missing_is_named_with_the_cure(self):
        (self.older / "kube-controller-manager").unlink()
        with mock.patch.dict(os.environ, {versions.VARIABLE: "v1.36"}):
            self.assertRegex(versions.why_unavailable(), r"kube-controller-manager missing\): run \./dev controlplane build --version v1\.36")

    def test_an_unknown_version_names_the_known_ones(self):
        with mock.patch.dict(os.environ, {versions.VARIABLE: "1.36"}):
            done = subprocess.run([sys.executable, str(ROOT / "tools" / "controlplane"), "servers"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"no servers of version 1\.36: known are .*v1\.36")


if __name__ == "__main__":
    unittest.main()
