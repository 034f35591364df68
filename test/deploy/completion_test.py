# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish complete with the scripts of `kubeschedctl completion`: completion_test.py KUBESCHEDCTL. Shells that are
not installed are left out."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

KUBESCHEDCTL = pathlib.Path(sys.argv[1]).resolve()

# Line, and what it can become; the last one is a file.
LINES = (
    ("kubeschedctl qu", ["queue"]),
    ("kubeschedctl queue --outp", ["--output"]),
    ("kubeschedctl queue --output ", ["json", "table"]),
    ("kubeschedctl queue --output=j", ["--output=json"]),
    ("kubeschedctl completion z", ["zsh"]),
    ("kubeschedctl check-config Cert", ["Certificates.txt"]),
)


class Shells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kubesched-completion-")))
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "kubeschedctl").symlink_to(KUBESCHEDCTL)
        (cls.folder / "Certificates.txt").touch()
        cls.environment = {"PATH": f"{cls.folder}/bin:{os.environ['PATH']}", "HOME": str(cls.folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def run_in(self, shell, *words):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        done = subprocess.run([shell, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_bash(self):
        script = """
          compopt() { [[ $* == "-o default" ]] && COMPREPLY=($(compgen -f -- "${COMP_LINE##* }")); }  # readline would
          source <(kubeschedctl completion bash)
          COMP_LINE=$1 COMP_POINT=${#1}
          _kubeschedctl_complete kubeschedctl
          printf '%s\\n' "${COMPREPLY[@]}"
        """
        for line, wanted in LINES:
            with self.subTest(line=line):
                # readline replaces what is behind the last = only.
                self.assertEqual(sorted(self.run_in("bash", "-c", script, "bash", line).split()),
                                 [word.split("=")[-1] for word in wanted])

    def test_fish(self):
        script = "kubeschedctl completion fish | source; complete -C $argv[1]"
        for line, wanted in LINES:
            with self.subTest(line=line):
                said = self.run_in("fish", "--no-config", "-c", script, line)
                self.assertEqual(sorted(re.split(r"\t", row)[0] for row in said.splitlines()), wanted)

    def test_zsh(self):
        """The words that the function hands to zsh: what it makes of them is zsh's."""
        script = """
          compdef() { : }
          _describe() { print -l -- ${candidates%%:*} }
          _files() { print -l -- Cert* }
          source <(kubeschedctl completion zsh)
          words=(${(s: :)1}); [[ $1 != *' ' ]] || words+=('')
          CURRENT=$#words
          _kubeschedctl
        """
        for line, wanted in LINES:
            with self.subTest(line=line):
                self.assertEqual(sorted(self.run_in("zsh", "-f", "-c", script, "zsh", line).split()), wanted)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
