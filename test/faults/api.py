# SPDX-License-Identifier: Apache-2.0
"""Requests to a control plane of tools/controlplane, for programs that go on while its API server is killed and started again."""

import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import kube_client  # noqa: E402  (after the path above)


class GaveUp(Exception):
    """A text for people: what was asked, and what the server said last."""


class Client(kube_client.Client):
    """The same, with patience. `stop`, where it is set: an event at which requests are given up."""

    stop = threading.Event()

    def ask(self, method, path, body=None, form=kube_client.JSON, patience_s=60):
        """Tried again while the server is away or busy. None instead of an object that is gone or there already: an earlier try may have
        been carried out without an answer. Raises kube_client.Refused, and GaveUp after patience_s or at the stop."""
        waits, problem = int(patience_s / 0.2), None
        for _ in range(waits):
            try:
                return super().ask(method, path, body, form)
            except kube_client.Refused as refused:
                missing = method in ("DELETE", "PATCH") and refused.status == 404
                if missing or (method == "POST" and refused.status == 409):
                    return None
                if refused.status not in (403, 404, 409, 429, 500, 503, 504):  # 403, 404: a server that starts and has not read its roles yet
                    raise
                problem = refused
            except OSError as error:
                problem = error
            if self.stop.wait(0.2):
                break
        raise GaveUp(f"{method} {path} had no good answer in {patience_s} s: {problem}")

    def items(self, path):
        """The objects of a list."""
        return self.ask("GET", path)["items"]
