# SPDX-License-Identifier: Apache-2.0
"""The arrays, and requantisations, on which mutants are judged."""
import dataclasses


@dataclasses.dataclass
class Array:
    rows: int
    cols: int
    dtype: str = "int8"
    pipeline: int = 1
    sum4: bool = False
    accumulators: int = 12
    form: str = "grid"

    def arguments(self):
        words = ["--rows", self.rows, "--cols", self.cols, "--accumulators", self.accumulators, "--dtype", self.dtype, "--pipeline", self.pipeline,
                 "--form", self.form]
        return [str(word) for word in words] + (["--sum4"] if self.sum4 else [])

    def __str__(self):
        return f"{self.rows}x{self.cols} {self.dtype} k={self.pipeline}" + (" sum4" if self.sum4 else "") + (" flat" if self.form == "flat" else "")


@dataclasses.dataclass
class Requantise:
    cols: int
    lanes: int
    pipeline: int = 1

    def arguments(self):
        return ["--unit", "requantise", "--cols", str(self.cols), "--lanes", str(self.lanes)]

    def __str__(self):
        return f"requantise {self.cols}/{self.lanes}"


REQUANTISE = [Requantise(5, 2), Requantise(3, 3), Requantise(8, 2)]
INT8 = [Array(3, 4), Array(4, 3)]
INT8_K = [Array(3, 5, pipeline=2), Array(5, 3, pipeline=2)]
BF16 = [Array(2, 3, "bf16"), Array(3, 2, "bf16")]
SMALLEST = Array(1, 2)
EVEN = Array(3, 3)  # latencies of the others are odd
SUM4 = [Array(6, 2, "bf16", 4, True)]
DEEP = Array(12, 2, "bf16", 4, True)  # a third group of four can meet -0 from above
# What the two forms share may have a net that only the flat one uses.
FLAT = Array(3, 4, form="flat")
