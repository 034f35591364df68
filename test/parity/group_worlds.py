# SPDX-License-Identifier: Apache-2.0
"""Random worlds of groups of pods for groups.py: a small cluster with running pods and groups, then step by step groups that
arrive, grow, change and go. What upstream leaves to chance is not in them (docs/testing.md)."""

import random

import objects

# name: (gates, how many of ten worlds)
GATES = {
    "gangs": ("GenericWorkload=true", 2),
    "policies": ("GenericWorkload=true,PodGroupPreemptionPolicy=true", 1),
    "topology": ("GenericWorkload=true,TopologyAwareWorkloadScheduling=true", 3),
    "trees": ("GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,PodGroupPreemptionPolicy=true", 4),
}
PRIORITIES = (0, 0, 0, 5, 10, 50, 100)
NAMESPACE = "play"
LONG = 400  # seconds: every backoff is over, and what nothing woke is flushed


def meta(name, at, **more):
    return {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", "creationTimestamp": clock(at), **more}


def clock(seconds):
    return f"1970-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


class World:
    """Makes one. `kind`: of GATES."""

    def __init__(self, seed, number, kind):
        self.dice = objects.Dice(random.Random(f"groups {seed} {kind} {number}"), 0.0)
        self.topology, self.trees = kind in ("topology", "trees"), kind == "trees"
        self.policies = kind in ("policies", "trees")
        self.tight = self.dice.chance(0.7)
        self.steps, self.at, self.starts, self.live, self.groups = [], 0, [], [], 0
        self.starts = self.dice.rng.sample(range(80000), 1000)

    def make(self, groups):
        self.steps.append({"put": self.nodes() + self.running() + self.budgets()})
        while self.groups < groups:
            self.arrive()
            if self.dice.chance(0.5):
                self.between()
        self.steps.append({"wait": LONG})
        return {"steps": self.steps}

    # ---- the cluster -----------------------------------------------------------------------------------------------------

    def nodes(self):
        out = []
        zones = self.dice.number(1, 2)
        self.racks = self.dice.number(zones, 2 * zones)
        for i in range(self.dice.number(2, 9)):
            rack = self.dice.number(0, self.racks - 1)
            labels = {"kubernetes.io/hostname": f"node-{i}", "disk": self.dice.pick(("ssd", "hdd"))}
            if self.dice.chance(0.93):
                labels |= {"rack": f"rack-{rack}", "zone": f"zone-{rack % zones}"}
            spec = {}
            if self.dice.chance(0.1):
                spec["taints"] = [{"key": "kept", "value": "yes", "effect": self.dice.pick(("NoSchedule", "PreferNoSchedule"))}]
            if self.dice.chance(0.03):
                spec["unschedulable"] = True
            have = {"cpu": f"{self.dice.number(1500, 6000)}m", "memory": f"{self.dice.number(2000, 9000)}Mi",
                    "pods": str(self.dice.weighted(((110, 8), (3, 1), (5, 1))))}
            out.append({"apiVersion": "v1", "kind": "Node",
                        "metadata": {"name": f"node-{i}", "uid": f"node-{i}", "labels": labels}, "spec": spec,
                        "status": {"capacity": have, "allocatable": have}})
        self.node_names = [node["metadata"]["name"] for node in out]
        return out

    def running(self):
        out = []
        for i in range(self.dice.number(0, 8)):
            pod = self.pod(f"old-{i}", None, self.dice.pick(PRIORITIES), self.dice.number(200, 1500))
            out.append(self.on_node(pod))
        for i in range(self.dice.number(0, 3)):
            priority = self.dice.pick(PRIORITIES)
            out.append(self.group(f"run-{i}", {"basic": {}}, priority, self.parent_of_running(out, i, priority)))
            for j in range(self.dice.number(1, 4)):
                out.append(self.on_node(self.pod(f"run-{i}-{j}", f"run-{i}", priority, self.dice.number(200, 1500))))
        return out

    def parent_of_running(self, out, number, priority):
        if not self.trees or self.dice.chance(0.5):
            return None
        out.append(self.composite(f"tree-{number}", {"basic": {}}, priority, None))
        return f"tree-{number}"

    def on_node(self, pod):
        pod["spec"]["nodeName"] = self.dice.pick(self.node_names)
        pod["status"] = {"phase": "Running", "startTime": clock(int(pod["metadata"]["annotations"]["start"]))}
        return pod

    def budgets(self):
        return [{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                 "metadata": meta(f"budget-{i}", 0),
                 "spec": {"selector": {"matchLabels": {"app": f"app-{i}"}}},
                 "status": {"disruptionsAllowed": self.dice.number(0, 2), "currentHealthy": 3, "desiredHealthy": 2,
                            "expectedPods": 3}}
                for i in range(self.dice.weighted(((0, 5), (1, 3), (2, 2))))]

    # ---- groups and pods -------------------------------------------------------------------------------------------------

    def pod(self, name, group, priority, milli):
        requests = {"cpu": f"{milli}m", "memory": f"{self.dice.number(50, 900)}Mi"}
        spec = {"schedulerName": "default-scheduler", "priority": priority,
                "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
        if group is not None:
            spec["schedulingGroup"] = {"podGroupName": group}
        if self.dice.chance(0.1):
            spec["terminationGracePeriodSeconds"] = 30
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": meta(name, self.at, labels={"app": f"app-{self.dice.number(0, 4)}", "group": group or "none"},
                                 annotations={"start": str(self.starts.pop())}),
                "spec": spec, "status": {"phase": "Pending"}}

    def particular(self, pod, style):
        """What a member asks for beside room."""
        spec = pod["spec"]
        if style == "disk":
            spec["nodeSelector"] = {"disk": self.dice.pick(("ssd", "hdd", "ssd", "tape"))}
        elif style == "tolerates":
            spec["tolerations"] = [{"key": "kept", "operator": "Exists"}]
        elif style == "port":
            spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]
        elif style in ("apart", "together"):
            term = {"labelSelector": {"matchLabels": {"group": pod["metadata"]["labels"]["group"]}},
                    "topologyKey": "kubernetes.io/hostname" if style == "apart" else "zone"}
            spec["affinity"] = {"podAntiAffinity" if style == "apart" else "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        elif style == "spread":
            spec["topologySpreadConstraints"] = [{
                "maxSkew": self.dice.number(1, 2), "topologyKey": self.dice.pick(("rack", "kubernetes.io/hostname")),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"group": pod["metadata"]["labels"]["group"]}}}]
        elif style == "gated":
            spec["schedulingGates"] = [{"name": "later"}]

    def spec(self, policy, priority, parent):
        spec = {"schedulingPolicy": policy, "priority": priority}
        if parent is not None:
            spec["parentCompositePodGroupName"] = parent
        mode = self.dice.weighted(((None, 4), ("single", 1), ("all", 5)))
        if mode is not None:
            spec["disruptionMode"] = {mode: {}}
        return spec

    def constrain(self, spec, keys):
        if self.topology and self.dice.chance(0.6):
            spec["schedulingConstraints"] = {"topology": [{"key": self.dice.pick(keys)}]}

    def group(self, name, policy, priority, parent):
        return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta(name, self.at),
                "spec": self.spec(policy, priority, parent)}

    def composite(self, name, policy, priority, parent):
        return {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup", "metadata": meta(name, self.at),
                "spec": self.spec(policy, priority, parent) | {"workloadRef": {"workloadName": "w", "templateName": "t"}}}

    def policy(self, field, size):
        kind = self.dice.weighted((("all", 5), ("some", 3), ("basic", 3), ("more", 1)))
        if kind == "basic":
            return {"basic": {}}
        return {"gang": {field: {"all": size, "some": self.dice.number(1, size), "more": size + 1}[kind]}}

    def members(self, name, priority, size):
        base, width = self.dice.number(100, 2500 if self.tight else 900), self.dice.number(1, 600)
        style = self.dice.weighted(((None, 12), ("disk", 3), ("tolerates", 2), ("port", 1), ("apart", 2), ("together", 1),
                                    ("spread", 2), ("gated", 0.3)))
        out = []
        for i in range(size):
            pod = self.pod(f"{name}-{i}", name, priority, base + self.dice.number(0, width))
            if self.dice.chance(0.8):
                self.particular(pod, style)
            out.append(pod)
        return out

    def agree(self, root, pods):
        """Policy of preemption, and now and then something that does not agree."""
        never = self.dice.chance(0.15)
        if never and self.policies:
            root["spec"]["preemptionPolicy"] = "Never"
        for pod in pods:
            if never:
                pod["spec"]["preemptionPolicy"] = "Never"
        if pods and root["kind"] == "PodGroup" and self.dice.chance(0.03):
            wrong = self.dice.pick(pods)["spec"]
            wrong["priority"] += self.dice.number(0, 1)
            if self.dice.chance(0.5):
                wrong["preemptionPolicy"] = self.dice.pick(("Never", "PreemptLowerPriority"))

    # ---- what happens ----------------------------------------------------------------------------------------------------

    def arrive(self):
        self.at += 10
        tree = self.trees and self.dice.chance(0.6)
        made = self.tree() if tree else self.leaf(f"g{self.groups}", self.dice.pick(PRIORITIES), None)
        root = made[0]
        self.agree(root, [one for one in made if one["kind"] == "Pod"])
        self.live.append(made)
        made = list(made)
        if self.dice.chance(0.3):
            self.dice.rng.shuffle(made)
        if self.dice.chance(0.08):
            split = self.dice.number(1, len(made))
            self.steps.append({"put": made[:split]})
            made = made[split:]
        self.steps.append({"put": made})

    def leaf(self, name, priority, parent):
        size = self.dice.weighted(((1, 1), (2, 3), (3, 3), (4, 2), (5, 1), (7, 1)))
        group = self.group(name, self.policy("minCount", size), priority, parent)
        self.constrain(group["spec"], ("rack", "rack", "zone") if parent is None else ("rack",))
        self.groups += 1
        return [group, *self.members(name, priority, size)]

    def tree(self):
        priority, name, out = self.dice.pick(PRIORITIES), f"t{self.groups}", []
        children = self.dice.number(1, 3)
        root = self.composite(name, self.policy("minGroupCount", children), priority, None)
        self.constrain(root["spec"], ("zone", "zone", "rack"))
        out.append(root)
        for i in range(children):
            parent = name
            self.at += 1
            if self.dice.chance(0.2):
                parent = f"{name}-inner-{i}"
                out.append(self.composite(parent, self.policy("minGroupCount", 1), priority, name))
                self.constrain(out[-1]["spec"], ("rack", "zone"))
            out += self.leaf(f"{name}-{i}", priority, parent)
        return out

    def between(self):
        """Something beside the arrival of a group."""
        what = self.dice.weighted((("wait", 5), ("reap", 2), ("delete", 4), ("grow", 2), ("minimum", 1), ("finish", 2)))
        if what in ("wait", "finish"):
            self.steps.append({"wait": LONG})
        elif what == "reap":
            self.steps.append({"reap": True, "wait": LONG})
        elif what == "delete" and self.live:
            gone = self.live.pop(self.dice.number(0, len(self.live) - 1))
            self.steps.append({"delete": [f"{one['kind']}/{NAMESPACE}/{one['metadata']['name']}" for one in reversed(gone)]})
        elif what == "grow" and self.live:
            made = self.dice.pick(self.live)
            group = self.dice.pick([one for one in made if one["kind"] == "PodGroup"])
            name = group["metadata"]["name"]
            more = self.members(name, made[0]["spec"]["priority"], self.dice.number(1, 3))
            for pod in more:
                new = f"{pod['metadata']['name']}-{len(self.steps)}"
                pod["metadata"].update(name=new, uid=f"uid-{new}")
                if any(one["spec"].get("preemptionPolicy") for one in made if one["kind"] == "Pod"):
                    pod["spec"]["preemptionPolicy"] = "Never"
            made += more
            self.steps.append({"put": more})
        elif what == "minimum" and self.live:
            gangs = [one for made in self.live for one in made if one["kind"] == "PodGroup" and "gang" in one["spec"]["schedulingPolicy"]]
            if gangs:
                old = self.dice.pick(gangs)
                new = {**old, "spec": {**old["spec"], "schedulingPolicy": {"gang": {"minCount": self.dice.number(1, 4)}}}}
                self.live = [[new if one is old else one for one in made] for made in self.live]
                self.steps.append({"put": [new], "wait": LONG})


def world(seed, number, kind, groups=12):
    return World(seed, number, kind).make(groups)
