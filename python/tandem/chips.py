# SPDX-License-Identifier: Apache-2.0
"""Chips by name or file, with changed figures."""

import ctypes
import json
import os

from . import structs
from .library import call, text


def struct_of(name, sets):
    """`sets`: {"mxu.count": 2} or ["mxu.count=2"]."""
    if hasattr(sets, "items"):
        sets = [f"{key}={value}" for key, value in sets.items()]
    lines = [structs.encoded(line) for line in sets or ()]
    array = (ctypes.c_char_p * max(1, len(lines)))(*lines)
    return structs.Chip(name=None if name is None else os.fspath(name), sets=array,
                        set_count=len(lines))


def figures(struct):
    json_text = ctypes.c_void_p()
    call("tandem_chip_figures", struct, ctypes.byref(json_text))
    return json.loads(text(json_text))


def chip(name="test_16x16", sets=None):
    """All figures of a shipped chip or a chip file as a dict; numbers in the unit that their key
    ends with. `sets` changes figures: {"memory.bandwidth": "1200 GB/s"}."""
    return figures(ctypes.byref(struct_of(name, sets)))


def chips():
    """The same of all shipped chips: a dict by name."""
    return {each["name"]: each for each in figures(None)}
