# SPDX-License-Identifier: Apache-2.0
"""What the real kube-apiserver and the real kubectl say: to the manifests and the rendered chart (a dry run on the server), and to
kubeschedctl as kubectl's plugin. cluster_test.py KUBESCHED KUBESCHEDCTL; ends with 77 where there is no control plane."""

import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import build  # noqa: E402
import cluster  # noqa: E402
import delivery  # noqa: E402
import processes  # noqa: E402

DEPLOY = ROOT / "deploy"
KUBESCHED, KUBESCHEDCTL = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
_SKIPPED = 77
_PATIENCE_S = 60


class WithCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="kubesched-deploy-")))
        bin_folder = cls.folder / "bin"
        bin_folder.mkdir()
        for name, target in (("kubectl", build.binary_dir() / "kubectl"), ("kubectl-sched", KUBESCHEDCTL),
                             ("kubectl_complete-sched", KUBESCHEDCTL)):
            (bin_folder / name).symlink_to(target)
        plane = cls.folder / "plane"
        plane.mkdir()
        cls.plane = cluster.Cluster(plane, True)
        cls.addClassCleanup(cls.plane.stop, 0)
        cls.plane.up()
        cls.environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "HOME": str(cls.folder),
                           "KUBECONFIG": str(plane / "admin.kubeconfig")}

    def kubectl(self, *words, text=None):
        return subprocess.run(["kubectl", *map(str, words)], env=self.environment, input=text, capture_output=True, text=True, check=False,
                              timeout=_PATIENCE_S)

    def good(self, *words, text=None):
        done = self.kubectl(*words, text=text)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Manifests(WithCluster):
    def test_second_scheduler(self):
        said = self.good("apply", "--dry-run=server", "--validate=strict", "-k", DEPLOY / "second-scheduler")
        kinds = re.findall(r"^(\S+)/\S+ created \(server dry run\)$", said, re.MULTILINE)
        self.assertEqual(len(kinds), len(said.splitlines()))
        for kind in ("deployment.apps", "configmap", "serviceaccount", "clusterrole.rbac.authorization.k8s.io"):
            self.assertIn(kind, kinds)

    def test_in_kube_schedulers_place(self):
        self.assertIn("pod/kube-scheduler created", self.good("apply", "--dry-run=server", "--validate=strict", "-f",
                                                             DEPLOY / "kubeadm" / "kube-scheduler.yaml"))

    def test_a_wrong_field_is_noticed(self):
        text = (DEPLOY / "kubeadm" / "kube-scheduler.yaml").read_text(encoding="utf-8").replace("hostNetwork:", "hostNetwrk:")
        done = self.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=text)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("hostNetwrk", done.stderr)

    @unittest.skipIf(delivery.HELM.why_unavailable(), "no helm: the chart is not rendered")
    def test_chart(self):
        for flags in ([], ["--set=replicaCount=1,podDisruptionBudget.enabled=false"],
                      ["--set=leaderElection.leaseDuration=30s,extraConfiguration.parallelism=4,schedulerName=mine,port=1234"]):
            with self.subTest(flags=flags):
                done = subprocess.run([delivery.HELM.folder() / "helm", "template", "test", DEPLOY / "helm" / "kubesched",
                                       "--namespace=kube-system", "--kube-version=1.37.0", *flags], capture_output=True, text=True, check=True)
                said = self.good("apply", "--dry-run=server", "--validate=strict", "--namespace=kube-system", "-f", "-", text=done.stdout)
                self.assertIn("deployment.apps/test created (server dry run)", said)


class Plugin(WithCluster):
    def refused(self, *words):
        done = self.kubectl("sched", *words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def test_kubectl_finds_it(self):
        self.assertIn("kubectl-sched", self.good("plugin", "list"))
        self.assertRegex(self.good("sched", "version"), r"^kubectl sched \d")

    def test_texts_are_of_the_plugin(self):
        for words in (["--help"], ["queue", "--help"]):
            said = self.good("sched", *words)
            self.assertIn("Usage: kubectl sched", said)
            self.assertNotIn("kubeschedctl", said)

    def test_kubectl_completes_it(self):
        self.assertEqual(self.good("__complete", "sched", "qu"),
                         "queue\tthe pending pods of a running kubesched: where each stands, and what holds it\n:4\n")
        self.assertEqual(self.good("__complete", "sched", "queue", "-o", ""), "table\njson\n:4\n")

    def test_flags_of_the_kubeconfig(self):
        """Each reaches the API server, or is refused with its name."""
        config = self.environment["KUBECONFIG"]
        for words, wanted in (
                ([], 'leases.coordination.k8s.io "kube-scheduler" not found'),
                (["--kubeconfig", config, "--context=test", "--cluster=test", "--user=admin"], '"kube-scheduler" not found'),
                (["--server", self.plane.url, "--certificate-authority", f"{self.plane.folder}/pki/ca.crt"], '"kube-scheduler" not found'),
                (["-s", self.plane.url, "--insecure-skip-tls-verify"], '"kube-scheduler" not found'),
                (["--tls-server-name=kubernetes.default"], '"kube-scheduler" not found'),
                (["--tls-server-name=elsewhere.invalid"], "certificate"),
                (["--as=nobody", "--as-group=none"], 'User "nobody" cannot get resource "leases"'),
                (["--client-certificate", f"{self.plane.folder}/pki/scheduler.crt", "--client-key", f"{self.plane.folder}/pki/scheduler.key",
                  "--scheduler-pod=some"], 'User "system:kube-scheduler" cannot get resource "pods/proxy"'),
                (["--context=nosuch"], "context was not found for specified context: nosuch"),
                (["--cluster=nosuch"], 'cluster "nosuch" does not exist'),
                (["--user=nosuch"], 'auth info "nosuch" does not exist'),
                (["--request-timeout=never"], "never"),
                (["--as-group=none"], "--as-group requires --as"),
                (["--cache-dir=x"], "--cache-dir=x"),
                (["--scheduler-namespace=default"], "lease default/kube-scheduler")):
            with self.subTest(words=words):
                self.assertIn(wanted, self.refused("queue", *words))

    def test_a_running_scheduler(self):
        port = processes.free_port()
        config = f"{self.plane.folder}/scheduler.kubeconfig"
        log = self.folder / "kubesched.log"
        child = processes.launch([KUBESCHED, f"--kubeconfig={config}", f"--authentication-kubeconfig={config}", "--leader-elect=false",
                                  f"--authorization-kubeconfig={config}", f"--secure-port={port}", "--bind-address=127.0.0.1"], log, True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.good("create", "-f", "-", text="apiVersion: v1\nkind: Pod\nmetadata: {name: waits}\n"
                                            "spec: {containers: [{name: c, image: none}]}\n")
        words = ["--scheduler-url", f"https://127.0.0.1:{port}", "--scheduler-insecure-skip-tls-verify"]
        deadline = time.monotonic() + _PATIENCE_S
        while "waits" not in (done := self.kubectl("sched", "queue", *words)).stdout:
            self.assertLess(time.monotonic(), deadline, done.stdout + done.stderr + log.read_text(encoding="utf-8"))
            time.sleep(0.1)
        self.assertIn("default/waits", self.good("sched", "queue", "-A", *words))
        self.assertNotIn("waits", self.good("sched", "queue", "-n", "kube-system", *words))
        self.assertIn("waits", self.good("sched", "queue", "-n", "default", "waits", *words))
        self.assertIn("waits", self.good("sched", "explain", "waits", *words))
        self.assertIn("kube-system/waits", self.refused("explain", "waits", "-n", "kube-system", *words))

        self.expect_good_metrics(port)

    def expect_good_metrics(self, port):
        """promtool has nothing to say about what a scrape brings."""
        pki = self.plane.folder / "pki"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", context=context, timeout=_PATIENCE_S) as reply:
            scrape = self.folder / "metrics.txt"
            scrape.write_bytes(reply.read())
        self.assertGreater(scrape.stat().st_size, 10000)
        done = subprocess.run([sys.executable, ROOT / "test" / "monitoring" / "check.py", "--scrape", scrape], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    if why := build.why_unavailable():
        print(f"SKIPPED: {why}")
        sys.exit(_SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
