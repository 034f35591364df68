# SPDX-License-Identifier: Apache-2.0
"""Helm, Krew's check of plugin manifests, and toxiproxy: built as the control plane is, from the modules test/helm, test/krew and
test/toxiproxy, which pin them and are nothing but their go.mod and go.sum. Needed by test/deploy, which leaves out what is not there,
and by test/faults."""

import re

import build


class _Tool(build.Module):
    """A program that go.mod names in its tool directive."""

    def package(self):
        return re.search(r"^tool (\S+)$", (self.source / "go.mod").read_text(encoding="utf-8"), re.MULTILINE).group(1)

    def release(self):
        text = (self.source / "go.mod").read_text(encoding="utf-8")
        return max((match for match in re.findall(r"^\s*(\S+) (v\S+)", text, re.MULTILINE)
                    if self.package().startswith(match[0])), key=lambda match: len(match[0]))[1]

    def _fill(self, go, scratch):
        self._go(go, "build", f"{scratch}/{self.files[0]}", self.package())


HELM = _Tool("helm", "helm", ("helm",), "KS_HELM_BIN", "./dev controlplane build-delivery", 4)
KREW = _Tool("krew", "Krew's check of manifests", ("validate-krew-manifest",), "KS_KREW_BIN", "./dev controlplane build-delivery", 1)
TOXIPROXY = _Tool("toxiproxy", "the fault proxy", ("toxiproxy-server",), "KS_TOXIPROXY_BIN", "./dev controlplane build-delivery", 1)
MODULES = (HELM, KREW, TOXIPROXY)
