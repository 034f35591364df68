# SPDX-License-Identifier: Apache-2.0
"""What deploy/ says about the project is true, and the chart renders. The latter needs helm (./dev controlplane build-delivery);
without it that part is left out, loudly."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import delivery  # noqa: E402

HELM = None if delivery.HELM.why_unavailable() else delivery.HELM.folder() / "helm"
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "kubesched"


def text(path):
    return path.read_text(encoding="utf-8")


class Facts(unittest.TestCase):
    def test_kustomization_names_all_files(self):
        folder = DEPLOY / "second-scheduler"
        listed = re.search(r"resources: \[(.*)\]", text(folder / "kustomization.yaml")).group(1).split(", ")
        self.assertEqual(sorted(listed), sorted(p.name for p in folder.glob("*.yaml") if p.name != "kustomization.yaml"))

    def test_every_value_has_a_schema(self):
        schema = json.loads(text(CHART / "values.schema.json"))
        values = re.findall(r"^([a-zA-Z]+):", text(CHART / "values.yaml"), re.MULTILINE)
        self.assertEqual(sorted(values + ["global"]), sorted(schema["properties"]))
        used = set(re.findall(r"\.Values\.([a-zA-Z]+)", "".join(text(p) for p in CHART.glob("templates/**/*.*"))))
        self.assertEqual(used, set(values))

    def expect_role(self, suffix, wanted):
        """A cluster role of that name grants exactly this, and is bound, in the manifests as in the chart."""
        for path in (DEPLOY / "second-scheduler" / "rbac.yaml", CHART / "templates" / "rbac.yaml"):
            with self.subTest(path=path):
                role = next(part for part in text(path).split("\n---\n")
                            if re.search(rf"kind: ClusterRole\n.*-{suffix}\n", part, re.DOTALL))
                granted = {}
                for group, resources, verbs in re.findall(r"apiGroups: \[(.*?)\],?\s+resources: \[(.*?)\],?\s+verbs: \[(.*?)\]", role):
                    for resource in resources.split(", "):
                        granted.setdefault(group.strip('"') + "/" + resource, set()).update(verbs.split(", "))
                self.assertEqual(granted, wanted)
                bound = re.findall(rf"kind: ClusterRole, name: [^\n]*-{suffix}\}}\n", text(path))
                self.assertEqual(len(bound), 1)

    def test_rights_about_groups_of_pods(self):
        """Those of docs/spec/pod-groups.md sections 4 and 7."""
        read = {"get", "list", "watch"}
        self.expect_role("pod-groups", {"scheduling.k8s.io/podgroups": read, "scheduling.k8s.io/compositepodgroups": read,
                                        "scheduling.k8s.io/podgroups/status": {"patch"}})

    def test_rights_about_devices(self):
        """Those of docs/spec/plugins-dra.md section 9."""
        read, patched = {"get", "list", "watch"}, {"update", "patch"}
        wanted = {"resource.k8s.io/deviceclasses": read, "resource.k8s.io/resourceslices": read,
                  "resource.k8s.io/devicetaintrules": read, "resource.k8s.io/resourceclaims": read | patched | {"create", "delete"},
                  "resource.k8s.io/resourceclaims/status": read | patched, "resource.k8s.io/resourceclaims/binding": patched,
                  "/pods/finalizers": {"update"}}
        self.expect_role("devices", wanted)


@unittest.skipUnless(HELM, "no helm: the chart is not rendered")
class Chart(unittest.TestCase):
    @staticmethod
    def helm(verb, *flags):
        command = [HELM, verb, *(["test"] if verb == "template" else []), str(CHART), "--namespace=kube-system", *flags]
        if verb == "template":
            command.append("--kube-version=1.37.0")
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def rendered(self, *flags):
        done = self.helm("template", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_lint(self):
        done = self.helm("lint", "--strict")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_values_arrive(self):
        out = self.rendered("--set=leaderElection.leaseDuration=30s,extraConfiguration.parallelism=4,serviceMonitor.enabled=true",
                            "--set=featureGates.OpportunisticBatching=false,schedulerName=mine,loggingFormat=json,port=1234")
        for wanted in ("leaseDuration: 30s", "parallelism: 4", "kind: ServiceMonitor", "- --feature-gates=OpportunisticBatching=false",
                       "- schedulerName: mine", "- --logging-format=json", "containerPort: 1234", 'resourceNames: ["test"]'):
            self.assertIn(wanted, out)

    def test_one_replica_without_lease(self):
        out = self.rendered("--set=replicaCount=1,leaderElection.enabled=false,podDisruptionBudget.enabled=false")
        self.assertIn("leaderElect: false", out)
        self.assertNotIn("PodDisruptionBudget", out)
        self.assertNotIn("kind: Role\n", out)

    def test_what_cannot_work_is_refused(self):
        for flags, why in (("leaderElection.enabled=false", "must be true with more than one replica"),
                           ("serviceAccount.create=false", "needed when serviceAccount.create is false"),
                           ("port=0", "port"), ("nosuch=1", "nosuch"), ("extraConfiguration.profiles=1", "profiles"),
                           ("leaderElection.retryPeriod=2 parsecs", "retryPeriod")):
            with self.subTest(flags=flags):
                done = self.helm("template", f"--set={flags}")
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    if not HELM:
        print(f"WITHOUT HELM: the chart is not rendered: {delivery.HELM.why_unavailable()}", file=sys.stderr)
    unittest.main()
