# SPDX-License-Identifier: Apache-2.0
"""Networks through the Python module, beside the outputs that came with them."""

import pathlib
import tempfile
import unittest

import numpy

from paths import DIGITS, ROOT, others

import tandem


def digits_inputs(count=200):
    return numpy.fromfile(DIGITS / "inputs.bin", dtype=numpy.int8).reshape(200, -1)[:count]


def digits_outputs(count=200):
    return numpy.fromfile(DIGITS / "expected.bin", dtype=numpy.int8).reshape(200, -1)[:count]


class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = tandem.load(DIGITS / "digits_int8.tflite")

    def test_says_what_goes_in_and_comes_out(self):
        (image,), (scores,) = self.model.inputs, self.model.outputs
        self.assertEqual((image.dtype, scores.dtype), ("int8", "int8"))
        self.assertEqual(image.bytes, digits_inputs().shape[1])
        self.assertEqual(int(numpy.prod(image.shape)), image.bytes)
        self.assertEqual(scores.shape, (1, 10))
        self.assertGreater(scores.scale, 0)

    def test_outputs_are_the_expected_ones(self):
        result = self.model.run(digits_inputs(), digits_outputs())
        self.assertEqual(result.outputs[0].shape, (200, 10))
        numpy.testing.assert_array_equal(result.outputs[0], digits_outputs())
        self.assertEqual(result.report["checks"]["compared"], 2000)
        self.assertEqual(result.report["samples"], 200)
        self.assertEqual(result.cycles, sum(each["cycles"] for each in result.report["layers"]))
        self.assertIn("outputs: all 2000 bytes as expected", result.summary)
        labels = numpy.fromfile(DIGITS / "labels.bin", dtype=numpy.uint8)
        self.assertGreater(numpy.mean(result.outputs[0].argmax(axis=1) == labels), 0.99)

    def test_batches_change_the_time_and_no_output(self):
        batched = tandem.load(DIGITS / "digits_int8.tflite", batch=4)
        result = batched.run(digits_inputs(10), digits_outputs(10))
        self.assertEqual(result.outputs[0].shape, (10, 10))
        self.assertLess(result.cycles, self.model.run(digits_inputs(12)).cycles)

    def test_a_wrong_expectation_is_a_mismatch_with_its_place(self):
        wrong = digits_outputs(3).copy()
        wrong[1, 4] ^= 1
        with self.assertRaises(tandem.Mismatch) as caught:
            self.model.run(digits_inputs(3), wrong)
        self.assertIn("sample 1, element 4", str(caught.exception))
        self.assertEqual(caught.exception.result.report["checks"]["mismatches"], 1)
        numpy.testing.assert_array_equal(caught.exception.result.outputs[0], digits_outputs(3))

    def test_layers_lead_from_input_to_output(self):
        result = self.model.run(digits_inputs(1), keep_layers=True)
        names = [layer["name"] for layer in result.report["layers"]]
        self.assertLessEqual(set(result.layers), set(names))
        last = result.layers[names[-1]]
        numpy.testing.assert_array_equal(last.ravel(), digits_outputs(1).ravel())
        self.assertGreater(sum(each.any() for each in result.layers.values()), 2)

    def test_model_and_rtl_agree_and_an_injected_fault_is_found(self):
        result = self.model.run(digits_inputs(2), digits_outputs(2), backend="tandem")
        self.assertGreater(result.report["checks"]["rows_compared"], 0)
        with self.assertRaises(tandem.Mismatch) as caught:
            self.model.run(digits_inputs(2), backend="tandem", inject="seed=1")
        found = caught.exception.result.report["first_divergence"]
        self.assertEqual(found["kind"], "value")
        self.assertEqual(found["wave"], "")

    def test_a_compiled_program_does_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "digits.tpu"
            self.model.compile(file)
            program = tandem.load(file)
        numpy.testing.assert_array_equal(program.run(digits_inputs(3)).outputs[0],
                                         digits_outputs(3))

    def test_seeded_inputs_repeat(self):
        one, again, other = (self.model.run(seed=seed, count=2) for seed in (1, 1, 2))
        numpy.testing.assert_array_equal(one.outputs[0], again.outputs[0])
        self.assertTrue((one.outputs[0] != other.outputs[0]).any())

    def test_floats_are_close(self):
        model = tandem.load(DIGITS / "digits_float.tflite", chip="test_16x16_bf16")
        self.assertEqual(model.inputs[0].dtype, "float32")
        inputs = numpy.fromfile(DIGITS / "inputs_float.bin", dtype="<f4")
        expected = numpy.fromfile(DIGITS / "expected_float.bin", dtype="<f4")
        samples = len(expected) // 10
        result = model.run(inputs.reshape(samples, -1)[:5], expected.reshape(samples, -1)[:5])
        self.assertEqual(result.outputs[0].dtype, numpy.float32)
        numpy.testing.assert_allclose(result.outputs[0], expected.reshape(samples, -1)[:5],
                                      atol=0.05 * numpy.abs(expected).max())

    def test_the_report_is_that_of_the_command_line(self):
        keys = set(self.model.run(digits_inputs(1)).report)
        self.assertLessEqual({"chip", "cycles", "layers", "units", "traffic", "checks"}, keys)


class Layers(unittest.TestCase):
    MLP = ROOT / "models" / "applications" / "mlp0.yaml"

    def test_time_of_a_list_depends_on_the_chip(self):
        slow = tandem.load(self.MLP, "tpu_v1").run()
        fast = tandem.load(self.MLP, "tpu_v1", {"memory.bandwidth": "68 GB/s"}).run()
        self.assertEqual(slow.report["mode"], "timing")
        self.assertEqual(slow.outputs, [])
        self.assertLess(fast.seconds, 0.75 * slow.seconds)
        self.assertEqual(slow.cycles, sum(each["cycles"] for each in slow.report["layers"]))

    def test_seeded_data_are_those_of_plain_loops(self):
        table = "Layer,M,N,K\nfirst,8,16,32\n"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "list.csv"
            file.write_text(table)
            result = tandem.load(file).run(mode="functional", seed=3)
        self.assertEqual(result.report["checks"]["mismatches"], 0)
        self.assertGreater(result.report["checks"]["compared"], 0)
        self.assertEqual(sum(each.size for each in result.outputs), 8 * 16)


class OtherPeoplesModels(unittest.TestCase):
    def check(self, folder, file, count):
        folder = others(folder)
        model = tandem.load(folder / file)
        inputs = numpy.fromfile(folder / "inputs" / "int8.bin", dtype=numpy.int8)
        expected = numpy.fromfile(folder / "expected" / "int8.bin", dtype=numpy.int8)
        inputs = inputs.reshape(-1, model.inputs[0].bytes)[:count]
        expected = expected.reshape(-1, model.outputs[0].bytes)[:count]
        result = model.run(inputs, keep_layers=True)
        numpy.testing.assert_array_equal(result.outputs[0].reshape(expected.shape), expected)
        layers = folder / "layers" / "int8_sample0.layers.bin"
        if layers.exists():
            wanted = numpy.fromfile(layers, dtype=numpy.int8)
            self.check_layers(result, wanted)

    def check_layers(self, result, wanted):
        """Outputs of all operators, in their order; a reshape computes nothing."""
        first, found = 0, 0
        for layer in result.report["layers"]:
            size = layer["output_bytes"] // result.report["samples"]
            if layer["name"] in result.layers:
                values = result.layers[layer["name"]].ravel()
                numpy.testing.assert_array_equal(values, wanted[first:first + size], layer["name"])
                found += size
            first += size
        self.assertEqual(first, wanted.size)
        self.assertGreater(found, wanted.size // 2)

    def test_keyword_spotting(self):
        self.check("dscnn-kws", "dscnn_int8.tflite", 2)

    def test_sine(self):
        self.check("hello-world-sine", "hello_world_int8.tflite", 50)

    def test_autoencoder(self):
        self.check("ad-autoencoder", "ad01_int8.tflite", 2)


if __name__ == "__main__":
    unittest.main()
