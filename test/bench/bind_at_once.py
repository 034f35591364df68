#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a pod waits for when nobody decides anything: in a scheduler's place, binds each pod to the next node as soon as it hears of it.

    ./dev bench arrive --rate 50 --kubesched test/bench/bind_at_once.py

measures it beside kube-scheduler: from creation to bound it shows what the API server and the two watches take, the floor below which no
scheduler comes (it takes some tenths of a millisecond itself, and sends no events). Takes a scheduler's flags, of which it needs
--kubeconfig (with certificates inline) and --secure-port. For rates at which a pod is bound before the next one comes: one after the other.
"""

import argparse
import http.server
import itertools
import pathlib
import signal
import ssl
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "controlplane")]

import certs  # noqa: E402  (after the path above)
import kube_client  # noqa: E402

SCHEDULER_NAME = "default-scheduler"


class Ready(http.server.BaseHTTPRequestHandler):
    """Says that it is ready, to whoever asks."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        """Nothing."""


def serve(port):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        certs.self_signed(folder, "ready")
        context.load_cert_chain(folder / "ready.crt", folder / "ready.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Ready)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=pathlib.Path, required=True)
    parser.add_argument("--secure-port", type=int, required=True)
    options, _ = parser.parse_known_args()
    writer, reader = (kube_client.Client.of_kubeconfig(options.kubeconfig, patience_s=3600) for _ in range(2))
    nodes = [node["metadata"]["name"] for node in writer.ask("GET", "/api/v1/nodes")["items"]]
    events = reader.watch("/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3D,status.phase%3DPending")
    serve(options.secure_port)
    next_node = itertools.cycle(nodes)
    for event in events:
        pod = event["object"]
        if event["type"] == "ADDED" and pod["spec"]["schedulerName"] == SCHEDULER_NAME:
            writer.bind(pod["metadata"]["namespace"], pod["metadata"]["name"], next(next_node))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
