# SPDX-License-Identifier: Apache-2.0
"""Tandem from Python: models on chips, matrix products, verification of arrays.

    import tandem
    model = tandem.load("digits_int8.tflite", chip="test_16x16")
    result = model.run([images])                   # int8 array, samples first
    result.outputs[0], result.report["cycles"]

Standard library and NumPy only; all work is done by libtandem (tandem.library). Every call may be
made from any thread; runs of several threads go on at the same time.
"""

from .chips import chip, chips
from .errors import Error, Fault, Mismatch, UserError
from .library import build_info, version
from .models import Model, Tensor, load
from .results import Result
from .work import gemm, verify

__all__ = ["Error", "Fault", "Mismatch", "Model", "Result", "Tensor", "UserError",
           "build_info", "chip", "chips", "gemm", "load", "verify", "version"]
