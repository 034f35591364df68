# SPDX-License-Identifier: Apache-2.0
"""Which faults come when: make_plan gives the same list for the same arguments.

Four rows of faults run beside each other: what befalls the leader, the network of a replica, the server with its store and the credentials,
and nodes. A request that the proxy delays may reach the server after its sender has lost the lease, which no client can help; so what
goes to the server is delayed by less than the time between renew deadline and lease's end (1 s here) or not at all, and only answers
and watches are slow for longer.
"""

import dataclasses
import random

LEADER = -1  # as a replica: whoever leads then
_EVERY_S = {"network": (6, 16), "server": (35, 70), "nodes": (12, 25)}


@dataclasses.dataclass(frozen=True)
class Fault:
    """`at` and `lasts` in seconds; `replica`: its number, LEADER, or None."""

    at: float
    kind: str
    lasts: float = 0
    replica: int | None = None
    toxic: dict | None = None


def _toxic(kind, stream, toxicity=1.0, **attributes):
    return {"type": kind, "stream": stream, "toxicity": toxicity, "attributes": attributes}


NETWORK = {  # kind: what makes the toxic, and how long it lasts
    "latency": (lambda draw: _toxic("latency", "upstream", latency=draw.randrange(50, 350), jitter=draw.randrange(50, 150)), (8, 20)),
    "slow-answers": (lambda draw: _toxic("latency", "downstream", latency=draw.randrange(200, 1500), jitter=draw.randrange(100, 500)),
                     (8, 20)),
    "bandwidth": (lambda draw: _toxic("bandwidth", "downstream", rate=draw.randrange(5, 60)), (8, 20)),
    "slices": (lambda draw: _toxic("slicer", "downstream", average_size=64, size_variation=32, delay=draw.randrange(100, 2000)), (5, 12)),
    "reset": (lambda draw: _toxic("reset_peer", draw.choice(("upstream", "downstream")), timeout=draw.choice((0, 0, 300))), (1, 4)),
    "half-open": (lambda draw: _toxic("timeout", draw.choice(("upstream", "downstream")), timeout=0), (3, 15)),
    "stalled-watch": (lambda draw: _toxic("timeout", "downstream", draw.choice((0.1, 0.2, 0.35)), timeout=0), (10, 45)),
    "cut-in-the-middle": (lambda draw: _toxic("limit_data", draw.choice(("upstream", "downstream", "downstream")),
                                              bytes=draw.randrange(500, 60000)), (4, 12)),
}
LEADERSHIP = {"leader-killed": (1, 3), "leader-frozen": (4.5, 8), "leader-cut-off": (6, 9)}  # how long
SERVER = {"server-killed": (0.5, 6), "compacted": (0.5, 3), "credentials-rotated": (0, 0)}
LONGEST_S = max(high for _, high in [*LEADERSHIP.values(), *SERVER.values(), *(lasts for _, lasts in NETWORK.values())])


def _in_turn(draw, kinds):
    """The kinds, shuffled, again and again."""
    while True:
        order = sorted(kinds)
        draw.shuffle(order)
        yield from order


def _row(draw, seconds, gaps):
    at = draw.uniform(2, gaps[1])
    while at < seconds:
        yield at
        at += draw.uniform(*gaps)


def _leadership(draw, seconds, takeovers):
    gap = seconds / max(takeovers, 1)
    for number, kind in zip(range(takeovers), _in_turn(draw, LEADERSHIP)):
        yield Fault(gap * (number + draw.uniform(0.05, 0.3)), kind, draw.uniform(*LEADERSHIP[kind]), LEADER)


def _network(draw, seconds, replicas):
    for at, kind in zip(_row(draw, seconds, _EVERY_S["network"]), _in_turn(draw, NETWORK)):
        make, lasts = NETWORK[kind]
        yield Fault(at, kind, draw.uniform(*lasts), draw.choice((LEADER, *range(replicas))), make(draw))


def make_plan(seed, seconds, takeovers, replicas):
    """The faults by time. All end before `seconds`; a leader is befallen every 12 s at most."""
    draw = random.Random(f"faults {seed}")
    most = int(seconds // 12)
    plan = [*_leadership(draw, seconds, min(takeovers, most)), *_network(draw, seconds, replicas)]
    plan += [Fault(at, kind, draw.uniform(*SERVER[kind]))
             for at, kind in zip(_row(draw, seconds, _EVERY_S["server"]), _in_turn(draw, SERVER))]
    plan += [Fault(at, "node-away", draw.uniform(5, 40)) for at in _row(draw, seconds, _EVERY_S["nodes"])]
    return sorted((dataclasses.replace(fault, lasts=min(fault.lasts, seconds - fault.at)) for fault in plan if fault.at < seconds),
                  key=lambda fault: fault.at)
