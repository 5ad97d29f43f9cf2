# SPDX-License-Identifier: Apache-2.0
"""Tokens of SystemVerilog, as the Verilated array sees it: without comments and branches for other tools."""
import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>`(?:define|include|undef|timescale|default_nettype)(?:[^\n\\]|\\.|\\\n)*|`\w+(?:[ \t]+\w+)?)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<number>(?:\d+)?'(?:[sS]?[bodhBODH][0-9a-fA-FxXzZ_?]+|[01])|\d[\d_]*)
  | (?P<id>[\$a-zA-Z_][\w\$]*)
  | (?P<op><<<=|>>>=|===|!==|<<=|>>=|<<<|>>>|\|->|\|=>|\+=|-=|\*=|\|=|&=|\^=|\+\+|--|==|!=|<=|>=|&&|\|\||<<|>>|::|->|\+:|-:|~&|~\||~\^|'\{|.)
""", re.VERBOSE | re.DOTALL)

DEFINED = {"VERILATOR"}  # what the Verilated array sees
HIDDEN = {"SYNTHESIS", "YOSYS", "FORMAL"}  # a branch for the absence of these holds assertions


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


def tokenize(text):
    """Tokens without what the preprocessor or a reader of the hidden branches would not see."""
    tokens, stack = [], []  # stack: (taken now, some branch taken)
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        at = match.end()
        kind = match.lastgroup
        if kind == "skip":
            continue
        if kind == "directive":
            words = match.group().split()
            if words[0] in ("`ifdef", "`ifndef"):
                taken = (words[1] in DEFINED) == (words[0] == "`ifdef")
                if words[1] in HIDDEN:
                    taken = False
                stack.append(taken)
                continue
            if words[0] == "`else":
                stack[-1] = not stack[-1]
                at = match.start() + len("`else")
                continue
            if words[0] == "`endif":
                stack.pop()
                at = match.start() + len("`endif")
                continue
            if words[0] in ("`define", "`include", "`undef", "`timescale", "`default_nettype"):
                continue
            at = match.start() + len(words[0])  # use of a macro
            if all(stack):
                tokens.append(Token("id", words[0], match.start(), at))
            continue
        if all(stack):
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
    return tokens
