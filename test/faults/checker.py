#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges schedulers by the API server's audit log alone (written under policy.yaml): checker.py [--faults-ended TIME] AUDIT_LOG...

Each violation is a line with its rule and audit IDs; status 1 if there is one, 2 if the log cannot be judged. --faults-ended (RFC 3339):
what must hold a minute later is judged, too. The rules, and what they cannot decide: rules.py and docs/reliability.md.
"""

import argparse
import functools
import pathlib
import sys

sys.dont_write_bytecode = True

import audit  # noqa: E402  (after the switch above)
import history  # noqa: E402
import rules  # noqa: E402


def check(events, faults_ended=None):
    """The violations in these events (audit.read_events), in the order of the rules."""
    past = history.History(events)
    chosen = list(rules.ALWAYS)
    if faults_ended is not None:
        chosen += [functools.partial(rule, faults_ended=faults_ended) for rule in rules.AFTERWARDS]
    return [violation for rule in chosen for violation in rule(events, past)]


def describe(events):
    """One line about what was there to judge."""
    counted = {"bindings": 0, "evictions": 0, "allocations": 0}
    for event in events:
        if not (event.by_replica and event.succeeded):
            continue
        counted["bindings"] += event.resource == "pods/binding" and event.verb == "create"
        counted["evictions"] += event.resource == "pods" and event.verb == "delete"
        counted["allocations"] += event.resource == "resourceclaims/status"
    terms = len(rules.acquisitions(events))
    return ", ".join([f"{len(events)} requests", f"{terms} terms", *(f"{number} {what}" for what, number in counted.items())])


def _parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("logs", nargs="+", type=pathlib.Path, metavar="AUDIT_LOG")
    parser.add_argument("--faults-ended", type=audit.parse_time, metavar="TIME", help="such as 2026-11-27T10:00:00Z")
    return parser.parse_args()


def _main():
    options = _parse()
    try:
        events, broken = audit.read_events(options.logs)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}: give the audit log of kube-apiserver (--audit-log-path)", file=sys.stderr)
        return 2
    if not events:
        print(f"{options.logs[0]}: no requests in it: write it under test/faults/policy.yaml", file=sys.stderr)
        return 2
    print(f"{describe(events)}; {broken} broken lines")
    found = check(events, options.faults_ended)
    for violation in found:
        print(f"{violation.rule}: {violation.text} [{' '.join(violation.audit_ids)}]")
    print(f"{len(found)} violations" if found else "no violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_main())
