# SPDX-License-Identifier: Apache-2.0
"""As much of SystemVerilog as it takes to mutate it: tokens, and the places of expressions in them.

Comments, assertions, `initial` blocks, declarations and what a preprocessor would drop are no places.
"""
import dataclasses

from .tokens import tokenize

class ParseError(Exception):
    pass


@dataclasses.dataclass
class Span:
    """Tokens first..last-1."""
    first: int
    last: int

    def __len__(self):
        return self.last - self.first


@dataclasses.dataclass
class If:
    condition: Span
    then: Span
    otherwise: Span  # empty: none
    process: bool  # else: a generate block


@dataclasses.dataclass
class Assignment:
    target: Span
    value: Span
    whole: Span
    register: bool  # non-blocking
    reset: bool  # in the reset branch of a process


@dataclasses.dataclass
class Instance:
    module: str
    name: str
    whole: Span
    parameters: list  # (name, Span)
    ports: list  # (name, Span)


class Source:
    """One file: its tokens and the places in them."""

    def __init__(self, text):
        self.text = text
        self.tokens = tokenize(text)
        self.expressions = []  # (Span, what: "value", "condition", "index", "constant", "parameter", "port")
        self.ifs, self.assignments, self.instances = [], [], []
        self.loops = []  # Span of the start value of a generate loop
        self.modules = []  # (name, position after the header, position of endmodule)
        self.widths = {}  # declared name -> text of its packed range
        self.scopes = {}  # declared name -> number of the block it is declared in, and those around it
        self.scope = (0,)
        self.scope_of = {}  # first token of a place -> scope
        self.blocks = 0
        self._run()

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    def text_of(self, span):
        if not len(span):
            return ""
        return self.text[self.tokens[span.first].start:self.tokens[span.last - 1].end]

    # ---- walking -------------------------------------------------------------------------------

    def _is(self, i, *texts):
        return i < len(self.tokens) and self.tokens[i].text in texts

    def _until(self, i, *texts):
        """First of `texts` at or after i that is not inside brackets."""
        depth = 0
        while i < len(self.tokens):
            text = self.tokens[i].text
            if depth == 0 and text in texts:
                return i
            if text in ("(", "[", "{", "'{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
            i += 1
        raise ParseError(f"no {' or '.join(texts)} before the end of the file")

    def _closing(self, i):
        """After the bracket that closes the one at i."""
        return self._until(i + 1, ")", "]", "}") + 1

    def _run(self):
        i = 0
        while i < len(self.tokens):
            before = len(self.expressions)
            i = self._item(i)
            for span, _ in self.expressions[before:]:
                self.scope_of.setdefault(span.first, self.scope)

    def _open(self):
        self.blocks += 1
        self.scope = (*self.scope, self.blocks)

    def _close(self):
        self.scope = self.scope[:-1]

    def visible(self, name, span):
        """Declared in the block of the place, or around it."""
        here, there = self.scope_of.get(span.first, (0,)), self.scopes[name]
        return here[:len(there)] == there

    def _item(self, i):
        token = self.tokens[i].text
        if token in ("module", "package"):
            start = i
            i = self._until(i, ";") + 1
            self._header(start, i)
            self.modules.append([self.tokens[start + 1].text, self.tokens[i - 1].end, None])
            return i
        if token in ("endmodule", "endpackage"):
            self.modules[-1][2] = self.tokens[i].start
            return i + 1
        if token in ("import", "export", "typedef", "timeunit", "genvar", "modport"):
            return self._until(i, ";") + 1
        if token == "end":
            self._close()
            return self._label(i + 1)
        if token in ("endgenerate", "generate", ";", "endfunction"):
            return self._label(i + 1)
        if token == "begin":
            self._open()
            return self._label(i + 1)
        if token == "initial":
            return self._skip_statement(i + 1)
        if token in ("assert", "assume", "cover"):
            return self._until(i, ";") + 1
        if token in ("localparam", "parameter"):
            equals = self._until(i, "=")
            end = self._until(i, ";")
            self.expressions.append((Span(equals + 1, end), "constant"))
            return end + 1
        if token in ("always_ff", "always_comb", "always_latch", "always"):
            i += 1
            if self._is(i, "@"):
                i = self._closing(i + 1)
            return self._statement(i, False)
        if token == "assign":
            return self._assignment(i + 1, i, False)
        if token == "function":
            return self._function(i)
        if token == "for":
            header = self._closing(i + 1)
            equals = self._until(i + 2, "=")
            self.loops.append(Span(equals + 1, self._until(i + 2, ";")))
            return header
        if token == "if":
            end = self._closing(i + 1)
            self.expressions.append((Span(i + 2, end - 1), "generate"))
            return end
        if token == "else":
            return i + 1
        if self._declares(i):
            return self._declaration(i)
        if self.tokens[i].kind == "id" and i + 1 < len(self.tokens):
            if self._is(i + 1, "#") or (self.tokens[i + 1].kind == "id" and self._is(i + 2, "(", ";")):
                return self._instance(i)
            if self._is(i + 1, ":"):  # label of an assertion
                return i + 2
        return i + 1

    def _label(self, i):
        return i + 2 if self._is(i, ":") else i

    def _header(self, first, last):
        """Remembers the widths of ports."""
        for i in range(first, last):
            if self._is(i, "input", "output") and self._is(i + 1, "logic"):
                self._width(i + 2)

    def _width(self, i):
        while self._is(i, "signed", "unsigned"):
            i += 1
        width = ""
        if self._is(i, "["):
            end = self._closing(i)
            width = "".join(t.text for t in self.tokens[i:end])
            i = end
            while self._is(i, "["):
                i = self._closing(i)
        names = []
        while i < len(self.tokens) and self.tokens[i].kind == "id":
            names.append(self.tokens[i].text)
            i += 1
            while self._is(i, "["):
                i = self._closing(i)
            if not self._is(i, ",") or i + 1 >= len(self.tokens) or self.tokens[i + 1].text in ("input", "output"):
                break
            i += 1
        for name in names:
            self.widths[name] = width
            self.scopes[name] = self.scope

    def _declares(self, i):
        if self.tokens[i].text in ("logic", "int", "wire", "bit", "byte", "automatic", "static", "integer", "var"):
            return True
        # type_t name;
        return self.tokens[i].text.endswith("_t") and i + 1 < len(self.tokens) and self.tokens[i + 1].kind == "id"

    def _declaration(self, i):
        if self._is(i, "logic"):
            self._width(i + 1)
        end = self._until(i, ";")
        equals = self._until(i, "=", ";")
        if equals < end:
            self.expressions.append((Span(equals + 1, end), "value"))
        return end + 1

    def _function(self, i):
        self._open()
        first = len(self.expressions)
        end = self._until(i, ";") + 1
        self._header(i, end)
        i = end
        while not self._is(i, "endfunction"):
            i = self._declaration(i) if self._declares(i) else self._statement(i, False)
        for span, _ in self.expressions[first:]:
            self.scope_of[span.first] = self.scope
        self._close()
        return self._label(i + 1)

    def _instance(self, i):
        start, module = i, self.tokens[i].text
        parameters = []
        i += 1
        if self._is(i, "#"):
            end = self._closing(i + 1)
            parameters = self._connections(i + 2, end - 1)
            i = end
        name = self.tokens[i].text
        ports = []
        i += 1
        if self._is(i, "["):
            i = self._closing(i)
        if self._is(i, "("):
            end = self._closing(i)
            ports = self._connections(i + 1, end - 1)
            i = end
        end = self._until(i, ";") + 1
        self.instances.append(Instance(module, name, Span(start, end), parameters, ports))
        self.expressions += [(span, "parameter") for _, span in parameters]
        self.expressions += [(span, "port") for _, span in ports if len(span) > 1]
        return end

    def _connections(self, i, last):
        found = []
        while i < last:
            if self._is(i, ".") and self._is(i + 2, "("):
                end = self._closing(i + 2)
                found.append((self.tokens[i + 1].text, Span(i + 3, end - 1)))
                i = end
            i += 1
        return found

    # ---- statements ----------------------------------------------------------------------------

    def _skip_statement(self, i):
        if not self._is(i, "begin"):
            return self._until(i, ";") + 1
        depth = 0
        while True:
            if self._is(i, "begin"):
                depth += 1
            elif self._is(i, "end"):
                depth -= 1
                if depth == 0:
                    return i + 1
            i += 1

    def _statement(self, i, reset):
        token = self.tokens[i].text
        if token == "begin":
            i = self._label(i + 1)
            while not self._is(i, "end"):
                i = self._statement(i, reset)
            return self._label(i + 1)
        if token in ("unique", "priority"):
            return self._statement(i + 1, reset)
        if token == "if":
            return self._if(i, reset)
        if token == "for":
            return self._statement(self._closing(i + 1), reset)
        if token in ("case", "casez", "casex"):
            return self._case(i, reset)
        if token in ("assert", "assume", "cover"):
            return self._until(i, ";") + 1
        if token == ";":
            return i + 1
        if self._declares(i):
            return self._declaration(i)
        if token in ("disable", "break", "continue") or token.startswith("$"):
            return self._until(i, ";") + 1
        if token == "return":
            end = self._until(i, ";")
            self.expressions.append((Span(i + 1, end), "value"))
            return end + 1
        return self._assignment(i, i, reset)

    def _if(self, i, reset):
        end = self._closing(i + 1)
        condition = Span(i + 2, end - 1)
        is_reset = self.text_of(condition) in ("!rst_ni", "~rst_ni")
        if not is_reset:
            self.expressions.append((condition, "condition"))
        then = Span(end, self._statement(end, reset or is_reset))
        otherwise = Span(then.last, then.last)
        if self._is(then.last, "else"):
            otherwise = Span(then.last + 1, self._statement(then.last + 1, reset))
        if not is_reset:
            self.ifs.append(If(condition, then, otherwise, True))
        return max(then.last, otherwise.last)

    def _case(self, i, reset):
        end = self._closing(i + 1)
        self.expressions.append((Span(i + 2, end - 1), "value"))
        i = end
        if self._is(i, "inside"):
            i += 1
        while not self._is(i, "endcase"):
            if self._is(i, "default"):
                i += 2 if self._is(i + 1, ":") else 1
            else:
                i = self._until(i, ":") + 1
            i = self._statement(i, reset)
        return i + 1

    def _assignment(self, i, first, reset):
        operators = ("=", "<=", "+=", "-=", "|=", "&=", "^=", "++", "--")
        at = self._until(i, *operators)
        end = self._until(at, ";")
        target, value = Span(i, at), Span(at + 1, end)
        for j in range(i, at):  # indices of the target
            if self._is(j, "["):
                self.expressions.append((Span(j + 1, self._closing(j) - 1), "target"))
        if len(value):
            self.expressions.append((value, "value"))
        self.assignments.append(Assignment(target, value, Span(first, end + 1), self._is(at, "<="), reset))
        return end + 1
