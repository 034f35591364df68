# SPDX-License-Identifier: Apache-2.0
"""What kubesched lets out: secrets in logs and command lines, rights of files, names in metrics, and what a false API server is told.
leaks_test.py KUBESCHED KUBESCHEDCTL."""

import http.server
import json
import os
import pathlib
import re
import ssl
import stat
import sys
import threading
import unittest

import programs
import certs  # where programs finds its own

KUBESCHED, KUBESCHEDCTL = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
# Bytes that have no business in a log: the insides of keys and certificates.
PEM = re.compile(r"-----BEGIN|PRIVATE KEY|[A-Za-z0-9+/]{120,}")


def kubeconfig(file, server, token, authority):
    """One that logs in with a token."""
    file.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, "certificate-authority": str(authority)}}],
        "users": [{"name": "u", "user": {"token": token}}]}), encoding="utf-8")
    return file


class WithServer(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(programs.folder())
        self.server = programs.ApiServer(self.folder / "server", "--nodes=2", program=KUBESCHEDCTL)
        self.addCleanup(self.server.end)

    def daemon(self, *flags):
        config = kubeconfig(self.folder / "token.kubeconfig", f"https://127.0.0.1:{self.server.port}",
                            self.server.tokens["system:kube-scheduler"], self.folder / "server" / "ca.crt")
        daemon = programs.Daemon(self.folder, config, *flags, program=KUBESCHED)
        self.addCleanup(daemon.end)
        return daemon

    def create_pod(self, name):
        status, _, said = self.server.ask(
            "POST", "/api/v1/namespaces/default/pods",
            json.dumps({"metadata": {"name": name}, "spec": {"containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1m"}}}]}}),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.server.tokens['kubernetes-admin']}"})
        self.assertEqual(status, 201, said)

    def await_bound(self, name):
        path, token = f"/api/v1/namespaces/default/pods/{name}", self.server.tokens["kubernetes-admin"]
        programs.await_true(lambda: b'"nodeName"' in self.server.get(path, token)[2], f"{name} has a node")


class Secrets(WithServer):
    def test_no_token_or_key_is_logged(self):
        """At the highest verbosity, after callers of each kind, a pod, a change of verbosity and the end."""
        daemon = self.daemon("-v=10")
        wrong = "a-token-that-nobody-has-given"
        for token in (None, wrong, *self.server.tokens.values()):
            for path in ("/metrics", "/configz", "/flagz", "/debug/kubesched/queue", f"/nosuch?access_token={'0' * 8}"):
                daemon.get(path, token)
        self.create_pod("one")
        self.await_bound("one")
        daemon.ask("PUT", "/debug/flags/v", "9", {"Authorization": f"Bearer {self.server.tokens['kubernetes-admin']}"})
        daemon.end()
        log = daemon.said()
        self.assertGreater(log.count("\n"), 50, "the log has hardly anything at all")
        self.assertIn("Unable to authenticate the request", log)
        for token in (wrong, *self.server.tokens.values()):
            self.assertNotIn(token, log)
        self.assertIsNone(PEM.search(log))

    def test_pages_show_no_secrets(self):
        """Of the configuration, the flags and the metrics, to those who may see all."""
        daemon, admin = self.daemon(), self.server.tokens["kubernetes-admin"]
        for path in ("/configz", "/flagz", "/statusz", "/metrics", "/debug/kubesched/cache", "/debug/kubesched/decisions"):
            status, _, body = daemon.get(path, admin)
            self.assertEqual(status, 200, path)
            for token in self.server.tokens.values():
                self.assertNotIn(token, body.decode(), path)
            self.assertNotIn("PRIVATE KEY", body.decode(), path)

    def test_the_command_line_names_files_only(self):
        daemon = self.daemon()
        shown = pathlib.Path(f"/proc/{daemon.process.pid}/cmdline").read_bytes().decode()
        self.assertIn("--kubeconfig=", shown)
        self.assertNotIn(self.server.tokens["system:kube-scheduler"], shown)

    def test_metrics_name_no_pods(self):
        """But /metrics/resources does, which is a right of its own."""
        daemon = self.daemon()
        self.create_pod("very-secret-project")
        admin = self.server.tokens["kubernetes-admin"]
        programs.await_true(lambda: b"very-secret-project" in daemon.get("/metrics/resources", admin)[2], "/metrics/resources has the pod")
        self.await_bound("very-secret-project")
        for path in ("/metrics", "/metrics/slis"):
            status, _, body = daemon.get(path, self.server.tokens["monitor"] if path == "/metrics" else admin)
            self.assertEqual(status, 200, path)
            self.assertNotIn(b"very-secret-project", body)
        self.assertEqual(daemon.get("/metrics/resources", self.server.tokens["monitor"])[0], 403)


class Files(WithServer):
    def test_rights_of_what_is_written(self):
        """Where the process's mask takes nothing away, keys and whole objects are still their owner's alone."""
        made = {name: self.folder / name for name in ("pair", "recordings", "decisions")}
        made["recordings"].mkdir()
        former = os.umask(0)
        try:
            daemon = self.daemon(f"--cert-dir={made['pair']}", f"--record={made['recordings']}", f"--decision-log={made['decisions']}")
        finally:
            os.umask(former)
        daemon.end()
        recordings = list(made["recordings"].iterdir())
        self.assertEqual(len(recordings), 1)
        for file in (made["pair"] / "kube-scheduler.key", *recordings, made["decisions"]):
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file.name)
        for file in ("admin.kubeconfig", "scheduler.kubeconfig", "ca.key"):
            self.assertEqual(stat.S_IMODE((self.folder / "server" / file).stat().st_mode), 0o600, file)

    def test_nothing_is_left_in_the_temporary_folder(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        former = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = str(temporary)
        self.addCleanup(lambda: os.environ.pop("TMPDIR") if former is None else os.environ.__setitem__("TMPDIR", former))
        daemon = self.daemon()
        self.create_pod("one")
        self.await_bound("one")
        daemon.end()
        self.assertEqual(list(temporary.iterdir()), [])


class FalseApiServer(unittest.TestCase):
    """Somebody on the way to the API server, with a certificate of his own."""

    def setUp(self):
        self.folder = self.enterContext(programs.folder())
        for name in ("mine", "theirs"):
            certs.self_signed(self.folder, name)

    def told(self, trusted):
        """What the false server was told by a kubesched that trusts `trusted`.crt, once it has been tried thrice."""
        heard, tries, thrice = [], [0], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802  (the name is http.server's)
                heard.append(self.headers.get("Authorization", ""))
                self.send_error(503)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def finish_request(self, request, client_address):
                tries[0] += 1
                if tries[0] == 3:
                    thrice.set()
                try:
                    request.settimeout(programs.PATIENCE_S)
                    with context.wrap_socket(request, server_side=True) as inside:
                        super().finish_request(inside, client_address)
                except OSError:
                    pass  # the handshake was refused

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "theirs.crt", self.folder / "theirs.key")
        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        config = kubeconfig(self.folder / "kubeconfig", f"https://127.0.0.1:{server.server_port}", "a-secret-token",
                            self.folder / f"{trusted}.crt")
        log = self.folder / "log"
        child = programs.processes.launch([KUBESCHED, f"--kubeconfig={config}", "--leader-elect=false", "--secure-port=0"], log, True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertTrue(thrice.wait(programs.PATIENCE_S), log.read_text(encoding="utf-8"))
        if trusted == "theirs":
            programs.await_true(lambda: heard, "a server that is trusted is asked")
        return heard

    def test_is_told_nothing(self):
        self.assertEqual(self.told("mine"), [])

    def test_the_one_that_is_trusted_is_told_the_token(self):
        """Else the test above would show nothing."""
        self.assertIn("Bearer a-secret-token", self.told("theirs"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
