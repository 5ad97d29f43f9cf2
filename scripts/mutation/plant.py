# SPDX-License-Identifier: Apache-2.0
"""Makes a source tree with one mutation in it, as TANDEM_SOURCE_DIR wants it.

A mutation of a PE, or of the arithmetic in it, is planted into one PE: tpu_pe gets a second, mutated body that one instance
of the array selects. The registers stay where they are, so that the co-simulation finds them.
"""
import pathlib
import re

from .operators import apply

# What a mutated file may warn about without being stillborn.
WARNINGS = ("WIDTH", "SELRANGE", "CMPCONST", "UNSIGNED", "UNOPTFLAT", "LATCH", "MULTIDRIVEN", "CASEOVERLAP", "LITENDIAN",
            "UNDRIVEN", "ALWCOMBORDER", "IMPLICIT", "COMBDLY", "UNOPT", "CASEINCOMPLETE", "BLKANDNBLK", "INFINITELOOP",
            "UNUSED", "DECLFILENAME")
PACKAGE, MUTANT_PACKAGE = "tpu_bf16_pkg", "tpu_bf16_mutant_pkg"


class PlantError(Exception):
    pass


def substitute_once(pattern, replacement, text, what):
    text, count = re.subn(pattern, replacement, text, count=1)
    if count != 1:
        raise PlantError(f"no {what} found")
    return text


def declarations(body):
    """(start, end) of the declarations at the top level of a module's body."""
    return [match.span() for match in re.finditer(r"^  (?:logic|localparam|typedef)\b[^;=]*(?:=[^;]*)?;[^\n]*\n", body, re.MULTILINE)]


def two_bodies(text, edits, rename=False):
    """tpu_pe with the parameter Mutant: 1 selects the mutated body."""
    header_end = re.search(r"\n\);\n", text).end()
    end = text.rindex("endmodule")
    body = text[header_end:end]
    kept = declarations(body)
    if any(a + header_end <= start < b + header_end for start, _, _ in edits for a, b in kept):
        raise PlantError("a declaration cannot differ between PEs")
    declared = "".join(body[a:b] for a, b in kept)

    def processes(with_edits):
        text_of = apply(body, with_edits, header_end) if with_edits else body
        for a, b in declarations(text_of)[::-1]:
            text_of = text_of[:a] + text_of[b:]
        return text_of

    mutated = processes(edits)
    if rename:
        mutated = mutated.replace(PACKAGE, MUTANT_PACKAGE)
    header = substitute_once(r"(module tpu_pe #\(\n)", r"\1  parameter  int unsigned Mutant = 0,\n", text[:header_end], "parameters of tpu_pe")
    return f"{header}\n{declared}\n  if (Mutant == 1) begin : gen_mutant\n{mutated}\n  end else begin : gen_original\n{processes([])}\n  end\n\n{text[end:]}"


def select_pe(text, row, col):
    """The array with the mutated PE at (row, col)."""
    loops = dict(re.findall(r"for \(genvar (\w+) = 0; \1 < \w+; \1\+\+\) begin : (gen_row|gen_col)\b", text))
    names = {block: variable for variable, block in loops.items()}
    if set(names) != {"gen_row", "gen_col"}:
        raise PlantError("no loops gen_row and gen_col in the array")
    here = f"({names['gen_row']} == {row} && {names['gen_col']} == {col}) ? 1 : 0"
    return substitute_once(r"(\btpu_pe #\(\n)", rf"\1        .Mutant       ({here}),\n", text, "instance of tpu_pe")


def file_names(rtl, filelist="filelist.f"):
    """Sources of a file list, in its order."""
    names = []
    for line in (rtl / filelist).read_text().splitlines():
        line = line.split("//")[0].strip()
        if line.endswith((".sv", ".v")):
            names.append(line)
    return names


def plant(root, folder, mutation, placement):
    """A tree in `folder`. `placement`: {"kind": "file" | "pe" | "accumulators" | "sum4", "row":, "col":}."""
    rtl = folder / "rtl"
    rtl.mkdir(parents=True)
    for name in ("arch", "cosim"):
        (folder / name).symlink_to(root / name)
    source = root / "rtl"
    names = file_names(source)
    requantise = file_names(source, "requantise.f")
    texts = {name: (source / name).read_text() for name in names + requantise}
    extra = {}
    mutated = apply(texts[mutation.file], mutation.edits)
    kind = placement["kind"]
    if kind == "file":
        texts[mutation.file] = mutated
    elif kind == "pe" and mutation.file == "tpu_pe.sv":
        texts["tpu_pe.sv"] = two_bodies(texts["tpu_pe.sv"], mutation.edits)
    else:
        extra[f"{MUTANT_PACKAGE}.sv"] = mutated.replace(PACKAGE, MUTANT_PACKAGE)
        if kind == "pe":
            texts["tpu_pe.sv"] = two_bodies(texts["tpu_pe.sv"], [], rename=True)
        else:
            user = {"accumulators": "tpu_accumulators.sv", "sum4": "tpu_sum4.sv"}[kind]
            texts[user] = texts[user].replace(PACKAGE, MUTANT_PACKAGE)
    if kind == "pe":
        texts["tpu_array_grid.sv"] = select_pe(texts["tpu_array_grid.sv"], placement["row"], placement["col"])
    for name, text in {**texts, **extra}.items():
        target = rtl / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (rtl / "mutant.vlt").write_text("`verilator_config\n" + "".join(f"lint_off -rule {w}\n" for w in WARNINGS))
    (rtl / "filelist.f").write_text("\n".join(["mutant.vlt", *extra, *names]) + "\n")
    (rtl / "requantise.f").write_text("\n".join(["mutant.vlt", *requantise]) + "\n")
    return folder


def reachable(package_text, position):
    """The functions of the package through which a change at `position` can act: product, sum, sum4."""
    starts = [(m.start(), m[1]) for m in re.finditer(r"function automatic [^;(]*?\b(\w+)\s*\(", package_text)]
    bodies = {}
    for (start, name), following in zip(starts, starts[1:] + [(len(package_text), "")]):
        bodies[name] = (start, following[0])
    inside = {name for name, (a, b) in bodies.items() if a <= position < b}
    if not inside:
        return {"product", "sum", "sum4"} & set(bodies)
    while True:
        callers = {name for name, (a, b) in bodies.items() for callee in inside
                   if name != callee and re.search(rf"\b{callee}\s*\(", package_text[a:b])}
        if callers <= inside:
            return inside & {"product", "sum", "sum4"}
        inside |= callers
