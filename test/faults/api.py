# SPDX-License-Identifier: Apache-2.0
"""Requests to a control plane of tools/controlplane, for programs that go on while its API server is killed and started again."""

import http.client
import json
import ssl
import threading


class GaveUp(Exception):
    """A text for people: what was asked, and what the server said last."""


class Refused(Exception):
    """The server's answer was an error; `code` is its status."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Client:
    """One client certificate, one connection that is made anew when it breaks. Not for several threads."""

    def __init__(self, plane, name, stop=None):
        """`name`: of certs.CLIENTS. `stop`: an event at which requests are given up."""
        pki = plane.folder / "pki"
        self._context = ssl.create_default_context(cafile=pki / "ca.crt")
        self._context.load_cert_chain(pki / f"{name}.crt", pki / f"{name}.key")
        self._port = plane.server_port
        self._stop = stop or threading.Event()
        self._connection = None

    def once(self, method, path, body=None, form="application/json"):
        """The server's object. Raises Refused, or OSError or HTTPException when there is no answer."""
        if self._connection is None:
            self._connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=10, context=self._context)
        text = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, text, {"Content-Type": form, "Accept": "application/json"})
            reply = self._connection.getresponse()
            raw = reply.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if reply.status >= 300:
            raise Refused(reply.status, f"{method} {path}: {reply.status} {raw[:300].decode(errors='replace')}")
        return json.loads(raw)

    def ask(self, method, path, body=None, form="application/json", patience_s=60):
        """The same, tried again while the server is away or busy. None instead of an object that is gone or there already: an earlier
        try may have been carried out without an answer. Raises Refused, and GaveUp after patience_s or at the stop."""
        waits, problem = int(patience_s / 0.2), None
        for _ in range(waits):
            try:
                return self.once(method, path, body, form)
            except Refused as refused:
                missing = method in ("DELETE", "PATCH") and refused.code == 404
                if missing or (method == "POST" and refused.code == 409):
                    return None
                if refused.code not in (403, 404, 409, 429, 500, 503, 504):  # 403, 404: a server that starts and has not read its roles yet
                    raise
                problem = refused
            except (OSError, http.client.HTTPException) as error:
                problem = error
            if self._stop.wait(0.2):
                break
        raise GaveUp(f"{method} {path} had no good answer in {patience_s} s: {problem}")

    def items(self, path):
        """The objects of a list."""
        return self.ask("GET", path)["items"]

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None
