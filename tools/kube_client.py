# SPDX-License-Identifier: Apache-2.0
"""An API server, asked with a client's certificate or a token: what tools and tests need of a client."""

import base64
import http.client
import json
import re
import ssl
import tempfile
import urllib.parse

_PATIENCE_S = 10
JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"


class Refused(OSError):
    """An answer that is none of success; `status` is its number."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Client:
    """Keeps one connection, which is made anew when it breaks. Threads: one at a time, so each has a client of its own."""

    def __init__(self, server, context, token=None, patience_s=_PATIENCE_S):
        """`server`: its URL or host:port. `context`: of TLS. `patience_s`: the most that it may be silent."""
        self.server = server
        self._netloc = urllib.parse.urlsplit(server).netloc or server
        self._context, self._patience_s = context, patience_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection = None

    @classmethod
    def of_kubeconfig(cls, file, **more):
        """As the user of a kubeconfig that has its certificates inline."""
        text = file.read_text(encoding="utf-8")

        def decoded(field):
            return base64.b64decode(re.search(rf"{field}: (\S+)", text).group(1)).decode()

        context = ssl.create_default_context(cadata=decoded("certificate-authority-data"))
        with tempfile.NamedTemporaryFile("w") as both:
            both.write(decoded("client-certificate-data") + decoded("client-key-data"))
            both.flush()
            context.load_cert_chain(both.name)
        return cls(re.search(r"server: (\S+)", text).group(1), context, **more)

    @classmethod
    def of_plane(cls, plane, name="admin", **more):
        """As a client of a cluster.Cluster; `name`: of certs.CLIENTS."""
        pki = plane.folder / "pki"
        context = ssl.create_default_context(cafile=pki / "ca.crt")
        context.load_cert_chain(pki / f"{name}.crt", pki / f"{name}.key")
        return cls(f"127.0.0.1:{plane.server_port}", context, **more)

    def answer(self, method, path, body=None, headers=None):
        """The answer, not yet read, which must be done before the next one. `body`: an object. Raises OSError, and Refused, which is one."""
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(self._netloc, context=self._context, timeout=self._patience_s)
        text = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, text, {"Content-Type": JSON, **self._headers, **(headers or {})})
            answer = self._connection.getresponse()
            if answer.status >= 300:
                raise Refused(answer.status, f"{method} {path}: {answer.status} {answer.read().decode(errors='replace')[:500]}")
            return answer
        except http.client.HTTPException as error:
            self.close()
            raise OSError(f"{method} {path}: {error!r}") from error
        except Refused:
            raise
        except OSError:
            self.close()
            raise

    def ask(self, method, path, body=None, form=JSON):
        """The answer's object. Raises as answer()."""
        answer = self.answer(method, path, body, {"Content-Type": form, "Accept": JSON})
        try:
            return json.loads(answer.read())
        except http.client.HTTPException as error:
            self.close()
            raise OSError(f"{method} {path}: {error!r}") from error
        except OSError:
            self.close()
            raise

    def bind(self, namespace, pod, node):
        """Raises as answer()."""
        self.ask("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod, "namespace": namespace},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}})

    def watch(self, path):
        """A watch's events, from now until the server ends it or says nothing for `patience_s` (TimeoutError, an OSError)."""
        self.close()
        answer = self.answer("GET", path)
        return (json.loads(line) for line in answer)

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def unverified():
    """A client's context that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
