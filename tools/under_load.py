# SPDX-License-Identifier: Apache-2.0
"""Runs a command beside a load that keeps all processors busy: python3 tools/under_load.py COMMAND [ARGUMENT]...

The status is the command's. Tests that pass only on an idle machine fail here."""

import multiprocessing
import os
import subprocess
import sys


def _work():
    while True:
        pass


def run(command):
    """The command's status; the load ends with it."""
    load = [multiprocessing.Process(target=_work, daemon=True) for _ in range(os.cpu_count() or 1)]
    for process in load:
        process.start()
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        for process in load:
            process.kill()
            process.join()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[1:]))
