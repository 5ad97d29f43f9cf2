# SPDX-License-Identifier: Apache-2.0
"""What came out of a run, a product or a verification."""

import ctypes
import json

from . import structs
from .arrays import array_of
from .library import LIBRARY, call


class Result:
    """report   a dict, as `--json` writes it (docs/report.md): cycles, layers, units, traffic, ...
    summary  the same for people
    outputs  a list of NumPy arrays, samples first; bf16 as float32
    layers   {name: array} of what operators have computed for the first inference, int8 or float32
    """

    def __init__(self, pointer):
        """Copies all of the library's result, and frees it."""
        try:
            self.report = json.loads(LIBRARY.tandem_result_report(pointer))
            self.summary = LIBRARY.tandem_result_summary(pointer).decode(errors="replace")
            self.outputs = [array for _, array in self._tensors(pointer, structs.OUTPUT)]
            self.layers = dict(self._tensors(pointer, structs.LAYER))
        finally:
            LIBRARY.tandem_result_free(pointer)

    @staticmethod
    def _tensors(pointer, place):
        for index in range(LIBRARY.tandem_result_tensor_count(pointer, place)):
            tensor = structs.Tensor()
            call("tandem_result_tensor", pointer, place, index, ctypes.byref(tensor))
            yield tensor.name.decode(errors="replace"), array_of(tensor)

    @property
    def cycles(self):
        """Of the chip's clock."""
        return self.report["cycles"]

    @property
    def seconds(self):
        """Simulated."""
        return self.report["time_ns"] * 1e-9

    def __repr__(self):
        return f"<tandem.Result {self.summary.splitlines()[0] if self.summary else ''}>"
