"""Trees out of text: grammar, repairs, places of errors, hostile input."""

import numpy as np
import pytest

from alphago_jax.data import sgf
from alphago_jax.data.sgf import SgfError

HOSTILE = {
    "empty": b"",
    "spaces": b" \n" * 1000,
    "nul": b"\0" * 10_000,
    "open": b"(" * 2_000_000,
    "open and spaces": b"( " * 1_000_000,
    "open games": b"(;" * 100_000,
    "closed": b"(;B[aa]" + b")" * 1_000_000,
    "brackets": b"(;" + b"[" * 1_000_000,
    "closing brackets": b"(;C[a" + b"]" * 300_000,
    "broken comments": b"(;" + b"C[a]!" * 100_000,
    "letters": b"(;" + b"a" * 1_000_000,
    "backslashes": b"(;C[" + b"\\" * 999_999,
    "values": b"(;AB" + b"[aa:ss]" * 30_000 + b")",
    "one property": b"(;" + b"KM[1]" * 100_000 + b")",
    "high bytes": bytes(range(128, 256)) * 1000,
    "size": b"(;SZ[999999999];B[aa])",
    "long size": b"(;SZ[" + b"9" * 1_000_000 + b"];B[aa])",
    "long numbers": b"(;HA[" + b"9" * 9999 + b"]KM[" + b"9" * 9999 + b"];B[aa])",
    "long result": b"(;RE[" + b"B+" * 500_000 + b"]DT[" + b"1" * 500_000 + b"])",
}


def test_tree_keeps_variations_and_order():
    (tree,) = sgf.parse("(;GM[1]SZ[9];B[aa](;W[bb];B[cc])(;W[dd](;B[ee])(;B[ff])))")
    line = [list(node.properties) for node in tree.root.main_line()]
    assert line == [["GM", "SZ"], ["B"], ["W"], ["B"]]
    first_move = tree.root.children[0]
    assert [child.properties["W"] for child in first_move.children] == [["bb"], ["dd"]]
    leaves = first_move.children[1].children
    assert [leaf.properties["B"] for leaf in leaves] == [["ee"], ["ff"]]
    assert tree.notes == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"a \] b", "a ] b"),
        (r"back\\slash", "back\\slash"),
        ("soft \\\nbreak", "soft break"),
        ("soft \\\r\nbreak", "soft break"),
        ("hard\r\nbreak", "hard\nbreak"),
        (r"\a\:", "a:"),
    ],
)
def test_text_escapes(written, meant):
    (tree,) = sgf.parse(f"(;C[{written}];B[aa])")
    assert tree.root.text("C") == meant
    assert tree.root.children[0].text("B") == "aa"


def test_old_long_names():
    text = (
        "(;FileFormat[1]GaMe[1]SiZe[9]CoPyright[x]AddBlack[aa] [bb];Black[cc];White[])"
    )
    (tree,) = sgf.parse(text)
    assert tree.root.properties == {
        "FF": ["1"], "GM": ["1"], "SZ": ["9"], "CP": ["x"], "AB": ["aa", "bb"],
    }  # fmt: skip
    assert [list(n.properties) for n in tree.root.main_line()][1:] == [["B"], ["W"]]


@pytest.mark.parametrize(
    ("text", "kind", "moves"),
    [
        ("hello (world)\n(;B[aa];W[bb])", "junk", ["aa", "bb"]),
        ("(;B[aa] junk! ;W[bb])", "junk", ["aa", "bb"]),
        ("(;B[aa];W[bb]", "unclosed", ["aa", "bb"]),
        ("(;B[aa];W[bb];C[never", "unclosed value", ["aa", "bb"]),
        ("(;KM[6]KM[7];B[aa])", "duplicate", ["aa"]),
        ("( GM[1];B[aa])", "missing semicolon", ["aa"]),
        ("(;lower[x];B[aa])", "lower case", ["aa"]),
        ("(;C[ranks [1k]: hi :)];B[aa])", "unescaped", ["aa"]),
        ("(;B[aa]C[see [A]) and more];W[bb])", "unescaped", ["aa", "bb"]),
        # Nothing that looks like a move is ever taken into a text.
        ("(;C[a]b;B[aa];C[c];W[bb])", "junk", ["aa", "bb"]),
    ],
)
def test_repairs_are_noted_and_moves_kept(text, kind, moves):
    (tree,) = sgf.parse(text)
    assert kind in [note.kind for note in tree.notes]
    found = [n.text("B") or n.text("W") for n in tree.root.main_line()]
    assert [move for move in found if move] == moves


def test_stray_bracket_belongs_to_the_text():
    (tree,) = sgf.parse("(;C[ranks [1k]: hi :)]PB[Joe];B[aa])")
    assert tree.root.text("C") == "ranks [1k]: hi :)"
    assert tree.root.text("PB") == "Joe"
    assert sgf.parse(sgf.serialise([tree.root]))[0].root.text("C") == tree.root.text(
        "C"
    )


def test_collections_and_what_lies_between():
    trees = sgf.parse("(;B[aa])\n\n (;W[bb](;B[cc])) and (;B[dd])")
    assert len(trees) == 3
    assert [note.kind for tree in trees for note in tree.notes] == ["junk"]


def test_places_are_line_and_column():
    (tree,) = sgf.parse("junk\n(;SZ[9]\n ;B[aa]\n;W[zz])")
    node = list(tree.root.main_line())[2]
    error = tree.error(node, "bad point", "zz")
    assert (error.line, error.column) == (4, 1)
    assert str(error) == "line 4, column 1: bad point: zz"
    with pytest.raises(SgfError, match="line 1, column 1: no game"):
        sgf.parse("no game here")


def test_five_thousand_deep():
    deep = "(;B[aa]" * 5000 + ")" * 5000
    (tree,) = sgf.parse(deep)
    assert sum(1 for _ in tree.root.main_line()) == 5000
    # One variation needs no parentheses of its own.
    assert sgf.serialise([tree.root]) == "(" + ";B[aa]" * 5000 + ")"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_ends(name):
    from alphago_jax.data.records import iter_games

    games = 0
    for game in iter_games(HOSTILE[name]):
        assert isinstance(game, SgfError) or len(game) < 10
        games += 1
    assert games >= 1  # a game, or an error that says why there is none


def test_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(sgf, "MAX_BYTES", 100)
    with pytest.raises(SgfError, match="too large"):
        sgf.parse(b"(;B[aa])" * 50)


def _random_tree(rng, depth):
    texts = ["", "x", "a]b", "\\", "né 白", "(;B[aa])", "two\nlines", "c:d\\]"]
    names = ["C", "GN", "LB", "XX", "B", "AB"]
    node = sgf.Node()
    for name in rng.choice(names, rng.integers(0, 4), replace=False):
        values = rng.choice(texts, rng.integers(1, 4))
        node.properties[str(name)] = [sgf.escape(str(value)) for value in values]
    for _ in range(rng.integers(0, 3) if depth else 0):
        node.children.append(_random_tree(rng, depth - 1))
    return node


def _plain(node):
    return (node.properties, [_plain(child) for child in node.children])


def test_written_trees_are_read_back():
    rng = np.random.default_rng(0)
    for _ in range(200):
        roots = [_random_tree(rng, 4) for _ in range(rng.integers(1, 3))]
        trees = sgf.parse(sgf.serialise(roots))
        assert [_plain(t.root) for t in trees] == [_plain(root) for root in roots]
        assert not any(tree.notes for tree in trees)
