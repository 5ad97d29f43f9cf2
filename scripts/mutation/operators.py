# SPDX-License-Identifier: Apache-2.0
"""Every single change that the operators can make to one source file."""
import dataclasses
import hashlib
import re

BINARY = {  # operator -> (name, replacements)
    "+": ("arithmetic", ["-"]), "-": ("arithmetic", ["+"]), "*": ("arithmetic", ["+"]),
    "/": ("arithmetic", ["*"]), "%": ("arithmetic", ["/"]),
    "<<": ("arithmetic", [">>"]), ">>": ("arithmetic", ["<<"]), ">>>": ("arithmetic", [">>"]),
    "&": ("bitwise", ["|"]), "|": ("bitwise", ["&"]), "^": ("bitwise", ["|", "&"]),
    "&&": ("logical", ["||"]), "||": ("logical", ["&&"]),
    "==": ("comparison", ["!="]), "!=": ("comparison", ["=="]), "<": ("comparison", ["<="]), "<=": ("comparison", ["<"]),
    ">": ("comparison", [">="]), ">=": ("comparison", [">"]),
}
OPERAND_ENDS = {"id", "number", "string"}
STUCK_BITS = (0, 3)  # of a vector; modulo its width


@dataclasses.dataclass
class Mutation:
    file: str
    operator: str
    what: str  # "from -> to"
    edits: list  # (start, end, text), positions in the file
    line: int  # of the original
    original: str  # that line
    becomes: str   # the same line with the change
    key: str = ""

    def __post_init__(self):
        text = f"{self.file}:{self.edits}:{self.what}"
        self.key = hashlib.sha256(text.encode()).hexdigest()[:10]


def apply(text, edits, offset=0):
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start - offset] + new + text[end - offset:]
    return text


def is_constant(name):
    """Parameters are UpperCamel, everything else is not."""
    return bool(re.fullmatch(r"[A-Z][A-Za-z0-9]*", name))


class Mutator:
    def __init__(self, name, source):
        self.name, self.source, self.tokens = name, source, source.tokens
        self.found = []
        # Names of one net: assign a = b;
        self.aliases = {}
        for a in source.assignments:
            if len(a.value) == 1 and len(a.target) == 1 and not a.register:
                names = {source.text_of(a.target), source.text_of(a.value)}
                for name in list(names):
                    names |= self.aliases.get(name, set())
                for name in names:
                    self.aliases[name] = names
        # Combinational targets: a value that names its own target is no circuit.
        self.targets = {a.value.first: source.text_of(a.target) for a in source.assignments if not a.register}
        self.unused = [a.value for a in source.assignments if source.text_of(a.target).startswith("unused")]

    def all(self):
        for span, place in self.source.expressions:
            if span not in self.unused:
                self._expression(span, place)
        for span in self.source.loops:
            if len(span) == 1 and self.tokens[span.first].text == "0":
                self._replace("constant", span.first, "1", "first turn of a generate loop")
        for branch in self.source.ifs:
            self._branch(branch)
        for assignment in self.source.assignments:
            self._assignment(assignment)
        for instance in self.source.instances:
            self._connections(instance)
        seen, unique = set(), []
        for mutation in self.found:
            if mutation.key not in seen:
                seen.add(mutation.key)
                unique.append(mutation)
        return sorted(unique, key=lambda m: (m.line, m.edits, m.operator))

    # ---- making one ----------------------------------------------------------------------------

    def _add(self, operator, what, edits):
        line = self.source.line_of(edits[0][0])
        original = self.source.text.splitlines()[line - 1].strip()
        becomes = apply(self.source.text, edits).splitlines()[line - 1].strip()
        what = " ".join(what.split())
        self.found.append(Mutation(self.name, operator, what, edits, line, original, becomes))

    def _replace(self, operator, i, new, note=""):
        token = self.tokens[i]
        self._add(operator, f"{token.text} -> {new}" + (f" ({note})" if note else ""), [(token.start, token.end, new)])

    def _range(self, span):
        return self.tokens[span.first].start, self.tokens[span.last - 1].end

    # ---- operators -----------------------------------------------------------------------------

    def _expression(self, span, place):
        for i in range(span.first, span.last):
            token = self.tokens[i]
            if token.kind == "op":
                self._operator(i, span)
            elif token.kind == "number":
                self._number(i, span)
            elif token.kind == "id":
                self._identifier(i, span, place)
        if place == "value" or place == "port":
            self._ternaries(span)

    def _binary(self, i, span):
        if i == span.first:
            return False
        before = self.tokens[i - 1]
        return before.kind in OPERAND_ENDS or before.text in (")", "]", "}")

    def _operator(self, i, span):
        text = self.tokens[i].text
        if text in BINARY and self._binary(i, span):
            name, others = BINARY[text]
            if name == "comparison" and self._extreme(span):
                return  # (a < b) ? a : b is the same with <=
            for other in others:
                self._replace(name, i, other)
        elif text in ("!", "~"):
            self._replace("negation", i, "", "dropped")
        elif text in ("&", "|", "^") and not self._binary(i, span):
            self._replace("bitwise", i, {"&": "|", "|": "&", "^": "|"}[text], "reduction")

    def _extreme(self, span):
        match = re.fullmatch(r"\((.+) (?:<|<=|>|>=) (.+)\)\s*\?\s*(.+?)\s*:\s*(.+)", self.source.text_of(span), re.DOTALL)
        return bool(match) and {match[1], match[2]} == {match[3], match[4]}

    def _number(self, i, span):
        text = self.tokens[i].text
        if text in ("'0", "'1"):
            self._replace("constant", i, "'1" if text == "'0" else "'0")
            return
        match = re.fullmatch(r"(\d*)'([sS]?)([bodhBODH])([0-9a-fA-F_]+)", text)
        if match:
            base = {"b": 2, "o": 8, "d": 10, "h": 16}[match[3].lower()]
            value, bits = int(match[4].replace("_", ""), base), int(match[1] or 32)
            for step in (1, -1):
                other = (value + step) % (1 << bits)
                digits = {2: "b", 8: "o", 10: "d", 16: "x"}[base]
                new = f"{match[1]}'{match[2]}{match[3]}{other:{digits}}"
                if other != value and not (bits == 1 and step < 0):
                    self._replace("constant", i, new)
        elif text.isdigit():
            value = int(text)
            if i > span.first and self.tokens[i - 1].text in ("+:", "-:") or i + 1 < len(self.tokens) and self.tokens[i + 1].text == "'":
                return  # a width
            for other in (value + 1, value - 1):
                if other >= 0:
                    self._replace("constant", i, str(other))

    def _identifier(self, i, span, place):
        name = self.tokens[i].text
        following = self.tokens[i + 1].text if i + 1 < len(self.tokens) else ""
        if following in ("(", "::", "'") or name.startswith(("$", "`")):
            return  # a function, a scope, a cast
        if self.tokens[i - 1].text in (".", "::", "+:", "-:"):
            return
        if is_constant(name):
            whole = place == "parameter" and len(span) == 1
            for step in ("+", "-"):
                self._replace("constant", i, f"{name} {step} 1" if whole else f"({name} {step} 1)")
            return
        if self._bracketed(i, span, place):
            for step in ("+", "-"):
                self._replace("index", i, f"({name} {step} 1)")
        elif place in ("value", "condition", "port"):
            self._other_source(i, span)

    def _bracketed(self, i, span, place):
        """Inside an index, and not the vector that is indexed."""
        if place == "target":
            return True
        depth = 0
        for j in range(i - 1, span.first - 1, -1):
            if self.tokens[j].text == "]":
                depth += 1
            elif self.tokens[j].text == "[":
                depth -= 1
                if depth < 0:
                    return True
        return False

    def _other_source(self, i, span):
        """Another signal of the same declared width; two at most, the next ones in the file."""
        name = self.tokens[i].text
        widths = self.source.widths
        if name not in widths:
            return
        equals = [other for other in widths if widths[other] == widths[name] and other != name and not self._clocking(other)
                  and other != self.targets.get(span.first) and other not in self.aliases.get(name, ()) and self.source.visible(other, span)]
        if not equals or self._clocking(name):
            return
        at = sum(map(ord, name)) + i  # spread over the candidates, the same at every run
        for step in range(min(2, len(equals))):
            self._replace("source", i, equals[(at + step) % len(equals)])

    @staticmethod
    def _clocking(name):
        return name in ("clk_i", "rst_ni")

    def _ternaries(self, span):
        """c ? a : b -> c ? b : a; the outermost of an expression and those in brackets."""
        for i in range(span.first, span.last):
            if self.tokens[i].text != "?":
                continue
            colon = self._matching_colon(i, span.last)
            end = self._operand_end(colon + 1, span.last) if colon else None
            if not end:
                continue
            a, b = self._range(_span(i + 1, colon)), self._range(_span(colon + 1, end))
            text = self.source.text
            self._add("branch", f"? {text[a[0]:a[1]]} : {text[b[0]:b[1]]} -> swapped", [(a[0], a[1], f"({text[b[0]:b[1]]})"), (b[0], b[1], text[a[0]:a[1]])])

    def _matching_colon(self, i, last):
        depth = nested = 0
        for j in range(i + 1, last):
            text = self.tokens[j].text
            if text in ("(", "[", "{", "'{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
                if depth < 0:
                    return None
            elif depth == 0 and text == "?":
                nested += 1
            elif depth == 0 and text == ":":
                if nested == 0:
                    return j
                nested -= 1
        return None

    def _operand_end(self, i, last):
        depth = 0
        for j in range(i, last):
            text = self.tokens[j].text
            if text in ("(", "[", "{", "'{"):
                depth += 1
            elif text in (")", "]", "}"):
                depth -= 1
                if depth < 0:
                    return j
            elif depth == 0 and text in (",", ";", ":"):
                return j
        return last

    def _branch(self, branch):
        start, end = self._range(branch.condition)
        text = self.source.text[start:end]
        if len(branch.otherwise):
            self._add("branch", f"if ({text}): branches swapped", [(start, end, f"!({text})")])
        else:
            self._add("enable", f"if ({text}) -> inverted", [(start, end, f"!({text})")])
        self._add("enable", f"if ({text}) -> always", [(start, end, "1'b1")])
        if not len(branch.otherwise):
            self._add("enable", f"if ({text}) -> never", [(start, end, "1'b0")])

    def _assignment(self, a):
        target = self.source.text_of(a.target)
        if a.reset:
            start, end = self._range(a.whole)
            self._add("reset", f"reset of {target} dropped", [(start, end, ";")])
            return
        if not a.register:
            return
        start, end = self._range(a.value)
        value = self.source.text[start:end]
        name = self.tokens[a.target.first].text
        one_bit = self.source.widths.get(name, "?") == "" and len(a.target) == 1
        for bit in STUCK_BITS[:1] if one_bit else STUCK_BITS:
            mask = f"(1 << ({bit} % $bits({target})))" if bit else "1"
            self._add("stuck", f"{target} bit {bit} stuck at 1", [(start, end, f"({value}) | {mask}")])
            self._add("stuck", f"{target} bit {bit} stuck at 0", [(start, end, f"({value}) & ~{mask}" if not one_bit else f"({value}) & 1'b0")])

    def _connections(self, instance):
        """Two inputs of the same kind exchanged: neighbours in the list whose nets differ."""
        if not self.source.widths:
            return
        widths = self.source.widths
        named = [(port, span) for port, span in instance.ports if len(span) >= 1]
        for (port_a, a), (port_b, b) in zip(named, named[1:]):
            net_a, net_b = self.source.text_of(a), self.source.text_of(b)
            if port_a[-2:] != "_i" or port_b[-2:] != "_i" or net_a == net_b or "clk_i" in (net_a, net_b) or "rst_ni" in (net_a, net_b):
                continue
            if widths.get(net_a.split("[")[0].strip()) != widths.get(net_b.split("[")[0].strip()):
                continue
            (s1, e1), (s2, e2) = self._range(a), self._range(b)
            self._add("source", f"{instance.name}: {port_a} and {port_b} exchanged", [(s1, e1, net_b), (s2, e2, net_a)])


def _span(first, last):
    from .systemverilog import Span
    return Span(first, last)
