#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that built programs are hardened: `tools/check_hardening.py build/bin/kubesched …`.

Position-independent, relocations read-only and resolved at start, no executable stack, stack protector and fortified C
library calls in use.
"""

import re
import subprocess
import sys


def readelf(program, *flags):
    return subprocess.run(["readelf", "-W", *flags, program], check=True, capture_output=True, text=True).stdout


def faults(headers, dynamic, symbols):
    """What is missing, as texts. The arguments are readelf's -h -l, -d and --dyn-syms."""
    if not re.search(r"Type:\s+DYN", headers) or not re.search(r"FLAGS_1\).*\bPIE\b", dynamic):
        yield "not position-independent (-pie)"
    if "GNU_RELRO" not in headers:
        yield "relocations stay writable (-Wl,-z,relro)"
    if not re.search(r"BIND_NOW|FLAGS_1\).*\bNOW\b", dynamic):
        yield "relocations are resolved late (-Wl,-z,now)"
    stack = re.search(r"GNU_STACK\s.*?(R[W ][E ])\s", headers)
    if not stack or "E" in stack.group(1):
        yield "the stack is executable"
    if "__stack_chk_fail" not in symbols:
        yield "no stack protector (-fstack-protector-strong)"
    if not re.search(r"__\w+_chk@", symbols.replace("__stack_chk_fail", "")):
        yield "no fortified C library call (-D_FORTIFY_SOURCE=2)"


def main():
    status = 0
    for program in sys.argv[1:]:
        for fault in faults(readelf(program, "-h", "-l"), readelf(program, "-d"), readelf(program, "--dyn-syms")):
            print(f"{program}: {fault}", file=sys.stderr)
            status = 1
    return status if len(sys.argv) > 1 else 2


if __name__ == "__main__":
    sys.exit(main())
