# SPDX-License-Identifier: Apache-2.0
"""An API server, asked as the user of a kubeconfig that has its certificates inline: what tools and tests need of a client."""

import base64
import http.client
import json
import re
import ssl
import tempfile
import urllib.parse

_PATIENCE_S = 10


class Refused(OSError):
    """An answer that is none of success; `status` is its number."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Client:
    """Keeps one connection. Threads: one at a time, so each has a client of its own."""

    def __init__(self, kubeconfig):
        text = kubeconfig.read_text(encoding="utf-8")
        self.server = re.search(r"server: (\S+)", text).group(1)
        self._ssl = ssl.create_default_context(cadata=self._decoded(text, "certificate-authority-data"))
        with tempfile.NamedTemporaryFile("w") as both:
            both.write(self._decoded(text, "client-certificate-data") + self._decoded(text, "client-key-data"))
            both.flush()
            self._ssl.load_cert_chain(both.name)
        self._connection = None

    @staticmethod
    def _decoded(text, field):
        return base64.b64decode(re.search(rf"{field}: (\S+)", text).group(1)).decode()

    def _answer(self, method, path, body=None, timeout=_PATIENCE_S):
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(urllib.parse.urlsplit(self.server).netloc, context=self._ssl, timeout=timeout)
        text = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, text, {"Content-Type": "application/json"})
            answer = self._connection.getresponse()
            if answer.status >= 300:
                raise Refused(answer.status, f"{method} {path}: {answer.status} {answer.read().decode(errors='replace')[:500]}")
            return answer
        except http.client.HTTPException as error:
            raise OSError(f"{method} {path}: {error!r}") from error
        finally:
            if self._connection.sock is None:  # closed by the server, or never opened
                self._connection = None

    def ask(self, path, body=None, method=None):
        """The answer's object. POST with a body, else GET. Raises OSError, and Refused, which is one."""
        try:
            return json.load(self._answer(method or ("GET" if body is None else "POST"), path, body))
        except OSError:
            self._connection = None
            raise

    def watch(self, path, seconds):
        """Yields the watch's events until the server ends it, or says nothing for so long (TimeoutError, an OSError)."""
        self._connection = None  # one with this patience
        for line in self._answer("GET", path, timeout=seconds):
            yield json.loads(line)
