# SPDX-License-Identifier: Apache-2.0
"""Models on chips."""

import ctypes
import dataclasses
import os

from . import structs
from .arrays import bytes_of, elements
from .chips import struct_of
from .library import LIBRARY, call, call_for_result


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or output; real = scale * (value - zero_point), scale 0 is not quantised."""
    name: str
    dtype: str    # int8, float32
    shape: tuple  # of one sample
    scale: float
    zero_point: int
    bytes: int    # of one sample


def path(file):
    return None if file is None else os.fspath(file)


class Model:
    """A model that is loaded, and compiled for a chip. Threads may share it.

    inputs, outputs: lists of Tensor; empty for layers without data, which run with seeded ones.
    """

    def __init__(self, file, chip=None, sets=None, dtype=None, rounding=None, plan=None, batch=1):
        self._pointer = ctypes.c_void_p()
        self.file = path(file)
        chip_struct = struct_of(chip, sets)
        options = structs.ModelOptions(file=self.file, chip=ctypes.pointer(chip_struct),
                                       dtype=dtype, rounding=rounding, plan=plan, batch=batch)
        call("tandem_model_load", ctypes.byref(options), ctypes.byref(self._pointer))
        self.inputs = self._tensors(structs.INPUT)
        self.outputs = self._tensors(structs.OUTPUT)

    def __del__(self):
        if getattr(self, "_pointer", None) and LIBRARY is not None:
            LIBRARY.tandem_model_free(self._pointer)
            self._pointer = None

    def _tensors(self, place):
        tensors = []
        for index in range(LIBRARY.tandem_model_tensor_count(self._pointer, place)):
            t = structs.Tensor()
            call("tandem_model_tensor", self._pointer, place, index, ctypes.byref(t))
            tensors.append(Tensor(t.name.decode(errors="replace"), t.dtype.decode(),
                                  tuple(t.shape[i] for i in range(t.rank)), t.scale, t.zero_point,
                                  t.bytes))
        return tensors

    def run(self, inputs=None, expected=None, *, backend=None, mode=None, host=None, seed=0,
            count=0, tolerance=0.0, keep_layers=False, inject=None, trace=None,
            divergence_wave=None, firmware_budget=0, timeout=0.0):
        """Runs samples; returns a Result.

        inputs           an array, or a list of one for each input: samples first, of the input's
                         dtype; None: seeded, `count` samples
        expected         the same for outputs: raises Mismatch where they differ (float32: by more
                         than `tolerance`, 0 to 1, of the largest magnitude; 0 is 0.05)
        backend          "tlm", "rtl", "tandem" (both, compared cycle by cycle)
        mode             "functional", "timing"
        host             "riscv", "native"
        keep_layers      Result.layers has what each operator computed for the first inference
        inject           flips a bit of the RTL, "pe[1][2].psum:bit3@cycle=100" or "seed=7"
        trace, divergence_wave   files to write
        firmware_budget  instructions of the RISC-V host; 0: the default
        timeout          seconds of wall time after which UserError is raised; 0: none
        """
        given = self._arrays(inputs, self.inputs, "inputs")
        wanted = self._arrays(expected, self.outputs, "expected")
        options = structs.RunOptions(
            backend=backend, mode=mode, host=host, seed=seed, count=count,
            inputs=bytes_of(given), input_count=len(given),
            expected=bytes_of(wanted), expected_count=len(wanted), tolerance=tolerance,
            keep_layers=keep_layers, inject=inject, trace=path(trace),
            divergence_wave=path(divergence_wave), firmware_budget=firmware_budget,
            timeout_seconds=timeout)
        return call_for_result("tandem_run", self._pointer, ctypes.byref(options))

    @staticmethod
    def _arrays(values, tensors, what):
        if values is None:
            return []
        arrays = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(arrays) != len(tensors):
            raise ValueError(f"{what}: expected {len(tensors)} arrays, found {len(arrays)}")
        return [elements(array, tensor.dtype, f"{what} '{tensor.name}'")
                for array, tensor in zip(arrays, tensors)]

    def compile(self, file):
        """Writes the program as a .tpu file."""
        call("tandem_model_compile", self._pointer, structs.encoded(os.fspath(file)))


def load(file, chip=None, sets=None, **options):
    """A Model from a .tflite, .tgraph, .tpu, .csv or .yaml file for a chip (a name or a file; None:
    test_16x16) with changed figures (sets={"mxu.count": 2}). Options: dtype of layers, rounding
    ("single", "gemmlowp"), plan ("search", "rules"), batch."""
    return Model(file, chip, sets, **options)
