# SPDX-License-Identifier: Apache-2.0
"""What calls leave behind in the caller's process: nothing; and what may happen around them."""

import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

from paths import DIGITS, ROOT

import tandem


def without_host(report):
    """Wall time and memory are of the machine."""
    return {key: value for key, value in report.items() if key != "host"}


def children():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and parent_of(pid) == os.getpid()]


def parent_of(pid):
    try:
        return int(pathlib.Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return -1


def descriptors():
    return {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
            if os.path.islink(f"/proc/self/fd/{fd}")}


class Process(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = tandem.load(DIGITS / "digits_int8.tflite")

    def test_runs_of_one_process_are_equal(self):
        first = self.model.run(seed=3, count=2)
        tandem.gemm((8, 8, 8))
        second = self.model.run(seed=3, count=2)
        self.assertEqual(without_host(first.report), without_host(second.report))
        numpy.testing.assert_array_equal(first.outputs[0], second.outputs[0])

    def test_threads_run_at_the_same_time(self):
        alone = [self.model.run(seed=seed, count=3) for seed in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda seed: self.model.run(seed=seed, count=3), range(4)))
        for one, other in zip(alone, together):
            self.assertEqual(without_host(one.report), without_host(other.report))
            numpy.testing.assert_array_equal(one.outputs[0], other.outputs[0])

    def test_loads_and_runs_of_threads_go_together(self):
        def work(number):
            if number % 2:
                return tandem.load(DIGITS / "digits_int8.tflite").outputs[0].bytes
            numpy.ones((64, 64)) @ numpy.ones((64, 64))
            return self.model.run(count=1, timeout=60).outputs[0].size
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(set(pool.map(work, range(12))), {10})

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                open_before, environment = descriptors(), dict(os.environ)
                handlers = [signal.getsignal(number) for number in signal.valid_signals()]
                self.model.run(count=1)
                with self.assertRaises(tandem.UserError):
                    self.model.run(count=1, timeout=1e-6)
                with self.assertRaises(tandem.Mismatch):
                    tandem.verify("test_16x16", streams=3, inject="seed=1")
                self.assertEqual(descriptors(), open_before)
                self.assertEqual(dict(os.environ), environment)
                self.assertEqual([signal.getsignal(n) for n in signal.valid_signals()], handlers)
                self.assertEqual(children(), [])
                self.assertEqual(os.listdir(folder), [])
            finally:
                os.chdir(before)

    def test_standard_streams_are_the_callers_alone(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import tandem, ctypes;"
                "libc = ctypes.CDLL(None); libc.printf(b'mine,');"
                "r = tandem.load(sys.argv[2]).run(count=1);"
                "libc.fflush(None); assert r.summary")
        done = subprocess.run([sys.executable, "-c", code, str(ROOT / "python"),
                               str(DIGITS / "digits_int8.tflite")], capture_output=True, text=True,
                              check=True, env=dict(os.environ))
        self.assertEqual((done.stdout, done.stderr), ("mine,", ""))

    def test_a_killed_child_is_a_fault_and_no_more(self):
        def kill_the_child():
            for _ in range(2000):
                for pid in children():
                    os.kill(int(pid), signal.SIGKILL)
                    return
                time.sleep(0.001)
        thread = threading.Thread(target=kill_the_child)
        thread.start()
        with self.assertRaisesRegex(tandem.Fault, "signal 9"):
            self.model.run(count=2000)
        thread.join()
        self.assertEqual(children(), [])
        self.assertEqual(self.model.run(count=1).report["samples"], 1)

    def test_a_caller_that_ignores_its_children_gets_answers(self):
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            self.assertEqual(self.model.run(count=1).report["samples"], 1)
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_an_interrupt_from_the_terminal_ends_the_call(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import tandem;"
                "model = tandem.load(sys.argv[2]); print('running', flush=True);"
                "model.run(count=100_000)")
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(ROOT / "python"), str(DIGITS / "digits_int8.tflite")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "running\n")
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)

    def test_a_time_out_ends_the_run(self):
        start = time.monotonic()
        with self.assertRaisesRegex(tandem.UserError, "time-out"):
            self.model.run(count=100_000, timeout=0.3)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(children(), [])


class Mistakes(unittest.TestCase):
    def test_are_told_with_what_was_expected(self):
        cases = (
            (lambda: tandem.load("/nowhere/net.tflite"), "/nowhere/net.tflite"),
            (lambda: tandem.load(DIGITS / "labels.bin"), "model format"),
            (lambda: tandem.load(DIGITS / "digits_int8.tflite", "no_such_chip"), "no_such_chip"),
            (lambda: tandem.load(DIGITS / "digits_int8.tflite", sets={"mxu.cuont": 2}), "cuont"),
            (lambda: tandem.load(DIGITS / "digits_int8.tflite", rounding="up"), "single, gemmlowp"),
            (lambda: tandem.gemm((0, 1, 1)), "1 to 65535"),
            (lambda: tandem.verify(rows=257), "1 to 256"),
        )
        for work, words in cases:
            with self.assertRaisesRegex(tandem.UserError, words):
                work()

    def test_of_runs(self):
        model = tandem.load(DIGITS / "digits_int8.tflite")
        cases = (
            (dict(backend="fpga"), "tlm, rtl, tandem"),
            (dict(mode="timing", backend="rtl"), "timing"),
            (dict(inputs=numpy.zeros(5, numpy.int8)), "samples"),
            (dict(inject="pe[0][0].psum:bit1@cycle=5"), "inject"),
            (dict(tolerance=2.0), "0 to 1"),
            (dict(timeout=-1.0), "timeout"),
            (dict(trace="/nowhere/trace.json"), "/nowhere/trace.json"),
        )
        for options, words in cases:
            with self.assertRaisesRegex(tandem.UserError, words, msg=str(options)):
                model.run(**options)
        with self.assertRaisesRegex(ValueError, "null character"):
            tandem.load("net\0.tflite")
        with self.assertRaisesRegex(TypeError, "int8"):
            model.run(numpy.zeros((1, 64), numpy.float32))
        with self.assertRaisesRegex(ValueError, "1 arrays, found 2"):
            model.run([numpy.zeros(64, numpy.int8)] * 2)

    def test_a_missing_library_says_what_to_set(self):
        done = subprocess.run([sys.executable, "-c", "import tandem"], text=True,
                              capture_output=True, env={**os.environ, "TANDEM_LIBRARY": "/no/lib",
                                                        "PYTHONPATH": str(ROOT / "python")})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TANDEM_LIBRARY", done.stderr)


if __name__ == "__main__":
    unittest.main()
