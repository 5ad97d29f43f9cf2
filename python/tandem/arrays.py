# SPDX-License-Identifier: Apache-2.0
"""Tensors of the library as NumPy arrays, and back."""

import ctypes

import numpy

from . import structs

# NumPy has no bf16: uint16 with the upper half of a float32's bits.
BF16 = "bf16"


def numpy_type(dtype):
    return numpy.dtype("uint16" if dtype == BF16 else dtype).newbyteorder("<")


def to_bf16(values):
    """float32 to bf16 as uint16, rounded half to even."""
    bits = numpy.ascontiguousarray(values, dtype=numpy.float32).view(numpy.uint32)
    rounded = bits + numpy.uint32(0x7fff) + ((bits >> 16) & 1)
    return numpy.where(numpy.isnan(values), 0x7fc0, rounded >> 16).astype(numpy.uint16)


def from_bf16(values):
    """bf16 as uint16 to float32, exactly."""
    return (values.astype(numpy.uint32) << 16).view(numpy.float32)


def array_of(tensor):
    """A copy of a result's tensor; bf16 as float32."""
    shape = [tensor.shape[i] for i in range(tensor.rank)]
    dtype = tensor.dtype.decode()
    data = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b""
    values = numpy.frombuffer(data, dtype=numpy_type(dtype)).reshape(shape).copy()
    return from_bf16(values) if dtype == BF16 else values


def elements(values, dtype, what):
    """A contiguous array of the type's elements; bf16 from float32. Other types are not converted:
    that would lose digits without a word."""
    values = numpy.asarray(values)
    if dtype == BF16 and values.dtype == numpy.float32:
        return to_bf16(values)
    if values.dtype != numpy_type(dtype):
        raise TypeError(f"{what}: expected elements of {'float32' if dtype == BF16 else dtype}, "
                        f"found {values.dtype}")
    return numpy.ascontiguousarray(values)


def bytes_of(arrays):
    """An array of structs.Bytes; the arrays must outlive it."""
    return (structs.Bytes * len(arrays))(
        *(structs.Bytes(array.ctypes.data, array.nbytes) for array in arrays))
