#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a network takes over memory bandwidth and array size: is it bound by memory or by
arithmetic? Reads like a notebook: one step behind the other, at the end a picture.

    python3 python/examples/bandwidth_study.py [-o FILE.png] [--quick]
"""

import argparse
import concurrent.futures
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import matplotlib.pyplot as plt  # noqa: E402

import tandem  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("-o", "--output", default="bandwidth_study.png", help="picture to write")
parser.add_argument("--model", default=str(ROOT / "models" / "applications" / "mlp0.yaml"),
                    help="layers (.yaml, .csv)")
parser.add_argument("--quick", action="store_true", help="few points")
arguments = parser.parse_args()

# 1. The points: TPU v1 with other memories and other arrays.
bandwidths = [17, 68, 272] if arguments.quick else [8.5, 17, 34, 68, 136, 272, 544]  # GB/s
sides = [64, 256] if arguments.quick else [64, 128, 256]


def run(side, bandwidth):
    sets = {"mxu.rows": side, "mxu.cols": side, "memory.bandwidth": f"{bandwidth} GB/s"}
    return tandem.load(arguments.model, "tpu_v1", sets).run(mode="timing")


# 2. All of them, in threads: every run is a process of its own.
points = [(side, bandwidth) for side in sides for bandwidth in bandwidths]
with concurrent.futures.ThreadPoolExecutor() as pool:
    results = dict(zip(points, pool.map(lambda point: run(*point), points)))
for (side, bandwidth), result in results.items():
    print(f"{side:4} x {side:<4} {bandwidth:6.1f} GB/s  {result.seconds * 1e3:8.3f} ms  "
          f"utilization {result.report['utilization']:6.1%}")

# 3. Where the cycles of a layer go, from the report: what bounds it from below.
slowest = max(results[sides[-1], bandwidths[0]].report["layers"], key=lambda each: each["cycles"])
print(f"slowest layer at {bandwidths[0]} GB/s: {slowest['name']}, bound by {slowest['bound']}, "
      f"{slowest['cycles']} cycles, at least {slowest['bound_cycles']}")

# 4. The picture.
figure, (times, shares) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for side, marker in zip(sides, "os^"):
    line = [results[side, bandwidth] for bandwidth in bandwidths]
    label = f"{side} x {side}"
    times.plot(bandwidths, [each.seconds * 1e3 for each in line], marker=marker, label=label)
    shares.plot(bandwidths, [100 * each.report["utilization"] for each in line], marker=marker,
                label=label)
name = pathlib.Path(arguments.model).stem
times.set(title=f"{name}: time of a batch", ylabel="ms")
times.set_yscale("log", base=2)
times.yaxis.set_major_formatter("{x:g}")
shares.set(title=f"{name}: useful part of the array's peak", ylabel="%", ylim=(0, 100))
for axes in (times, shares):
    axes.set_xscale("log", base=2)
    axes.set_xticks(bandwidths, [f"{bandwidth:g}" for bandwidth in bandwidths])
    axes.set_xlabel("memory bandwidth, GB/s")
    axes.grid(True, alpha=0.3)
    axes.legend(title="array")
figure.savefig(arguments.output, dpi=120)
print(arguments.output)
