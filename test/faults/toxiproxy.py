# SPDX-License-Identifier: Apache-2.0
"""A running toxiproxy (https://github.com/Shopify/toxiproxy, pinned in test/toxiproxy) and what these tests ask of it over HTTP."""

import http.client
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "controlplane"))

import delivery  # noqa: E402  (after the path above)
import processes  # noqa: E402

_READY_S = 20


class ProxyError(Exception):
    """A text for people."""


class Toxiproxy:
    """The server and its proxies, which live as long as this process. Threads: one."""

    def __init__(self, log):
        why = delivery.TOXIPROXY.why_unavailable()
        if why:
            raise ProxyError(why)
        self._port = processes.free_port()
        program = delivery.TOXIPROXY.folder() / "toxiproxy-server"
        self._child = processes.launch([program, "-host", "127.0.0.1", "-port", self._port], log, True)
        deadline = time.monotonic() + _READY_S
        while not self._answers():
            if self._child.poll() is not None or time.monotonic() > deadline:
                raise ProxyError(f"toxiproxy does not answer: see {log}")
            time.sleep(0.05)

    def add(self, name, server_port):
        """A proxy in front of that port; returns its own."""
        port = processes.free_port()
        self._ask("POST", "/proxies", {
            "name": name, "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.1:{server_port}", "enabled": True})
        return port

    def enable(self, name, on):
        """Off: it accepts nothing, and what was open is closed."""
        self._ask("POST", f"/proxies/{name}", {"enabled": on})

    def poison(self, name, toxic):
        """Adds a toxic: {"name", "type", "stream", "toxicity", "attributes"}, as toxiproxy's README has them."""
        self._ask("POST", f"/proxies/{name}/toxics", toxic)

    def cure(self, name, toxic_name):
        """Takes the toxic away; connections that it held back are closed."""
        self._ask("DELETE", f"/proxies/{name}/toxics/{toxic_name}")

    def reset(self):
        """No toxics, all proxies enabled."""
        self._ask("POST", "/reset", {})

    def stop(self):
        self._child.kill()
        self._child.wait()

    def _answers(self):
        try:
            self._ask("GET", "/version")
            return True
        except OSError:
            return False

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            text = reply.read().decode(errors="replace")
        finally:
            connection.close()
        if reply.status >= 300:
            raise ProxyError(f"toxiproxy: {method} {path}: {reply.status} {text}")
