#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Completion and manual pages say what the command says.

  described_test.py TANDEM DESCRIBED SOURCE     DESCRIBED: folder of the build with options.json, completions, man
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

TANDEM, DESCRIBED, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
TREE = json.loads((DESCRIBED / "options.json").read_text())


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def commands(node=TREE, path=()):
    yield path, node
    for below in node["commands"]:
        yield from commands(below, (*path, below["name"]))


def options(node):
    return [option for option in node["options"] if not option["positional"]]


def complete(*words):
    """What bash offers for the last word."""
    script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tandem; printf "%s\\n" "${COMPREPLY[@]}"'
    return output("bash", "-c", script, DESCRIBED / "completions/tandem", "tandem", *words, cwd=SOURCE / "models").split()


class Tree(unittest.TestCase):
    def test_it_has_every_option_of_the_help(self):
        for path, node in commands():
            text = output(TANDEM, *path, "--help")
            helped = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.MULTILINE))
            self.assertEqual(helped, {option["names"][-1] for option in options(node)}, path)

    def test_values_are_described(self):
        backend = next(o for p, n in commands() if p == ("run",) for o in n["options"] if "--backend" in o["names"])
        self.assertEqual((backend["choices"], backend["default"], backend["type"]), (["tlm", "rtl", "tandem"], "tlm", "TEXT"))
        batch = next(o for p, n in commands() if p == ("run",) for o in n["options"] if "--batch" in o["names"])
        self.assertEqual((batch["range"], batch["default"]), ("[1 - 65535]", "1"))

    def test_an_option_of_a_file_says_so(self):
        for path, node in commands():
            for option in node["options"]:
                if option["type"] == "TEXT" and re.search(r"\b(to|this) file|\.npy|\.tflite|a timeline", option["help"]):
                    self.assertEqual(option["completes"], "file", (path, option["names"]))


class Bash(unittest.TestCase):
    def test_subcommands(self):
        self.assertEqual(set(complete("")), {node["name"] for node in TREE["commands"]} | {"-h", "--help", "--version"})
        self.assertEqual(complete("ver"), ["verify"])
        self.assertIn("build", complete("rtl", "b"))

    def test_options_and_their_values(self):
        self.assertIn("--backend", complete("run", "x.tflite", "--b"))
        self.assertEqual(complete("run", "--backend", "t"), ["tlm", "tandem"])
        self.assertEqual(complete("run", "--set", "a=1", "--host", ""), ["riscv", "native"])
        self.assertIn("tpu_v4i", complete("run", "--chip", "tpu_v4"))
        self.assertEqual(complete("verify", "--backend", ""), complete("verify", ""))

    def test_files(self):
        self.assertEqual(complete("run", "digits/digits_i"), ["digits/digits_int8.tflite"])
        self.assertEqual(complete("run", "m.tflite", "--labels", "digits/lab"), ["digits/labels.bin"])
        self.assertIn("tpu_v1", complete("chips", "tpu_v"))

    def test_every_option_is_offered(self):
        for path, node in commands():
            offered = complete(*path, "-")
            for option in options(node):
                for name in option["names"]:
                    self.assertIn(name, offered, path)


class OtherShells(unittest.TestCase):
    def test_every_option_stands_in_them(self):
        zsh = (DESCRIBED / "completions/_tandem").read_text()
        fish = (DESCRIBED / "completions/tandem.fish").read_text()
        for _, node in commands():
            for option in options(node):
                self.assertIn(f"*{option['names'][-1]}[", zsh)
                self.assertRegex(fish, rf"-l {option['names'][-1][2:]}\b")

    def test_they_parse_where_the_shell_is_installed(self):
        for shell, file in (("zsh", "_tandem"), ("fish", "tandem.fish")):
            if shutil.which(shell):
                output(shell, "-n", DESCRIBED / "completions" / file)


class ManualPages(unittest.TestCase):
    def rendered(self, path):
        page = DESCRIBED / "man" / ("-".join(("tandem", *path)) + ".1.gz")
        result = subprocess.run(["man", "--warnings", "--no-hyphenation", "--no-justification", "-l", page], capture_output=True, text=True, check=True,
                                env={**os.environ, "MANWIDTH": "200", "MANPAGER": "cat", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"})
        self.assertEqual(result.stderr, "", path)
        return re.sub(".\b", "", result.stdout).replace("‐", "-").replace("−", "-")

    def test_each_option_has_its_entry(self):
        for path, node in commands():
            text = self.rendered(path)
            self.assertIn(" ".join(("tandem", *path, "[OPTIONS]")), text)
            for option in node["options"]:
                name = ", ".join(option["names"])
                self.assertRegex(text, rf"(?m)^ {{7}}{re.escape(name)}\b", path)
                self.assertIn(" ".join(option["help"].split()), " ".join(text.split()), path)
            self.assertIn("EXIT STATUS", text)


class Readme(unittest.TestCase):
    def test_it_names_every_command_and_option(self):
        text = (SOURCE / "tools/README.md").read_text()
        names = {option["names"][-1] for _, node in commands() for option in options(node)} | {" ".join(path) for path, _ in commands()}
        self.assertEqual([], sorted(name for name in names if not re.search(rf"{re.escape(name)}(?![\w-])", text)))


class Version(unittest.TestCase):
    def test_its_lines(self):
        lines = output(TANDEM, "--version").splitlines()
        self.assertEqual(lines[0], f"tandem {TREE['version']}")
        said = dict(line.split(maxsplit=1) for line in lines[1:])
        self.assertEqual(list(said), ["commit", "compiler", "Verilator", "SystemC"])
        git = subprocess.run(["git", "-C", SOURCE, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
        if git.returncode == 0 and (SOURCE / ".git").exists():
            self.assertRegex(said["commit"], r"^[0-9a-f]{12,}(-dirty)?$")
        self.assertRegex(said["compiler"], r"^(GCC|Clang) \d")
        self.assertRegex(said["Verilator"], r"^\d")
        self.assertRegex(said["SystemC"], r"^\d")

    def test_without_verilator(self):
        self.assertIn("Verilator  not found\n", output(TANDEM, "--version", env={"PATH": "/nowhere"}))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
