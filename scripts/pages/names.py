# SPDX-License-Identifier: Apache-2.0
"""What the documents name, against what is there: links and their anchors, files and folders, options."""
import functools
import json
import os
import pathlib
import re
import subprocess

TEXT = (".cpp", ".h", ".c", ".S", ".py", ".sv", ".yaml", ".yml", ".cmake", ".txt", ".json", ".f", ".fbs", "")
NAMED = r"(?:cpp|h|c|py|sv|yaml|cmake|md|json|fbs|svg|png|f)"
# Options of programs that are not ours, as far as the documents name them.
FOREIGN = {"--build", "--install", "--prefix", "--component"}
# Files that do not lie in the tree: made by a run or a build, examples, and those of other projects.
ELSEWHERE = re.compile(r"(build|dump|my_rtl|obj_dir|examples/micro)/|(expected|inputs)/|.*(topology_utils|_problems|net|narrow|array_config|mine|my_\w+|report|trace|TOP|LIST|FILE|NAME|graph)\.\w+$")


def files(root):
    """Paths of all files of the tree, relative, without what is built."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in ("build", "__pycache__") and (name == ".ci" or not name.startswith("."))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def pages(root):
    """All pages that are read as they stand now; the changelog tells of other times."""
    return sorted(root / name for name in files(root) if name.endswith(".md") and name != "CHANGELOG.md")


def anchors(text):
    """Anchors of a page's headings, as GitHub names them."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 1
        unique = name
        while unique in found:
            unique = f"{name}-{number}"
            number += 1
        found.add(unique)
    return found


def outside_code(text):
    """The page with its code blanked out, line by line."""
    text = re.sub(r"^( *)```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), text)


def dead_links(page, text):
    for number, line in enumerate(outside_code(text).split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            if not file.exists():
                yield number, f"dead link: {target}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                yield number, f"no such heading: {target}"


def spread(name):
    """a{b,c} as ab and ac."""
    brace = re.search(r"\{([^{}]*)\}", name)
    if not brace:
        return [name]
    return [one for part in brace[1].split(",") for one in spread(name[:brace.start()] + part + name[brace.end():])]


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = files(root)
        self.folders = {str(parent) for name in self.files for parent in pathlib.PurePath(name).parents}
        self.tops = {name.split("/")[0] for name in self.files if "/" in name}
        self.base_names = {name.rsplit("/", 1)[-1] for name in self.files}

    @functools.cached_property
    def options(self):
        """All words --like-this in sources and scripts."""
        found = set(FOREIGN)
        for name in self.files:
            if name.endswith(TEXT[:-1]) or "." not in name.rsplit("/", 1)[-1]:
                found |= set(re.findall(r"--[a-z][a-z0-9-]*", (self.root / name).read_text(errors="replace")))
        return found

    @functools.cached_property
    def subcommands(self):
        """Subcommand -> its options, by the command itself."""
        command = self.root / "build/release/tandem"
        tree = json.loads(subprocess.run([command, "--dump-options"], check=True, capture_output=True, text=True).stdout)
        found = {}

        def look(node, path):
            found[" ".join(path)] = {name for option in node["options"] for name in option["names"] if name.startswith("--")}
            for below in node["commands"]:
                look(below, [*path, below["name"]])
        for node in tree["commands"]:
            look(node, [node["name"]])
        return found

    def has(self, name, page):
        """Whether a file or folder of this name is in the tree, by the page's folder or by the root."""
        name = name.rstrip("/").removeprefix("./")
        here = os.path.relpath(page.parent, self.root)
        for start in ("", here + "/"):
            path = os.path.normpath(start + name)
            if path in self.folders or "*" not in path and (self.root / path).exists():
                return True
            if "*" in path:
                pattern = re.compile(re.escape(path).replace(r"\*", "[^/]*") + "$")
                if any(pattern.match(file) for file in self.files):
                    return True
        if "/" not in name:
            pattern = re.compile(re.escape(name).replace(r"\*", ".*") + "$")
            return any(pattern.match(base) for base in self.base_names)
        # Below a folder that the text names, or a .h and its .cpp.
        return any(f"/{file}".endswith("/" + name) or f"/{file}".startswith(f"/{name}.") for file in self.files)


def wrong_names(tree, page, text):
    for number, line in enumerate(text.split("\n"), 1):
        for code in re.findall(r"`([^`\n]+)`", line):
            for word in re.split(r"[\s,:;()]+(?![^{]*\})", code):
                named = re.fullmatch(r"[A-Za-z0-9_.][\w.{},*-]*(?:/[\w.{},*-]*)+|[\w-]+\." + NAMED + r"|[a-z]\w{3,}\.\*", word)
                if not named or ELSEWHERE.match(word) or ("/" in word and word.split("/")[0] not in tree.tops):
                    continue
                for one in spread(word):
                    if not re.search(r"[A-Z]{3,}", one.replace("README", "").replace("CHANGELOG", "").replace("CONTRIBUTING", "")
                                     .replace("CMakeLists", "").replace("LICENSE", "")) and not tree.has(one, page):
                        yield number, f"no such file: {one}"
            yield from ((number, what) for what in wrong_options(tree, code))


def wrong_options(tree, command):
    subcommand = re.match(r"(?:\$ )?(?:\$T|(?:build/release/)?tandem) (rtl [a-z]+|[a-z]+)\b([^|;#]*)", command.strip())
    if subcommand and subcommand[1] in tree.subcommands:
        for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", subcommand[2]):
            if option not in tree.subcommands[subcommand[1]]:
                yield f"tandem {subcommand[1]} has no option {option}"
        return
    for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", command):
        if option not in tree.options:
            yield f"no such option: {option}"


def options_without_a_line(tree):
    """Options of subcommands that tools/README.md does not name."""
    page = tree.root / "tools/README.md"
    text = page.read_text() if page.exists() else ""
    for subcommand, options in tree.subcommands.items():
        for option in sorted(options - {"--help"}):
            if text and not re.search(option + r"(?![\w-])", text):
                yield f"tools/README.md: tandem {subcommand} {option} is not there"


def blocks(text):
    """Lines of code blocks, with their numbers; a last backslash joins lines."""
    inside, joined, first = False, "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip().startswith("```"):
            inside = not inside
        elif inside:
            first = first if joined else number
            joined += line.strip()
            if joined.endswith("\\"):
                joined = joined[:-1] + " "
            else:
                yield first, joined
                joined = ""


def mistakes(root, paths):
    tree = Tree(root)
    found = list(options_without_a_line(tree)) if root / "tools/README.md" in paths else []
    for page in paths:
        text = page.read_text()
        if "Replaced by [" in text:  # a decision of another time
            continue
        name = page.relative_to(root)
        said = list(dead_links(page, text)) + list(wrong_names(tree, page, re.sub(r"^( *)```.*?^ *```", lambda b: "\n" * b[0].count("\n"), text, flags=re.M | re.S)))
        said += [(number, what) for number, line in blocks(text) for what in wrong_options(tree, line)]
        found += [f"{name}:{number}: {what}" for number, what in sorted(said)]
    return found
