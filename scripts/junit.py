# SPDX-License-Identifier: Apache-2.0
"""Results as JUnit XML, as CI servers read them; what `tandem verify --junit` writes is of the same shape (docs/report.md).

  with junit.File(path, "formal", {"seed": 1}) as file:
      file.passed("formal", "order", seconds, text)
      file.failed("formal", "order", seconds, message, text)

The file stands there from the beginning, whole at any moment, and says that the run has not ended until the block is left; an exception
that leaves the block stands there as an error. Without a path nothing is written.
"""
import datetime
import os
import pathlib
import re
import tempfile
import time
from xml.sax.saxutils import escape, quoteattr

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
INTERVAL_SECONDS = 2  # between two states of the file
END = "ran to its end"


class Refused(Exception):
    """The file cannot be written."""


def allowed(text):
    return NOT_XML.sub("\ufffd", str(text))


def attribute(text):
    """Line ends as references: as they are they would be read as blanks."""
    return quoteattr(allowed(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def content(text):
    return escape(allowed(text), {"\r": "&#13;"})


def version():
    return re.search(r"^project\(.*?VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M | re.S).group(1)


def add_option(parser):
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE")


class File:
    def __init__(self, path, name, properties):
        self.path, self.name = path, name
        self.properties = {"tandem_version": version(), **properties}
        self.cases = []  # (kind, group, name, seconds, message, text)
        self.how_far = ""
        self.once = path is not None and (str(path.absolute()).startswith(("/dev/", "/proc/")) or (path.exists() and not path.is_file()))
        self.written = 0.0

    def passed(self, group, name, seconds=0.0, text=""):
        self.add("passed", group, name, seconds, "", text)

    def failed(self, group, name, seconds, message, text=""):
        self.add("failure", group, name, seconds, message, text or message)

    def error(self, group, name, seconds, message, text=""):
        self.add("error", group, name, seconds, message, text or message)

    def skipped(self, group, name, seconds, why):
        self.add("skipped", group, name, seconds, why, "")

    def reached(self, how_far):
        """For a file that nobody finishes: "3 of 10 mutants"."""
        self.how_far = how_far

    def __enter__(self):
        self.write(self.unfinished())
        return self

    def __exit__(self, kind, what, _):
        if what is not None:
            interrupted = kind is KeyboardInterrupt or (kind is SystemExit and what.code not in (0, 1, 2))
            why = "the run was interrupted" if interrupted else str(what) or kind.__name__
            self.cases.append(("error", self.name, END, 0.0, why.splitlines()[0], "\n".join(filter(None, [why, self.how_far]))))
        try:
            self.write(self.cases, last=True)
        except Refused:
            if what is None:
                raise

    def add(self, *case):
        self.cases.append(case)
        if time.monotonic() - self.written < INTERVAL_SECONDS:
            return
        try:
            self.write(self.unfinished())
        except Refused:
            pass  # told at the end

    def unfinished(self):
        why = "the run has not ended" + (f": {self.how_far}" if self.how_far else "")
        return [*self.cases, ("error", self.name, END, 0.0, why, "Whoever reads this after the run: it was interrupted, killed or timed out before it could say more.")]

    def text(self, cases):
        count = {kind: sum(case[0] == kind for case in cases) for kind in ("failure", "error", "skipped")}
        sums = (f'name={attribute(self.name)} tests="{len(cases)}" failures="{count["failure"]}" errors="{count["error"]}" skipped="{count["skipped"]}" '
                f'time="{sum(case[3] for case in cases):.6f}"')
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {sums}>", f'  <testsuite {sums} timestamp="{now}">', "    <properties>"]
        lines += [f"      <property name={attribute(key)} value={attribute(value)}/>" for key, value in self.properties.items()]
        lines.append("    </properties>")
        for kind, group, name, seconds, message, text in cases:
            head = f'    <testcase classname={attribute(group)} name={attribute(name)} time="{seconds:.6f}"'
            if kind == "passed":
                lines.append(f"{head}>\n      <system-out>{content(text)}</system-out>\n    </testcase>" if text else f"{head}/>")
            else:
                lines.append(f"{head}>\n      <{kind} message={attribute(message)}>{content(text)}</{kind}>\n    </testcase>")
        return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])

    def write(self, cases, last=False):
        if self.path is None or (self.once and not last):
            return
        self.written = time.monotonic()
        data = self.text(cases).encode()
        try:
            if self.once:
                self.path.write_bytes(data)
                return
            target = self.path.resolve()
            mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~umask()
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".tandem-", delete=False) as out:
                out.write(data)
            os.chmod(out.name, mode)
            os.replace(out.name, target)
        except OSError as error:
            raise Refused(f"--junit: {self.path} cannot be written: {error.strerror}") from None


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
