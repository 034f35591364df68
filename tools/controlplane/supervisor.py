# SPDX-License-Identifier: Apache-2.0
"""A control plane that lives as long as the process that holds this one's standard input.

Used by test/testing/control_plane.cc. Requests are lines on standard input, words separated by tabs; each gets one line on
standard output, `ok` and values or `error` and a text, also tab-separated:

    spawn <log> <program> <argument>...    ok <pid>
    stop <pid> <signal> <timeout ms>       ok exited|signaled <number> <1 if SIGKILL was needed>
    poll <pid>                             ok running | ok exited|signaled <number>
    kill-apiserver                         ok
    start-apiserver                        ok <pid>

The first line answers the start: `ok <folder> <url> <etcd pid> <kube-apiserver pid>`. At the end of standard input, or on
SIGTERM, every process is killed and the folder is removed. A supervisor that is killed takes its children with it
(parent death signal; this process has one thread only, to which that signal is bound); its folder is removed by the next.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import cluster
import processes

_PREFIX = "kubesched-cp-"


def _remove_abandoned():
    for folder in pathlib.Path(tempfile.gettempdir()).glob(_PREFIX + "*"):
        try:
            pid, started = map(int, (folder / "owner").read_text().split())
        except (OSError, ValueError):
            continue
        if processes.start_time(pid) != started:
            shutil.rmtree(folder, ignore_errors=True)


class _Supervisor:
    def __init__(self, cluster_):
        self.cluster = cluster_
        self.spawned = {}  # pid: subprocess.Popen

    def answer(self, words):
        verb, arguments = words[0], words[1:]
        handlers = {"spawn": self._spawn, "stop": self._stop, "poll": self._poll,
                    "kill-apiserver": self._kill_apiserver, "start-apiserver": self._start_apiserver}
        if verb not in handlers:
            raise ValueError(f"unknown request {verb!r}")
        return handlers[verb](*arguments)

    def end(self):
        for child in self.spawned.values():
            if child.poll() is None:
                child.kill()
            child.wait()
        self.cluster.stop(grace_s=0)

    def _spawn(self, log, *argv):
        child = processes.launch(argv, log, bound=True)
        self.spawned[child.pid] = child
        return [child.pid]

    def _stop(self, pid, number, timeout_ms):
        child = self.spawned[int(pid)]
        forced = False
        if child.poll() is None:
            child.send_signal(int(number))
            try:
                child.wait(int(timeout_ms) / 1000)
            except subprocess.TimeoutExpired:
                forced = True
                child.kill()
                child.wait()
        return [*_ending(child.returncode), int(forced)]

    def _poll(self, pid):
        status = self.spawned[int(pid)].poll()
        return ["running"] if status is None else _ending(status)

    def _kill_apiserver(self):
        if "kube-apiserver" not in self.cluster.children:
            raise ValueError("kube-apiserver is not running")
        self.cluster.kill_apiserver()
        return []

    def _start_apiserver(self):
        if "kube-apiserver" in self.cluster.children:
            raise ValueError("kube-apiserver is running already")
        self.cluster.start_apiserver()
        return [self.cluster.children["kube-apiserver"].pid]


def _ending(status):
    return ["exited", status] if status >= 0 else ["signaled", -status]


def _reply(*words):
    print("\t".join(str(word).replace("\n", " | ").replace("\t", " ") for word in words), flush=True)


def _on_terminate(_number, _frame):
    raise SystemExit(0)


def serve(apiserver_args, with_controller_manager):
    """Runs until the end of standard input; returns the exit status."""
    os.setsid()  # an interrupt at the terminal ends the test, whose end then ends us
    signal.signal(signal.SIGTERM, _on_terminate)
    _remove_abandoned()
    folder = pathlib.Path(tempfile.mkdtemp(prefix=_PREFIX))
    (folder / "owner").write_text(f"{os.getpid()} {processes.start_time(os.getpid())}")
    supervisor = _Supervisor(cluster.Cluster(folder, True, apiserver_args, with_controller_manager))
    try:
        try:
            supervisor.cluster.up()
        except (cluster.StartError, OSError, RuntimeError) as error:
            _reply("error", error)
            return 1
        children = supervisor.cluster.children
        _reply("ok", folder, supervisor.cluster.url, children["etcd"].pid, children["kube-apiserver"].pid)
        for line in sys.stdin:
            try:
                _reply("ok", *supervisor.answer(line.rstrip("\n").split("\t")))
            except (cluster.StartError, OSError, KeyError, TypeError, ValueError) as error:
                _reply("error", f"{type(error).__name__}: {error}")
        return 0
    finally:
        supervisor.end()
        shutil.rmtree(folder, ignore_errors=True)
