# SPDX-License-Identifier: Apache-2.0
"""Work without a model: matrix products, verification of arrays."""

import ctypes

from . import structs
from .arrays import elements
from .chips import chip as figures_of
from .chips import struct_of
from .library import call_for_result


def gemm(a, b=None, *, chip="test_16x16", sets=None, dtype=None, multiplier=0.0, backend=None,
         mode=None, host=None, plan=None, inject=None, seed=0, timeout=0.0):
    """C[m,n] = A[m,k] x B[k,n] on a chip; returns a Result whose outputs are [C].

    a, b        int8 arrays, or float32 ones that are rounded to bf16; or, for seeded matrices,
                a = (m, k, n) without b
    multiplier  int8: C is A x B times this, rounded half to even and saturated; 0: what spreads C
                as A is spread
    C is int8, or float32 with the values of bf16. Other arguments: Model.run.
    """
    if dtype is None:
        dtype = figures_of(chip, sets)["mxu"]["dtype"]
    left = right = None
    if b is None:
        m, k, n = a
    else:
        left, right = elements(a, dtype, "a"), elements(b, dtype, "b")
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
            raise ValueError(f"expected a[m,k] and b[k,n], found {left.shape} and {right.shape}")
        m, k, n = left.shape[0], left.shape[1], right.shape[1]
    chip_struct = struct_of(chip, sets)
    options = structs.GemmOptions(
        chip=ctypes.pointer(chip_struct), dtype=dtype, m=m, k=k, n=n,
        a=None if left is None else left.ctypes.data,
        b=None if right is None else right.ctypes.data, multiplier=multiplier, backend=backend,
        mode=mode, host=host, plan=plan, inject=inject, seed=seed, timeout_seconds=timeout)
    return call_for_result("tandem_gemm", ctypes.byref(options))


def verify(chip=None, sets=None, *, rows=0, cols=0, dtype=None, accumulator_rows=0, pipeline=0,
           sum4=False, streams=0, seed=0, inject=None, waves=None, timeout=0.0):
    """Random command streams into an array, RTL against model: the array of a chip, or one of
    rows x cols (16 x 16 if they are 0) of int8 or bf16. Returns a Result without outputs, raises
    Mismatch where they part. `waves`: a folder for the wave of a divergence."""
    chip_struct = None if chip is None else struct_of(chip, sets)
    options = structs.VerifyOptions(
        chip=None if chip_struct is None else ctypes.pointer(chip_struct), rows=rows, cols=cols,
        dtype=dtype, accumulator_rows=accumulator_rows, pipeline=pipeline, sum4=sum4,
        streams=streams, seed=seed, inject=inject, waves=waves, timeout_seconds=timeout)
    return call_for_result("tandem_verify", ctypes.byref(options))
