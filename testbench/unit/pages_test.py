#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does scripts/docs find what is wrong in a page? Small trees of its own; the command is a shell script."""
import importlib.machinery
import importlib.util
import json
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def load():
    """scripts/docs as a module, with a tree of its own as its root."""
    loader = importlib.machinery.SourceFileLoader("docs", str(ROOT / "scripts/docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("docs", loader))
    loader.exec_module(module)
    return module


class PagesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.docs = load()
        self.docs.ROOT = pathlib.Path(self.folder.name)
        command = self.docs.ROOT / "build/release/tandem"
        command.parent.mkdir(parents=True)
        options = {"commands": [{"name": "run", "options": [{"names": ["-n", "--count"]}], "commands": []}]}
        command.write_text(f"#!/bin/sh\necho '{json.dumps(options)}'\n")
        command.chmod(0o755)
        (self.docs.ROOT / "arch").mkdir()
        (self.docs.ROOT / "arch/dtype.h").write_text("int x;\n")

    def tearDown(self):
        self.folder.cleanup()

    def page(self, text):
        path = self.docs.ROOT / "page.md"
        path.write_text(text)
        return self.docs.Page(path)

    def mistakes(self, text, update=False):
        page = self.page(text)
        self.docs.run(page)
        self.docs.judge(page, update)
        return page.mistakes

    def names(self, text):
        self.page(text)
        return self.docs.names.mistakes(self.docs.ROOT, [self.docs.ROOT / "page.md"])

    def test_output_is_compared(self):
        self.assertEqual(self.mistakes("```console\n$ echo 1; echo 2 >&2\n1\n2\n```\n"), [])
        self.assertRegex(self.mistakes("```console\n$ echo 1\n2\n```\n")[0], r"page.md:2: stale: \$ echo 1")
        self.assertEqual(len(self.mistakes("```console\n$ echo 1\n```\n")), 1)
        self.assertEqual(len(self.mistakes("```console\n$ true\n1\n```\n")), 1)

    def test_dots_stand_for_any_lines_but_not_for_wrong_ones(self):
        self.assertEqual(self.mistakes("```console\n$ seq 5\n1\n...\n3\n...\n```\n"), [])
        self.assertEqual(len(self.mistakes("```console\n$ seq 5\n...\n3\n...\n2\n...\n```\n")), 1)
        self.assertEqual(len(self.mistakes("```console\n$ seq 5\n1\n...\n4\n```\n")), 1)

    def test_figures_of_the_machine_do_not_count_and_others_do(self):
        page = "```console\n$ echo '%s s, 24 MB peak memory, %s instructions'\n0.1 s, 23 MB peak memory, 7 instructions\n```\n"
        self.assertEqual(self.mistakes(page % ("9.25", 7)), [])
        self.assertEqual(len(self.mistakes(page % ("9.25", 8))), 1)

    def test_blocks_of_a_page_share_a_shell_and_its_files(self):
        text = "```console\n$ a=7\n$ cat new.txt\nx y\n```\ntext\n```console\n$ wc -w < new.txt; echo $a; echo z >> arch/dtype.h\n2\n7\n```\n"
        self.assertEqual(self.mistakes(text), [])
        self.assertEqual((self.docs.ROOT / "arch/dtype.h").read_text(), "int x;\n")

    def test_the_copy_has_all_but_the_build(self):
        (self.docs.ROOT / "arch/build").write_text("1\n")
        self.assertEqual(self.mistakes("```console\n$ cat arch/build\n1\n$ touch arch/x; ls build\nrelease\n```\n"), [])
        self.assertFalse((self.docs.ROOT / "arch/x").exists())

    def test_blocks_in_lists_and_commands_of_several_lines(self):
        self.assertEqual(self.mistakes("1. x\n\n   ```console\n   $ echo a \\\n       b\n   a b\n   ```\n"), [])

    def test_a_block_with_commands_is_a_console_block(self):
        self.assertRegex(self.mistakes("```\n$ echo 1\n```\n")[0], "console")
        self.assertRegex(self.mistakes("```console\necho 1\n```\n")[0], "begins with")

    def test_what_does_not_run_has_a_reason_and_is_counted(self):
        page = self.page("<!-- not run: opens a window -->\n```console\n$ false\nx\n```\n")
        self.assertEqual((page.not_run, page.commands), ([(2, "opens a window")], []))

    def test_update_writes_what_is_printed_and_keeps_times_and_dots(self):
        self.mistakes("```console\n$ echo '5.5 s, 9 MB peak memory, 8'\n0.1 s, 2 MB peak memory, 7\n"
                      "$ echo a; echo value 8; echo b\n...\nvalue 7\n...\n```\n", update=True)
        self.assertEqual((self.docs.ROOT / "page.md").read_text(),
                         "```console\n$ echo '5.5 s, 9 MB peak memory, 8'\n0.1 s, 2 MB peak memory, 8\n"
                         "$ echo a; echo value 8; echo b\n...\nvalue 8\n...\n```\n")

    def test_links_and_headings(self):
        self.assertEqual(self.names("# A b\n[x](arch/dtype.h) [y](#a-b) [z](https://no.where/)\n"), [])
        self.assertRegex(self.names("[x](arch/no.h)\n")[0], "page.md:1: dead link: arch/no.h")
        self.assertRegex(self.names("# A\n[x](#b)\n")[0], "no such heading")

    def test_files_and_options(self):
        self.assertEqual(self.names("`arch/dtype.h` `dtype.h` `arch/dtype.*` `tandem run X --count 1`\n"), [])
        self.assertRegex(self.names("`arch/none.h`\n")[0], "no such file: arch/none.h")
        self.assertRegex(self.names("`none.cpp`\n")[0], "no such file: none.cpp")
        self.assertRegex(self.names("```\ntandem run X --cuont 1\n```\n")[0], "tandem run has no option --cuont")
        self.assertRegex(self.names("`--nowhere`\n")[0], "no such option: --nowhere")


if __name__ == "__main__":
    unittest.main()
