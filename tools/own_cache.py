# SPDX-License-Identifier: Apache-2.0
"""Where what is fetched, built or found out once stays for every checkout of this user."""

import os
import pathlib


def folder(*names):
    """The project's part of the user's cache folder, with these names below it. It need not exist."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")).joinpath("kubesched", *names)
