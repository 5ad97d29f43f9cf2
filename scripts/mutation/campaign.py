# SPDX-License-Identifier: Apache-2.0
"""Chooses mutants, runs `tandem verify` on each and judges what it found."""
import dataclasses
import fnmatch
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import yaml

from . import operators, plant
from .arrays import BF16, DEEP, EVEN, FLAT, INT8, INT8_K, REQUANTISE, SMALLEST, SUM4
from .systemverilog import Source

# Share of a campaign, unit that the diagnosis has to name.
FILES = {
    "tpu_mxu_control.sv": (110, ["control"]),
    "tpu_weight_loader.sv": (55, ["weight loader"]),
    "tpu_skew.sv": (60, ["skew"]),
    "tpu_load_chain.sv": (30, ["skew"]),
    "tpu_deskew.sv": (40, ["skew"]),
    "tpu_pe.sv": (110, ["PE"]),
    "tpu_accumulators.sv": (60, ["accumulators"]),
    "tpu_array_grid.sv": (65, ["skew", "PE"]),  # its wiring belongs to both ends
    "tpu_sum4.sv": (2, ["PE"]),
    "tpu_bf16_pkg.sv": (55, ["PE"]),
}
# The unit behind the array's results has a campaign of its own.
REQUANTISE_FILES = {
    "tpu_requantise_pkg.sv": (60, ["requantise"]),
    "tpu_requantise_lane.sv": (40, ["requantise"]),
    "tpu_requantise.sv": (40, ["requantise"]),
}
UNITS = {"array": FILES, "requantise": REQUANTISE_FILES}
ALL_FILES = {**FILES, **REQUANTISE_FILES}


class UserError(Exception):
    pass


SHARED = ("tpu_mxu_control.sv", "tpu_weight_loader.sv", "tpu_accumulators.sv")


@dataclasses.dataclass
class Mutant:
    mutation: operators.Mutation
    arrays: list  # the first one, then those that a survivor meets
    placement: dict
    units: list
    equivalent: str = ""  # reason
    in_sum4: bool = False  # also part of the adder of four

    @property
    def key(self):
        return self.mutation.key


def words(text):
    return " ".join(text.split())


class Equivalents:
    """Mutations known to change nothing, with reasons; matched by file, original line and mutation, or by what the line becomes."""

    def __init__(self, path):
        self.entries = yaml.safe_load(path.read_text()) if path.exists() else []
        self.used = set()

    def reason(self, mutation):
        text = f"{mutation.operator}: {mutation.what}"
        for number, entry in enumerate(self.entries or []):
            if entry["file"] != mutation.file or words(entry["line"]) != words(mutation.original):
                continue
            patterns, lines = (value if isinstance(value := entry.get(key, []), list) else [value] for key in ("mutation", "becomes"))
            if any(text == p or fnmatch.fnmatchcase(text, p.replace("[", "[[]")) for p in patterns) or words(mutation.becomes) in map(words, lines):
                self.used.add(number)
                return entry["reason"]
        return ""

    def stale(self):
        return [entry for number, entry in enumerate(self.entries or []) if number not in self.used]


def candidates(root, files):
    """Every mutation of these files, in order."""
    found = {}
    for name in files:
        path = root / "rtl" / name
        if path.exists():
            found[name] = operators.Mutator(name, Source(path.read_text())).all()
    return found


def choose(root, seed, count, equivalents, unit="array"):
    """`count` mutants of a unit: by file as UNITS says, spread over the operators, seeded."""
    draw = random.Random(seed)
    files = UNITS[unit]
    pools = candidates(root, files)
    for mutations in pools.values():
        for mutation in mutations:
            equivalents.reason(mutation)  # marks the entries that still match
    total = sum(files[name][0] for name in pools)
    wanted = {name: min(len(pool), round(count * files[name][0] / total)) for name, pool in pools.items()}
    while sum(wanted.values()) < count:
        open_files = [name for name, pool in pools.items() if wanted[name] < len(pool) and name not in ("tpu_sum4.sv", "tpu_bf16_pkg.sv")]
        if not open_files:
            break
        name = max(open_files, key=lambda n: len(pools[n]) - wanted[n])
        wanted[name] += 1
    mutants = []
    package = plant.PACKAGE + ".sv"
    if package in pools:
        # Adding four products is the larger part of the package, and the smaller part of an array's life.
        text = (root / "rtl" / package).read_text()
        only_four = [m for m in pools[package] if plant.reachable(text, m.edits[0][0]) == {"sum4"}]
        pools[package] = [m for m in pools[package] if m not in only_four] + draw.sample(only_four, min(len(only_four), 25))
        wanted[package] = min(wanted[package], len(pools[package]))
    for name, pool in pools.items():
        by_operator = {}
        for mutation in draw.sample(pool, len(pool)):
            by_operator.setdefault(mutation.operator, []).append(mutation)
        queues = [by_operator[operator] for operator in sorted(by_operator)]
        chosen = []
        while len(chosen) < wanted[name] and any(queues):
            for queue in queues:
                if queue and len(chosen) < wanted[name]:
                    chosen.append(queue.pop())
        mutants += [place(root, mutation, draw, equivalents) for mutation in chosen]
    draw.shuffle(mutants)
    return mutants


def place(root, mutation, draw, equivalents):
    name, units = mutation.file, ALL_FILES[mutation.file][1]
    if name in REQUANTISE_FILES:
        return Mutant(mutation, REQUANTISE, {"kind": "file"}, units, equivalents.reason(mutation))
    placement, in_sum4 = {"kind": "file"}, False
    pick = lambda arrays: draw.sample(arrays, len(arrays))
    arrays = [*pick(INT8)[:1], *pick(INT8_K)[:1], *pick(BF16)[:1], *SUM4]
    if "bf16" in mutation.original or "Dtype" in mutation.original:
        arrays = [*pick(BF16)[:1], *pick(INT8)[:1], *SUM4]
    elif draw.random() < 0.25:
        arrays = arrays[1:2] + arrays[:1] + arrays[2:]
    elif draw.random() < 0.15:
        arrays = arrays[2:3] + arrays[:2] + arrays[3:]
    if "Sum4" in mutation.original or "Addend" in mutation.original or name == "tpu_sum4.sv":
        arrays = SUM4 + pick(BF16)[:1]
    if name == "tpu_pe.sv":
        placement["kind"] = "pe"
    if name == plant.PACKAGE + ".sv":
        functions = plant.reachable((root / "rtl" / name).read_text(), mutation.edits[0][0])
        in_sum4 = "sum4" in functions
        if functions == {"sum4"}:
            placement["kind"], arrays = "sum4", SUM4
        elif "sum" in functions and draw.random() < 0.25:
            placement["kind"], units, arrays = "accumulators", ["accumulators"], pick(BF16)
        else:
            placement["kind"], arrays = "pe", pick(BF16)
    return Mutant(mutation, arrays, placement, units, equivalents.reason(mutation), in_sum4)


def survivors_arrays(mutant):
    """More sizes, since a number can be right by chance; the arithmetic does not depend on them."""
    if mutant.mutation.file == plant.PACKAGE + ".sv" or mutant.mutation.file in REQUANTISE_FILES:
        return mutant.arrays
    more = [*INT8, SMALLEST, EVEN, *([FLAT] if mutant.mutation.file in SHARED else []),
            *([DEEP] if "Addend" in mutant.mutation.original else [])]
    return mutant.arrays + [a for a in more if a not in mutant.arrays]


def places(mutant, array, seed):
    """Where the PE with the fault stands: in a pipelined array PEs with a register and PEs with a wire."""
    if mutant.placement["kind"] != "pe":
        return [mutant.placement]
    draw = random.Random(f"{seed} {mutant.key} {array}")
    if array == SMALLEST:
        cells = [(0, 1)]
    elif array == DEEP:
        cells = [(9, 1)]
    elif array.sum4:
        cells = [(3, 1), (1, 0), (4, 1), (5, 0)]  # the last of four, an inner one, those of an incomplete group
    elif array.pipeline > 1:
        cells = [(0, 1), (1, 2)]
    elif mutant.mutation.file == "tpu_pe.sv":
        cells = [(draw.randrange(array.rows), draw.randrange(array.cols)), (1, 0)]
    else:
        cells = [(draw.randrange(1, array.rows), draw.randrange(array.cols))]  # row 0 adds to nothing
    return [{"kind": "pe", "row": row, "col": col} for row, col in cells]


# Hundreds of small arrays include the same headers of Verilator's runtime: half of a build's time. The builder takes the g++ of
# PATH; this one precompiles them once, with the builder's own flags. Were the flags to differ, g++ would read the header itself.
COMPILER = """#!/bin/sh
real={real}
header={folder}/headers.h
case "$*" in *array_unit.cc*) ;; *) exec "$real" "$@" ;; esac
if mkdir "{folder}/made" 2>/dev/null; then
  flags=
  output=
  for word in "$@"; do
    if [ -n "$output" ]; then output=; continue; fi
    case "$word" in
      -o) output=next ;;
      -shared|-Wl,*|-l*|*.cc|*.o|*/model) ;;
      *) flags="$flags $word" ;;
    esac
  done
  "$real" $flags -x c++-header "$header" -o "$header.gch.new" && mv "$header.gch.new" "$header.gch"
fi
[ -f "$header.gch" ] || exec "$real" "$@"
exec "$real" -include "$header" "$@"
"""
HEADERS = ("verilated.h", "verilated_fst_c.h", "algorithm", "cstdio", "cstring", "memory", "string", "vector")


def fast_compiler(folder):
    """A folder for PATH, or None where there is no g++."""
    real = shutil.which("g++")
    if not real:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "headers.h").write_text("".join(f"#include <{name}>\n" for name in HEADERS))
    (folder / "g++").write_text(COMPILER.format(real=real, folder=folder))
    (folder / "g++").chmod(0o755)
    return folder


# ---- running ---------------------------------------------------------------------------------------


class Runner:
    """Runs one mutant after another in folders of its own below `work`."""

    def __init__(self, root, tandem, work, streams, more_streams, seed, timeout, keep=False):
        self.root, self.tandem, self.work = root, tandem, work
        self.streams, self.more_streams, self.seed, self.timeout, self.keep = streams, more_streams, seed, timeout, keep
        self.shared = work / "arrays"  # of the RTL as it is; its runtime objects serve all
        self.shared.mkdir(parents=True, exist_ok=True)
        self.compiler = fast_compiler(work / "compiler")

    def environment(self, tree, folder):
        cache = folder / "arrays"
        cache.mkdir(exist_ok=True)
        for runtime in self.shared.glob("runtime-*"):
            if not (cache / runtime.name).exists():
                os.link(runtime, cache / runtime.name)  # the builder follows no links
        path = f"{self.compiler}:{os.environ['PATH']}" if self.compiler else os.environ["PATH"]
        return {**os.environ, "PATH": path, "TANDEM_SOURCE_DIR": str(tree), "TANDEM_ARRAY_CACHE": str(cache),
                "TANDEM_ARRAY_OPT": os.environ.get("TANDEM_ARRAY_OPT", "-O0")}

    def verify(self, tree, array, streams, folder, timeout=None):
        """(exit status or None for a timeout, report, output)."""
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        command = [str(self.tandem), "verify", *array.arguments(), "--streams", str(streams), "--seed", str(self.seed),
                   "--json", str(report)]
        with subprocess.Popen(command, cwd=folder, env=self.environment(tree, folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=timeout or self.timeout)
                status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with its checkpoints
                output, _ = process.communicate()
                status = None
        found = json.loads(report.read_text()) if report.exists() else {}
        return status, found, output

    def check_original(self, arrays):
        """The RTL as it is must pass, or a campaign says nothing. Builds the runtime objects as well."""
        folder = self.work / "original"
        folder.mkdir(exist_ok=True)
        for entry in (folder / "arrays", self.shared):
            if not entry.exists():
                entry.symlink_to(self.shared) if entry != self.shared else entry.mkdir()
        for array in arrays:
            status, _, output = self.verify(self.root, array, self.streams, folder, timeout=600)
            if status != 0:
                raise UserError(f"the RTL as it is fails ({array}, exit {status}):\n{output.strip()[-1500:]}")

    def run(self, mutant):
        folder = self.work / "mutants" / mutant.key
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        start = time.monotonic()
        result = {"key": mutant.key, "file": mutant.mutation.file, "line": mutant.mutation.line, "operator": mutant.mutation.operator,
                  "what": mutant.mutation.what, "original": mutant.mutation.original, "units": mutant.units, "placement": mutant.placement,
                  "equivalent": mutant.equivalent, "rtl": fingerprint(self.root)}
        try:
            result.update(self.judge(mutant, folder))
        except plant.PlantError as error:
            result.update(status="stillborn", why=str(error))
        result["seconds"] = round(time.monotonic() - start, 2)
        if not self.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def rounds(self, mutant):
        """(array, place, streams): a few streams on the first array; survivors meet more, everywhere."""
        first = mutant.arrays[0]
        yield first, places(mutant, first, self.seed)[0], self.streams
        for array in survivors_arrays(mutant):
            for place in places(mutant, array, self.seed):
                yield array, place, self.more_streams
        if mutant.in_sum4 and mutant.placement["kind"] == "pe":
            yield SUM4[0], {"kind": "sum4"}, self.more_streams

    def judge(self, mutant, folder):
        met, tree, planted = [], folder / "tree", None
        for array, place, streams in self.rounds(mutant):
            if place != planted:
                shutil.rmtree(tree, ignore_errors=True)
                plant.plant(self.root, tree, mutant.mutation, place)
                planted = place
            status, report, output = self.verify(tree, array, streams, folder)
            outcome = {"array": str(array), "placement": place, "streams": streams, "exit": status}
            if status == 0:
                met.append(f"{array} {streams} streams")
                continue
            if status == 2 and not report.get("first_divergence"):
                why = first_error(output)
                return {"status": "stillborn" if "failed with status" in output else "crashed", **outcome, "why": why}
            if status is not None and status not in (1, 2):
                return {"status": "crashed", **outcome, "why": output.strip()[-400:]}
            return {"status": "killed", **outcome, **self.diagnosis(mutant, array, place, status, report, output)}
        return {"status": "survived", "met": met}

    def diagnosis(self, mutant, array, place, status, report, output):
        divergence = report.get("first_divergence") or {}
        found = {"unit": divergence.get("unit", ""), "signal": divergence.get("signal", ""),
                 "kind": divergence.get("kind") or divergence.get("what") or ("timeout" if status is None else f"exit {status}"),
                 "note": divergence.get("note", "")}
        found["named"] = found["unit"] in mutant.units
        if not divergence:
            found["note"] = output.strip()[-400:]
        if place["kind"] == "pe":
            row, col = divergence.get("pe_row"), divergence.get("pe_col")
            found["pe"] = [row, col]
            band = lambda a, b: a is not None and a // array.pipeline == b // array.pipeline
            # With k > 1 the PEs of a band share registers: the band is the place.
            found["pe_named"] = band(row, place["row"]) and band(col, place["col"])
        return found


def first_error(output):
    lines = output.splitlines()
    for line in lines:
        if "%Error" in line or "error:" in line:
            return line.strip()[:300]
    return (lines[-1] if lines else "")[:300]


def fingerprint(root):
    """Of the RTL: results of another RTL are not resumed."""
    import hashlib
    digest = hashlib.sha256()
    for name in plant.file_names(root / "rtl") + plant.file_names(root / "rtl", "requantise.f"):
        digest.update((root / "rtl" / name).read_bytes())
    return digest.hexdigest()[:16]
