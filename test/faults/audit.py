# SPDX-License-Identifier: Apache-2.0
"""The API server's audit log as Python values: read_events(paths) gives the completed requests in the order of their completion.

A server that is killed leaves half a line, to which the next one appends: what follows it is kept, the half line is counted.
"""

import dataclasses
import datetime
import json

_BEGIN = '{"kind":"Event"'
REPLICA_USERS = "system:serviceaccount:faults:"  # begin so, see plane.py


def parse_time(text):
    """Seconds since 1970 of an RFC 3339 time."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@dataclasses.dataclass(frozen=True)
class Event:
    """One request that the server has answered. Between `received` and `done` lies the moment at which a write took effect."""

    audit_id: str
    user: str
    verb: str
    resource: str  # with the subresource: "pods/binding"
    namespace: str
    name: str
    code: int
    received: float  # seconds
    done: float
    request: dict  # the bodies; empty below the policy's level
    response: dict

    @property
    def key(self):
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def succeeded(self):
        return 200 <= self.code < 300

    @property
    def by_replica(self):
        return self.user.startswith(REPLICA_USERS)

    @property
    def writes(self):
        return self.verb in ("create", "update", "patch", "delete", "deletecollection")


def to_event(line):
    """The event of one object of the log, or None: not the end of a request."""
    if line.get("stage") != "ResponseComplete":
        return None
    target = line.get("objectRef", {})
    response = line.get("responseObject") or {}
    resource = target.get("resource", "")
    if target.get("subresource"):
        resource += "/" + target["subresource"]
    return Event(
        audit_id=line["auditID"], user=line["user"]["username"], verb=line["verb"], resource=resource,
        namespace=target.get("namespace", ""), name=target.get("name") or response.get("metadata", {}).get("name", ""),
        code=line.get("responseStatus", {}).get("code", 0), received=parse_time(line["requestReceivedTimestamp"]),
        done=parse_time(line["stageTimestamp"]), request=line.get("requestObject") or {}, response=response)


def parse_line(text):
    """The object of a line of the log, and whether something before it was broken. None: all of it is."""
    begin = text.rfind(_BEGIN)
    while begin >= 0:
        try:
            return json.loads(text[begin:]), begin > 0
        except ValueError:  # that text stood inside of an object, or the line is torn off
            begin = text.rfind(_BEGIN, 0, begin)
    return None, True


def read_events(paths):
    """The events, by the time of their completion, and the number of broken lines."""
    events, broken = [], 0
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for text in stream:
                line, torn = parse_line(text)
                broken += torn
                event = to_event(line) if line else None
                if event:
                    events.append(event)
    events.sort(key=lambda event: event.done)
    return events, broken
