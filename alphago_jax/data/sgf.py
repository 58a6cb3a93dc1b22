"""Reading and writing SGF trees, FF[1] to FF[4], as files really are.

One pass over the text with an explicit stack: depth costs no recursion, and no
input takes more than linear time. Whatever a reader can step over is stepped
over and noted; `docs/sgf.md` lists what is read, tolerated and refused.

The text's meaning (board, moves, header) is `records`' business; here are only
trees and properties.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from alphago_jax.data import encodings

MAX_BYTES = 64 * 1024 * 1024

# Possessive quantifiers keep every search linear on hostile text.
_START = re.compile(r"\(\s*+(?:;|[A-Z]{1,2}\s*+\[)")
_IDENTIFIER = re.compile(r"([A-Za-z]++)\s*+(?=\[)")
_SPACE = re.compile(r"[\s\ufeff]++")
_JUNK = re.compile(r"[A-Za-z]++|[^\s();\[A-Za-z]++")
_VALUE = re.compile(r"\s*+\[([^\\\]]*+(?:\\.[^\\\]]*+)*+)\]", re.DOTALL)
_CLOSING = re.compile(r"[^\\\]]*+(?:\\.[^\\\]]*+)*+\]", re.DOTALL)
# What may follow a value: an end, another value, a property, a node, a subtree.
_GOES_ON = re.compile(
    r"\s*+(?:\Z|\[|[A-Za-z]++\s*+\[|;\s*+(?:\Z|[();]|[A-Za-z]++\s*+\[)"
    r"|\(\s*+[;(]|\)\s*+(?:\Z|[();]))"
)
_MOVE_AHEAD = re.compile(r"[;(]\s*+[BW]\s*+\[")
_UNESCAPED_REACH = 4096  # characters in which a text's true end is looked for
_UNESCAPED_TRIES = 16  # brackets tried for each text
_UNESCAPED_FAILURES = 64  # texts without a true end, after which none is looked for
_TEXTS = frozenset("AN BR C CP EV GC GN N ON OT PB PC PW RE RO SO US WR".split())
_ESCAPE = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_BREAKS = ("\n", "\r", "\r\n", "\n\r")


class SgfError(ValueError):
    """A file or game that cannot be read, with the place.

    Attributes:
      reason: a few fixed words, the same for every error of its kind.
      detail: what was found.
      line: counted from 1, or None where there is no place.
      column: counted from 1, or None.
    """

    def __init__(
        self,
        reason: str,
        detail: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
    ):
        place = "" if line is None else f"line {line}, column {column}: "
        super().__init__(place + reason + (f": {detail}" if detail else ""))
        self.reason = reason
        self.detail = detail
        self.line = line
        self.column = column


class Note(NamedTuple):
    """Something tolerated. `kind` is one of a fixed set of words, for counting."""

    kind: str
    message: str


class Node:
    """A node: properties in file order, values as written (escapes kept).

    Attributes:
      properties: identifier in capitals -> values, in file order.
      children: the first is the main line.
      offset: where the node begins in the text.
    """

    __slots__ = ("children", "offset", "properties")

    def __init__(self, properties: dict[str, list[str]] | None = None, offset: int = 0):
        self.properties = {} if properties is None else properties
        self.children: list[Node] = []
        self.offset = offset

    def __repr__(self) -> str:
        names = " ".join(self.properties)
        return f"<Node {names} with {len(self.children)} children>"

    def text(self, name: str) -> str | None:
        """First value of a property, unescaped; None without the property."""
        values = self.properties.get(name)
        return unescape(values[0]) if values else None

    def main_line(self) -> Iterator["Node"]:
        """This node and its first children, to the end."""
        node = self
        while True:
            yield node
            if not node.children:
                return
            node = node.children[0]


class Tree(NamedTuple):
    """One game of a file. Attributes: its root, what was tolerated, the text."""

    root: Node
    notes: tuple[Note, ...]
    text: str

    def error(self, node: Node, reason: str, detail: str = "") -> SgfError:
        """An error at the place of a node."""
        return _error(self.text, node.offset, reason, detail)


def unescape(value: str) -> str:
    r"""The text of a written value: `\]` is `]`, an escaped line break is none."""
    if "\\" in value:
        value = _ESCAPE.sub(lambda m: "" if m[1] in _BREAKS else m[1], value)
    return value.replace("\r\n", "\n").replace("\r", "\n")


def escape(text: str) -> str:
    """A text as a value may hold it; NUL is dropped."""
    return text.replace("\0", "").replace("\\", "\\\\").replace("]", "\\]")


def parse(data: bytes | str) -> list[Tree]:
    """The games of a file, variations kept.

    Args:
      data: bytes as read (the encoding is found), or text.

    Returns:
      At least one tree.

    Raises:
      SgfError: where no game begins in the data, or it is beyond `MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        raise SgfError("too large", f"{len(data)} characters, at most {MAX_BYTES}")
    notes: list[Note] = []
    if isinstance(data, bytes):
        text, note = encodings.decode(data)
        if note is not None:
            notes.append(Note("encoding", note))
    else:
        text = data
    trees = list(_trees(text, notes))
    if not trees:
        raise _error(text, 0, "no game", "nowhere does a tree '(;' begin")
    return trees


def serialise(roots: Iterable[Node]) -> str:
    """SGF text of trees; the inverse of `parse` up to white space and repairs."""
    pieces: list[str] = []
    todo: list[Node | str] = []
    for root in roots:
        todo.extend((")", root, "("))
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            pieces.append(";")
            for name, values in item.properties.items():
                pieces.append(name + "".join(f"[{value}]" for value in values))
            if len(item.children) == 1:
                todo.append(item.children[0])
            else:
                for child in reversed(item.children):
                    todo.extend((")", child, "("))
    return "".join(pieces)


def _trees(text: str, notes: list[Note]) -> Iterator[Tree]:
    position = 0
    while (start := _START.search(text, position)) is not None:
        skipped = len(text[position : start.start()].strip(" \t\r\n()\ufeff"))
        reader = _Reader(text, start.start())
        if skipped:
            reader.junk(position, skipped)
        root = reader.read()
        position = reader.position
        yield Tree(root, (*notes, *reader.notes()), text)


class _Reader:
    """Reads one tree. `position` is where reading stands."""

    def __init__(self, text: str, start: int):
        self.text = text
        self.position = start
        self._found: dict[str, Note] = {}
        self._junk_length = 0
        self._junk_start = 0
        self._failures = 0

    def note(self, kind: str, message: str) -> None:
        """Notes the first of its kind."""
        if kind not in self._found:
            line, _ = _place(self.text, self.position)
            self._found[kind] = Note(kind, f"line {line}: {message}")

    def notes(self) -> list[Note]:
        """Everything tolerated."""
        notes = list(self._found.values())
        if self._junk_length:
            line, _ = _place(self.text, self._junk_start)
            message = f"line {line}: {self._junk_length} characters that are no SGF"
            notes.append(Note("junk", message))
        return notes

    def junk(self, start: int, length: int) -> None:
        """Counts characters stepped over."""
        if not self._junk_length:
            self._junk_start = start
        self._junk_length += length

    def read(self) -> Node:
        """The tree from its '(' on; unclosed ones end with the text."""
        text, end = self.text, len(self.text)
        root = current = None
        stack: list[Node | None] = []
        while self.position < end:
            symbol = text[self.position]
            if symbol == ";":
                node = Node(offset=self.position)
                if current is None:
                    root = node
                else:
                    current.children.append(node)
                current = node
            elif symbol == "(":
                stack.append(current)
            elif symbol == ")":
                current = stack.pop()
                if not stack:
                    self.position += 1
                    return _present(root)
            else:
                current = self._property_or_junk(current)
                root = current if root is None else root
                continue
            self.position += 1
        self.note("unclosed", f"the text ends inside {len(stack)} open trees")
        return _present(root)

    def _property_or_junk(self, node: Node | None) -> Node | None:
        space = _SPACE.match(self.text, self.position)
        if space is not None:
            self.position = space.end()
            return node
        identifier = _IDENTIFIER.match(self.text, self.position)
        if identifier is not None:
            return self._property(node, identifier)
        is_value = self.text[self.position] == "["
        stray = (_VALUE if is_value else _JUNK).match(self.text, self.position)
        end = len(self.text) if stray is None else stray.end()
        self.junk(self.position, end - self.position)
        self.position = end
        return node

    def _property(self, node: Node | None, identifier: re.Match[str]) -> Node:
        if node is None:
            self.note("missing semicolon", "the first node has no ';'")
            node = Node(offset=self.position)
        name = identifier[1]
        if not name.isupper():  # FF[1] to FF[3]: lower-case letters do not count
            name = "".join(letter for letter in name if "A" <= letter <= "Z")
        self.position = identifier.end()
        values = self._values(name)
        if not name:
            self.note("lower case", f"property {identifier[1][:20]!r} has no capitals")
        elif values:
            if name in node.properties:
                self.note("duplicate", f"property {name[:20]} comes twice in a node")
            node.properties.setdefault(name, []).extend(values)
        return node

    def _values(self, name: str) -> list[str]:
        values = []
        while (value := _VALUE.match(self.text, self.position)) is not None:
            closing = value.end()
            if name in _TEXTS and _GOES_ON.match(self.text, closing) is None:
                closing = self._true_end(value)
            values.append(self.text[value.start(1) : closing - 1])
            if closing != value.end():
                values[-1] = _escape_stray(values[-1])
            self.position = closing
        if not values:  # a '[' that nothing closes
            self.note("unclosed value", f"a value of {name[:20]} has no end")
            self.position = len(self.text)
        return values

    def _true_end(self, value: re.Match[str]) -> int:
        """End of a text that has a `]` in it which should have been escaped.

        Never beyond something that looks like a move.
        """
        if self._failures >= _UNESCAPED_FAILURES:
            return value.end()
        limit = min(len(self.text), value.end() + _UNESCAPED_REACH)
        move = _MOVE_AHEAD.search(self.text, value.end(), limit)
        limit = limit if move is None else move.start()
        position = value.end()
        for _ in range(_UNESCAPED_TRIES):
            closing = _CLOSING.match(self.text, position, limit)
            if closing is None:
                break
            position = closing.end()
            if _GOES_ON.match(self.text, position) is not None:
                self.note("unescaped", "a text has a ']' without a backslash")
                return position
        self._failures += 1
        return value.end()


def _escape_stray(value: str) -> str:
    return re.sub(r"(\\.)|\]", lambda m: m[1] or "\\]", value, flags=re.DOTALL)


def _present(root: Node | None) -> Node:
    assert root is not None  # _START saw a ';' or a property
    return root


def _place(text: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def _error(text: str, offset: int, reason: str, detail: str) -> SgfError:
    line, column = _place(text, offset)
    return SgfError(reason, detail, line=line, column=column)
