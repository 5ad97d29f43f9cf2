# SPDX-License-Identifier: Apache-2.0
"""Matrix products beside NumPy's, verification, chips."""

import unittest

import numpy

import paths  # noqa: F401  (finds the module)

import tandem
from tandem.arrays import from_bf16, to_bf16


def requantised(sums, multiplier):
    """docs/numerics.md: int32 times a float32, half to even, saturated."""
    scaled = sums.astype(numpy.float32) * numpy.float32(multiplier)
    return numpy.clip(numpy.rint(scaled), -128, 127).astype(numpy.int8)


class Products(unittest.TestCase):
    def test_int8_is_numpys_product_requantised(self):
        random = numpy.random.default_rng(1)
        for m, k, n in ((1, 1, 1), (3, 17, 5), (40, 33, 70), (16, 256, 16)):
            a = random.integers(-128, 128, (m, k), dtype=numpy.int8)
            b = random.integers(-127, 128, (k, n), dtype=numpy.int8)
            multiplier = 1 / (64 * k ** 0.5)
            result = tandem.gemm(a, b, multiplier=multiplier)
            sums = a.astype(numpy.int32) @ b.astype(numpy.int32)
            numpy.testing.assert_array_equal(result.outputs[0], requantised(sums, multiplier))
            self.assertEqual(result.report["macs"], m * k * n)

    def test_sums_that_fit_come_out_as_they_are(self):
        random = numpy.random.default_rng(2)
        a = random.integers(-3, 4, (9, 11), dtype=numpy.int8)
        b = random.integers(-3, 4, (11, 6), dtype=numpy.int8)
        for backend in ("tlm", "rtl", "tandem"):
            c = tandem.gemm(a, b, multiplier=1, backend=backend).outputs[0]
            numpy.testing.assert_array_equal(c, a.astype(numpy.int32) @ b.astype(numpy.int32))

    def test_bf16_products_of_small_integers_are_exact(self):
        random = numpy.random.default_rng(3)
        a = random.integers(-4, 5, (7, 8)).astype(numpy.float32)
        b = random.integers(-4, 5, (8, 9)).astype(numpy.float32)
        result = tandem.gemm(a, b, chip="test_16x16_bf16")
        self.assertEqual(result.outputs[0].dtype, numpy.float32)
        numpy.testing.assert_array_equal(result.outputs[0], a @ b)

    def test_bf16_conversion_rounds_half_to_even(self):
        values = numpy.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -2.5, 0, numpy.inf], numpy.float32)
        wanted = numpy.array([1, 1, 1 + 2**-6, -2.5, 0, numpy.inf], numpy.float32)
        numpy.testing.assert_array_equal(from_bf16(to_bf16(values)), wanted)
        self.assertTrue(numpy.isnan(from_bf16(to_bf16(numpy.array([numpy.nan], numpy.float32))))[0])

    def test_seeded_matrices_and_time_alone(self):
        self.assertEqual(tandem.gemm((5, 6, 7), seed=4).outputs[0].shape, (5, 7))
        timed = tandem.gemm((64, 64, 64), mode="timing")
        self.assertEqual(timed.outputs, [])
        self.assertEqual(timed.cycles, tandem.gemm((64, 64, 64)).cycles)

    def test_an_injected_fault_is_found(self):
        found = []
        for seed in range(4):  # a flipped bit need not reach a sum
            try:
                report = tandem.gemm((20, 20, 20), backend="tandem", inject=f"seed={seed}").report
            except tandem.Mismatch as mismatch:
                report = mismatch.result.report
                found.append(report["first_divergence"])
            self.assertIn("pe[", report["injected"])
        self.assertTrue(found)

    def test_matrices_must_go_together(self):
        a, b = numpy.zeros((2, 3), numpy.int8), numpy.zeros((4, 5), numpy.int8)
        with self.assertRaisesRegex(ValueError, r"\(2, 3\) and \(4, 5\)"):
            tandem.gemm(a, b)
        with self.assertRaisesRegex(TypeError, "int8"):
            tandem.gemm(a.astype(numpy.int32), b)


class Verification(unittest.TestCase):
    def test_streams_agree(self):
        result = tandem.verify("test_16x16", streams=3, seed=5)
        self.assertEqual((result.report["streams"], result.report["seed"]), (3, 5))
        self.assertGreater(result.report["rows"], 0)
        self.assertEqual(result.report["chip"], "test_16x16")

    def test_a_fault_is_placed(self):
        with self.assertRaises(tandem.Mismatch) as caught:
            tandem.verify("test_16x16", streams=5, inject="seed=1")
        found = caught.exception.result.report["first_divergence"]
        self.assertIsNotNone(found["pe_row"])
        self.assertEqual(found["wave"], "")


class Chips(unittest.TestCase):
    def test_shipped_chips_have_figures(self):
        chips = tandem.chips()
        self.assertIn("tpu_v1", chips)
        self.assertEqual(chips["tpu_v1"]["mxu"]["rows"], 256)
        self.assertEqual(chips["tpu_v1"]["clock_hz"], 700_000_000)

    def test_figures_can_be_changed(self):
        self.assertEqual(tandem.chip("tpu_v1", {"mxu.count": 2})["mxu"]["count"], 2)
        self.assertEqual(tandem.chip("tpu_v1", ["clock=1 GHz"])["clock_hz"], 10**9)

    def test_version_is_that_of_the_project(self):
        self.assertRegex(tandem.version(), r"^\d+\.\d+\.\d+$")
        info = tandem.build_info()
        self.assertEqual(info["version"], tandem.version())
        self.assertLessEqual({"commit", "compiler", "verilator", "systemc"}, set(info))


if __name__ == "__main__":
    unittest.main()
