# SPDX-License-Identifier: Apache-2.0
"""Writes answers.jsonl: what a real kube-apiserver sends of objects of all kinds that a scheduler reads, in both forms. A line has
{"is": "object", "list" or "event", "kind", "json", "hex"}, of the same object, list or event.

    capture.py [--out FILE]

Needs the control plane (./dev controlplane build)."""

import argparse
import http.client
import json
import pathlib
import re
import ssl
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path += [str(ROOT / "tools" / "controlplane"), str(HERE)]
import build  # noqa: E402  pylint: disable=wrong-import-position
import cluster  # noqa: E402  pylint: disable=wrong-import-position
import server_objects  # noqa: E402  pylint: disable=wrong-import-position

JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
STREAM = {JSON: JSON, PROTOBUF: PROTOBUF + ";stream=watch"}
FLAGS = ("--runtime-config=api/all=true", "--feature-gates=AllAlpha=true,AllBeta=true")
END = b"initial-events-end"


def kinds():
    """{kind: (apiVersion, path of the kind's objects)}, those in namespaces in "default"; and {kind: path of all its objects}."""
    rows = re.findall(r'X\(\w+, "(\w+)", "([\w.]*)", "(\w+)", "(\w+)",\s*\\?\s*k(\w+)\)', (ROOT / "src/api/kinds.h").read_text())
    made, everywhere = {}, {}
    for kind, group, version, plural, scope in rows:
        base = f"/apis/{group}/{version}" if group else f"/api/{version}"
        inside = "/namespaces/default" if scope == "Namespaced" else ""
        made[kind] = (f"{group}/{version}" if group else version, f"{base}{inside}/{plural}")
        everywhere[kind] = f"{base}/{plural}"
    return made, everywhere


class Server:
    """Requests to one control plane."""

    def __init__(self, plane):
        pki = plane.folder / "pki"
        self.context = ssl.create_default_context(cafile=pki / "ca.crt")
        self.context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self.port = plane.server_port

    def ask(self, method, path, accept=JSON, body=None, content_type=JSON, until=None):
        """The body of the answer, or what came of it when `until` is true of that. Raises RuntimeError if it is no success."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, {"Accept": accept, "Content-Type": content_type})
            answer = connection.getresponse()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status} {answer.read().decode()}")
            if until is None:
                return answer.read()
            got = b""
            while not until(got):
                got += answer.read1(65536)
            return got
        finally:
            connection.close()


def create(server, paths, kind, wanted):
    """Creates an object; its status is written on top."""
    api_version, path = paths[kind]
    status = wanted.pop("status", None)
    server.ask("POST", path, body={"apiVersion": api_version, "kind": kind, **wanted})
    if status:
        server.ask("PATCH", f"{path}/{wanted['metadata']['name']}/status", body={"status": status},
                   content_type="application/merge-patch+json")


def events(stream, form):
    """The whole events of a stream."""
    if form == JSON:
        return [line + b"\n" for line in stream.split(b"\n")[:-1]]
    found = []
    while len(stream) >= 4 and len(stream) >= 4 + int.from_bytes(stream[:4], "big"):
        end = 4 + int.from_bytes(stream[:4], "big")
        found.append(stream[4:end])
        stream = stream[end:]
    return found


def initial_events(server, path, form):
    """The events of the objects that are there, and the bookmark behind them."""
    def is_whole(stream):
        return any(END in event for event in events(stream, form))
    return events(server.ask("GET", path, STREAM[form], until=is_whole), form)


def row(form, kind, text, wire):
    return {"is": form, "kind": kind, "json": text.decode(), "hex": wire.hex()}


def answers(server, paths, everywhere, names):
    """All answers about what was created."""
    for kind, (_, path) in paths.items():
        for name in names[kind]:
            yield row("object", kind, *(server.ask("GET", f"{path}/{name}", form) for form in (JSON, PROTOBUF)))
        yield row("list", kind, *(server.ask("GET", everywhere[kind] + "?limit=2", form) for form in (JSON, PROTOBUF)))
        watch = path + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30"
        streams = [initial_events(server, watch, form) for form in (JSON, PROTOBUF)]
        if len(streams[0]) != len(streams[1]):
            raise RuntimeError(f"{kind}: {len(streams[0])} events in JSON, {len(streams[1])} in protobuf")
        yield from (row("event", kind, *pair) for pair in zip(*streams))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "answers.jsonl")
    options = parser.parse_args()
    why = build.why_unavailable()
    if why:
        sys.exit(why)
    paths, everywhere = kinds()
    names = {kind: [] for kind in paths}
    with tempfile.TemporaryDirectory() as folder:
        plane = cluster.Cluster(pathlib.Path(folder), True, FLAGS)
        plane.up()
        try:
            server = Server(plane)
            server.ask("POST", "/apis/node.k8s.io/v1/runtimeclasses", body={
                "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "heavy"}, "handler": "h",
                "overhead": {"podFixed": {"cpu": "10m", "memory": "1Mi"}}})
            for kind, wanted in server_objects.all_objects():
                create(server, paths, kind, dict(wanted))
                names[kind].append(wanted["metadata"]["name"])
            rows = list(answers(server, paths, everywhere, names))
        finally:
            plane.stop(grace_s=0)
    options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rows), encoding="utf-8")
    print(f"{options.out}: {len(rows)} answers")


if __name__ == "__main__":
    main()
