# SPDX-License-Identifier: Apache-2.0
"""What the first list of all pods costs a real kube-apiserver, and a scheduler: by one list, by pages, by a streaming list.

    first_list.py [--pods 150000] [--scheduler FILE] [--only REGEX] [--runs 1]

One pod is created as usual; the others are copies of what is then in etcd, so that many are there in a minute. Before each way
kube-apiserver is started anew, so that its memory begins alike. Needs the control plane (./dev controlplane build). Prints a table:
seconds, megabytes on the wire, CPU seconds of kube-apiserver and etcd, resident megabytes of kube-apiserver before and at most; with
--scheduler (another process with --kubeconfig as kubesched has it) the seconds until its log says that it has the pods, its CPU and its
resident memory at most."""

import argparse
import base64
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "controlplane"), str(ROOT / "tools")]
import build  # noqa: E402  pylint: disable=wrong-import-position
import cluster  # noqa: E402  pylint: disable=wrong-import-position
import kube_client  # noqa: E402  pylint: disable=wrong-import-position

PROTOBUF = "application/vnd.kubernetes.protobuf"
PODS = "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
STREAM = "&watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=300"
END = b"initial-events-end"
COPIES_IN_ONE = 100
NODES = 1000
TICKS = os.sysconf("SC_CLK_TCK")


def template():
    """A pod as a Deployment's, running."""
    container = {"name": "main", "image": "registry.example.com/team/service:v1.2.3", "ports": [{"containerPort": 8080}],
                 "env": [{"name": f"VARIABLE_{i}", "value": f"value of variable {i}"} for i in range(8)],
                 "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
                 "volumeMounts": [{"name": "config", "mountPath": "/etc/service"}]}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "service-000000", "labels": {"app": "service", "pod-template-hash": "abcdef"},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "service-abcdef", "controller": True,
                                              "uid": "00000000-0000-0000-0000-000000000000"}]},
            "spec": {"nodeName": "node-0000", "containers": [container], "volumes": [{"name": "config", "configMap": {"name": "service"}}]}}


class Plane:
    """A control plane with pods."""

    def __init__(self, folder):
        self.plane = cluster.Cluster(folder, True)
        self.plane.up()

    def client(self):
        return kube_client.Client.of_plane(self.plane, patience_s=300)

    def fill(self, count):
        """Copies of one pod, directly into etcd."""
        made = self.client().ask("POST", "/api/v1/namespaces/default/pods", template())
        uid = made["metadata"]["uid"].encode()
        etcd = http.client.HTTPConnection("127.0.0.1", self.plane.etcd_port, timeout=60)

        def call(what, body):
            etcd.request("POST", f"/v3/kv/{what}", json.dumps(body))
            answer = etcd.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"etcd {what}: {text.decode()}")
            return json.loads(text)

        def copy(number):
            value = stored.replace(b"service-000000", b"service-%06d" % number).replace(uid, uid[:-8] + b"%08d" % number)
            value = value.replace(b"node-0000", b"node-%04d" % (number % NODES))
            return {"requestPut": {"key": encoded(b"/registry/pods/default/service-%06d" % number), "value": encoded(value)}}

        def encoded(data):
            return base64.b64encode(data).decode()

        stored = base64.b64decode(call("range", {"key": encoded(b"/registry/pods/default/service-000000")})["kvs"][0]["value"])
        for first in range(1, count, COPIES_IN_ONE):
            call("txn", {"success": [copy(number) for number in range(first, min(count, first + COPIES_IN_ONE))]})
        return len(stored)

    def restart(self):
        """kube-apiserver anew, with all pods in its cache."""
        self.plane.kill_apiserver()
        self.plane.start_apiserver()
        self.client().ask("GET", PODS + "&limit=1")
        self.client().ask("GET", "/api/v1/namespaces/default/pods?resourceVersion=0&labelSelector=app%3Dnone")
        time.sleep(5)  # what it does after a start, collecting garbage among it

    def pid(self, name):
        return self.plane.children[name].pid


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(pid, field):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text).group(1)) / 1024


def forget_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def one_list(plane, headers):
    body = plane.client().answer("GET", PODS + "&limit=500&resourceVersion=0", headers=headers).read()
    return len(body)


def continue_token(body):
    """Of a page in JSON or protobuf: the token is base64 of JSON that begins with {"v":"meta.k8s.io/v1"."""
    found = re.search(rb"eyJ2IjoibWV0YS5rOHMuaW8vdjEi[A-Za-z0-9_=-]*", body[:4000])
    return found.group().decode() if found else ""


def pages(limit):
    def get(plane, headers):
        client, total, token = plane.client(), 0, ""
        while True:
            more = f"&continue={token}" if token else ""
            answer = client.answer("GET", f"{PODS}&limit={limit}{more}", headers=headers)
            body = answer.read()
            total += len(body)
            if answer.getheader("Content-Encoding") == "gzip":
                import gzip  # pylint: disable=import-outside-toplevel
                body = gzip.decompress(body)
            token = continue_token(body)
            if not token:
                return total
    return get


def stream(plane, headers):
    answer = plane.client().answer("GET", PODS + STREAM, headers={**headers, "Accept": PROTOBUF + ";stream=watch"})
    total, tail = 0, b""
    while END not in tail:
        got = answer.read1(1 << 20)
        if not got:  # as it does with one that is slower than the changes that come
            raise RuntimeError(f"the server ended the stream after {total} bytes")
        total += len(got)
        tail = tail[-100:] + got
    return total


WAYS = (("one list", one_list), ("pages of 500", pages(500)), ("pages of 10000", pages(10000)), ("streaming list", stream))


def measure(plane, get, headers):
    """A row of the table."""
    plane.restart()
    server, etcd = plane.pid("kube-apiserver"), plane.pid("etcd")
    forget_peak(server)
    before, used, used_etcd, begin = megabytes(server, "VmRSS"), cpu(server), cpu(etcd), time.monotonic()
    size = get(plane, headers)
    seconds = time.monotonic() - begin
    return [f"{seconds:.2f}", f"{size / 1e6:.1f}", f"{cpu(server) - used:.2f}", f"{cpu(etcd) - used_etcd:.2f}", f"{before:.0f}",
            f"{megabytes(server, 'VmHWM'):.0f}"]


def measure_scheduler(plane, program, folder):
    """The same of a scheduler's start."""
    plane.restart()
    server, etcd = plane.pid("kube-apiserver"), plane.pid("etcd")
    forget_peak(server)
    log = folder / "scheduler.log"
    before, used, used_etcd, begin = megabytes(server, "VmRSS"), cpu(server), cpu(etcd), time.monotonic()
    with open(log, "w", encoding="utf-8") as out:
        child = subprocess.Popen([program, f"--kubeconfig={folder}/admin.kubeconfig", "--leader-elect=false", "--secure-port=0", "-v=2"],
                                 stdout=out, stderr=out)
    try:
        while not re.search(r'Caches populated.*\*v1\.Pod"', log.read_text(encoding="utf-8", errors="replace")):
            if child.poll() is not None or time.monotonic() - begin > 300:
                raise RuntimeError(log.read_text(encoding="utf-8", errors="replace")[-2000:])
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        return [f"{seconds:.2f}", "", f"{cpu(server) - used:.2f}", f"{cpu(etcd) - used_etcd:.2f}", f"{before:.0f}",
                f"{megabytes(server, 'VmHWM'):.0f}", f"{cpu(child.pid):.2f}", f"{megabytes(child.pid, 'VmHWM'):.0f}"]
    finally:
        child.kill()
        child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=150000)
    parser.add_argument("--scheduler", action="append", default=[], help="a program; may be repeated")
    parser.add_argument("--only", default="", help="regular expression of ways")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    why = build.why_unavailable()
    if why:
        sys.exit(why)
    with tempfile.TemporaryDirectory() as name:
        plane = Plane(pathlib.Path(name))
        try:
            size = plane.fill(options.pods)
            print(f"{options.pods} pods of {size} bytes in etcd, {build.pinned_release()}", flush=True)
            print("| way | s | MB | server CPU s | etcd CPU s | server MB before | at most | scheduler CPU s | scheduler MB |\n" + "|---" * 9 + "|")
            for _ in range(options.runs):
                for way, get in WAYS:
                    for coding in ("gzip", "identity")[get is stream:]:  # a watch is never compressed
                        title = f"{way}, {coding}"
                        if re.search(options.only, title):
                            row = measure(plane, get, {"Accept": PROTOBUF, "Accept-Encoding": coding})
                            print("| " + " | ".join([title, *row, "", ""]) + " |", flush=True)
                for program in options.scheduler:
                    row = measure_scheduler(plane, program, pathlib.Path(name))
                    print("| " + " | ".join([pathlib.Path(program).name, *row]) + " |", flush=True)
        finally:
            plane.plane.stop(grace_s=0)


if __name__ == "__main__":
    main()
