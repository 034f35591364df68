# SPDX-License-Identifier: Apache-2.0
"""Starting and ending processes without ever touching one that is not ours: a process is known by its id and its start
time, as ids are reused."""

import ctypes
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def start_time(pid):
    """Clock ticks after boot at which the process started, or None if there is none (a zombie counts as none)."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2:].split()
    return None if fields[0] in "ZX" else int(fields[19])


def _die_with_parent(parent):
    def in_child():
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the prctl
            os._exit(127)
    return in_child


def launch(argv, log, bound, cwd=None):
    """Starts argv with its output appended to log. A bound process is killed when this process ends, however it ends."""
    with open(log, "ab") as output:
        return subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                cwd=cwd, start_new_session=not bound, preexec_fn=_die_with_parent(os.getpid()) if bound else None)


def end(pid, started, grace_s):
    """Ends the process that had this start time: SIGTERM, after grace_s SIGKILL. True if it had to be killed."""
    if _signal_and_wait(pid, started, signal.SIGTERM, grace_s):
        return False
    _signal_and_wait(pid, started, signal.SIGKILL, 10)
    return True


def _signal_and_wait(pid, started, number, patience_s):
    if start_time(pid) != started:
        return True
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return True
    deadline = time.monotonic() + patience_s
    while start_time(pid) == started:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def free_port():
    """A loopback port nobody listens on now.

    Taken outside the range the kernel gives to outgoing connections where there is room, so that none of those can take
    it while the server that had it is being restarted. A clash with another chooser is still possible: callers retry.
    """
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    chooser = random.SystemRandom()
    for _ in range(50):
        wanted = chooser.randrange(10000, first) if first > 12000 else 0
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise RuntimeError("found no free loopback port in 50 attempts")
