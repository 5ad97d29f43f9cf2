# SPDX-License-Identifier: Apache-2.0
"""The structs of tandem.h. Each begins with its size; what is zero has its default."""

from ctypes import POINTER, Structure, c_char_p, c_double, c_int64, c_uint64, c_void_p, sizeof


def encoded(text):
    """For C, where a NUL would end it; None stays."""
    if text is not None and "\0" in text:
        raise ValueError(f"embedded null character in {text!r}")
    return None if text is None else text.encode()


class Sized(Structure):
    """Sets `size`; text fields take str or None."""

    def __init__(self, **fields):
        texts = {name: encoded(value) if isinstance(value, str) else value
                 for name, value in fields.items()}
        super().__init__(size=sizeof(type(self)), **texts)


class Chip(Sized):
    _fields_ = [("size", c_uint64), ("name", c_char_p), ("sets", POINTER(c_char_p)),
                ("set_count", c_uint64)]


class ModelOptions(Sized):
    _fields_ = [("size", c_uint64), ("file", c_char_p), ("chip", POINTER(Chip)),
                ("dtype", c_char_p), ("rounding", c_char_p), ("plan", c_char_p),
                ("batch", c_uint64)]


class Tensor(Sized):
    _fields_ = [("size", c_uint64), ("name", c_char_p), ("dtype", c_char_p),
                ("shape", POINTER(c_uint64)), ("rank", c_uint64), ("scale", c_double),
                ("zero_point", c_int64), ("data", c_void_p), ("bytes", c_uint64)]


class Bytes(Structure):
    _fields_ = [("data", c_void_p), ("bytes", c_uint64)]


class RunOptions(Sized):
    _fields_ = [("size", c_uint64), ("backend", c_char_p), ("mode", c_char_p), ("host", c_char_p),
                ("seed", c_uint64), ("count", c_uint64), ("inputs", POINTER(Bytes)),
                ("input_count", c_uint64), ("expected", POINTER(Bytes)),
                ("expected_count", c_uint64), ("tolerance", c_double), ("keep_layers", c_uint64),
                ("inject", c_char_p), ("trace", c_char_p), ("divergence_wave", c_char_p),
                ("firmware_budget", c_uint64), ("timeout_seconds", c_double)]


class GemmOptions(Sized):
    _fields_ = [("size", c_uint64), ("chip", POINTER(Chip)), ("dtype", c_char_p), ("m", c_uint64),
                ("k", c_uint64), ("n", c_uint64), ("a", c_void_p), ("b", c_void_p),
                ("multiplier", c_double), ("backend", c_char_p), ("mode", c_char_p),
                ("host", c_char_p), ("plan", c_char_p), ("inject", c_char_p), ("seed", c_uint64),
                ("timeout_seconds", c_double)]


class VerifyOptions(Sized):
    _fields_ = [("size", c_uint64), ("chip", POINTER(Chip)), ("rows", c_uint64),
                ("cols", c_uint64), ("dtype", c_char_p), ("accumulator_rows", c_uint64),
                ("pipeline", c_uint64), ("sum4", c_uint64), ("streams", c_uint64),
                ("seed", c_uint64), ("inject", c_char_p), ("waves", c_char_p),
                ("timeout_seconds", c_double)]


INPUT, OUTPUT, LAYER = 0, 1, 2  # tandem_place
