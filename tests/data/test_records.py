"""Records out of files, by the full reader and the fast one, and back into text."""

import dataclasses

import numpy as np
import pytest

from alphago_jax.data.plain_records import read_plain
from alphago_jax.data.records import GameRecord, iter_games, read_sgf
from alphago_jax.data.results import Result
from alphago_jax.data.sgf import SgfError
from alphago_jax.data.writing import to_sgf

BASE = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.5]HA[2]RU[Chinese]RE[B+3.5]DT[2009-01-01]"
    "PB[A \\] b]PW[王]BR[9d]WR[5k]EV[cup]AB[pd][dp];W[dd];B[pp]C[a (;B[aa\\]) b]"
    ";W[tt](;B[qc];W[])(;B[cc]))"
)


def one(text, **options) -> GameRecord:
    (record,) = read_sgf(text, **options)
    return record


def fields(record, *without):
    """Everything in a record, comparable."""
    values = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    values["actions"] = (record.actions.dtype, record.actions.tolist())
    values["colours"] = (record.colours.dtype, record.colours.tolist())
    return {name: value for name, value in values.items() if name not in without}


def kinds(record):
    return [note.kind for note in record.warnings]


def test_a_whole_record():
    record = one(BASE.encode(), file="x.sgf")
    assert (record.size, record.komi, record.komi_text) == (19, 6.5, "6.5")
    # W dd is column d, row d; the pass is 361.
    assert record.actions.tolist() == [3 * 19 + 3, 15 * 19 + 15, 361, 2 * 19 + 16, 361]
    assert record.actions.dtype == np.int16
    assert record.colours.tolist() == [-1, 1, -1, 1, -1]
    assert record.black == (3 * 19 + 15, 15 * 19 + 3) and record.white == ()
    assert (record.handicap, record.to_play, record.num_handicap_moves) == (2, -1, 0)
    assert record.result == Result(1, 3.5, "score")
    assert record.players == ("A ] b", "王") and record.ranks == ("9d", "5k")
    assert (record.date, record.year, record.event) == ("2009-01-01", 2009, "cup")
    assert record.rules == "Chinese" and record.warnings == ()
    assert str(record.source) == "x.sgf"


def test_absent_headers():
    record = one("(;B[aa])")
    assert (record.size, record.komi, record.handicap, record.date) == (
        19,
        None,
        0,
        None,
    )
    assert record.result.winner is None and record.rules is None
    assert record.to_play == 1


@pytest.mark.parametrize(
    ("size", "value", "action"),
    [
        (19, "tt", 361),
        (9, "tt", 81),
        (21, "tt", 19 * 21 + 19),  # a point where the board is larger
        (25, "", 625),
        (9, "pass", 81),
        (9, " a\nb ", 9),
    ],
)
def test_passes_and_points(size, value, action):
    assert one(f"(;SZ[{size}];B[{value}])").actions.tolist() == [action]


@pytest.mark.parametrize(
    ("text", "reason", "place"),
    [
        ("(;SZ[16:8];B[aa])", "board not square", "line 1"),
        ("(;SZ[999999999];B[aa])", "board size not supported", "line 1"),
        ("(;GM[3];B[aa])", "not a game of Go", "line 1"),
        ("(;SZ[9]\n;B[aa]\n ;W[jj])", "bad point", "line 3, column 2"),
        ("(;B[D4])", "bad point", "move 1"),
        ("(;SZ[19];B[aa];W[b])", "bad point", "move 2"),
        ("(;SZ[9]AB[aa:zz])", "bad point", "AB"),
        ("nothing", "no game", "line 1"),
    ],
)
def test_refused_with_the_place(text, reason, place):
    with pytest.raises(SgfError, match=place) as caught:
        read_sgf(text)
    assert caught.value.reason == reason


def test_compressed_points_and_erasing():
    record = one("(;SZ[9]AB[aa:bb][ii];AE[bb]AW[cc];W[dd])")
    assert record.black == (0, 1, 9, 80)
    assert record.white == (2 * 9 + 2,)
    assert one("(;SZ[9]AB[bb:aa])").black == (0, 1, 9, 10)


def test_set_up_after_a_move_ends_the_record():
    record = one("(;SZ[9];B[aa];W[bb];AW[cc];B[dd])")
    assert len(record) == 2 and record.white == ()
    assert kinds(record) == ["set-up after a move"]


def test_header_before_the_first_move_and_result_after_it():
    record = one("(;GM[1];SZ[9]KM[5.5];B[aa];W[bb]RE[B+R]KM[9])")
    assert (record.size, record.komi, str(record.result)) == (9, 5.5, "B+R")
    # The first that says it counts.
    assert one("(;KM[1];KM[2];B[aa])").komi == 1


def test_handicap_as_a_stream_of_moves():
    record = one("(;SZ[9]HA[3];B[cc];B[gg];B[gc];W[ee];B[dd])")
    assert (record.handicap, record.num_handicap_moves) == (3, 3)
    assert record.warnings == ()
    unstated = one("(;SZ[9];B[cc];B[gg];W[ee])")
    assert (unstated.handicap, unstated.num_handicap_moves) == (2, 2)
    assert kinds(one("(;SZ[9];B[cc];W[gg];W[ee])")) == ["colours do not alternate"]


@pytest.mark.parametrize(
    ("header", "handicap", "kind"),
    [
        ("HA[1]", 0, []),
        ("HA[text]", 2, ["handicap unreadable", "handicap inferred"]),
        ("", 2, ["handicap inferred"]),
        ("HA[2]", 2, []),
    ],
)
def test_handicap_headers(header, handicap, kind):
    stones = "" if header == "HA[1]" else "AB[cc][gg]"
    colour = "B" if header == "HA[1]" else "W"
    record = one(f"(;SZ[9]{header}{stones};{colour}[ee])")
    assert (record.handicap, kinds(record)) == (handicap, kind)
    assert record.to_play == (1 if header == "HA[1]" else -1)


def test_handicap_without_stones_is_said():
    record = one("(;HA[3];W[dd];B[pp])")
    assert record.handicap == 3 and kinds(record) == ["handicap without stones"]


@pytest.mark.parametrize(
    ("header", "to_play"), [("PL[W]", -1), ("PL[2]", -1), ("PL[black]", 1), ("", 1)]
)
def test_player_of_a_position(header, to_play):
    assert one(f"(;SZ[9]{header}AB[aa]AW[bb])").to_play == to_play


def test_fox_komi_and_unreadable_komi():
    assert one("(;KM[375];B[aa])").komi == 7.5
    record = one("(;KM[];B[aa])")
    assert (record.komi, record.komi_text) == (None, "")
    assert kinds(record) == ["komi unreadable"]


def test_one_bad_game_of_a_collection():
    games = list(iter_games("(;B[aa])(;B[zz])(;B[bb])"))
    assert [isinstance(game, SgfError) for game in games] == [False, True, False]
    last = games[2]
    assert isinstance(last, GameRecord) and last.source.game == 2


def test_random_plies_of_own_games():
    record = one("(;SZ[9]C[random: 1 2 9; GNU Go says B+1];B[aa];W[bb])")
    assert record.random_plies == (0, 1)  # the game ends before the ninth
    assert one("(;C[random walks];B[aa])").random_plies == ()


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        ("柯洁 古力 常昊", "gb18030", ""),
        ("柯洁", "gb18030", "GB2312"),
        ("山本 武宮正樹", "cp932", ""),
        ("武宮正樹", "cp932", "MS_KANJI"),
        ("이창호 조훈현 유창혁", "cp949", ""),
        ("이세돌", "cp949", "EUC-KR"),
        ("Jan Hrabánek", "latin-1", ""),
        ("Törmänen", "cp1252", "windows-1252"),
        ("柯洁", "utf-8", ""),
        ("柯洁", "utf-8", "GB2312"),  # a lie
        ("柯洁", "utf-16", ""),
        ("柯洁", "utf-8-sig", "UTF-8"),
    ],
)
def test_encodings(text, codec, charset):
    ca = f"CA[{charset}]" if charset else ""
    data = f"(;SZ[9]{ca}PB[{text}];B[aa];W[bb])".encode(codec)
    record = one(data)
    assert record.players[0] == text
    assert record.actions.tolist() == [0, 10]


def test_undecodable_text_never_loses_moves():
    rng = np.random.default_rng(1)
    moves = "".join(f";B[{c}a];W[{c}b]" for c in "abcdefghi").encode()
    for charset in (b"", b"CA[UTF-8]", b"CA[GBK]", b"CA[Shift_JIS]", b"CA[foo]"):
        for _ in range(100):
            name = rng.integers(128, 256, rng.integers(1, 9)).astype(np.uint8).tobytes()
            record = one(b"(;SZ[9]" + charset + b"PB[" + name + b"]" + moves + b")")
            assert len(record) == 18


def random_record(rng) -> GameRecord:
    size = int(rng.integers(2, 26))
    points = rng.permutation(size * size)[: rng.integers(0, 4)].tolist()
    black, white = tuple(sorted(points[:2])), tuple(sorted(points[2:]))
    actions = rng.integers(0, size * size + 1, rng.integers(1, 40)).astype(np.int16)
    colours = rng.choice(np.array([1, -1], np.int8), len(actions))
    texts = ["", "x", "a ] b", "back\\", "né 白", "colon: ;B[aa]", "(;"]
    results = [(1, 2.5, "score"), (-1, None, "resign"), (0, 0.0, "score")]
    return GameRecord(
        size=size,
        actions=actions,
        colours=colours,
        black=black,
        white=white,
        to_play=int(colours[0]),
        komi=float(rng.integers(-20, 20)) / 2,
        handicap=int(rng.choice([0, 2, 9])),
        rules=str(rng.choice(texts)) or None,
        result=Result(*results[rng.integers(3)]),
        players=(str(rng.choice(texts)), str(rng.choice(texts))),
        ranks=("9d", ""),
        date="2001-02-03",
        event=str(rng.choice(texts)),
        comment=str(rng.choice(texts)),
    )


def test_written_records_are_read_back():
    rng = np.random.default_rng(2)
    changing = ("handicap", "komi_text", "warnings")
    for _ in range(300):
        record = random_record(rng)
        text = to_sgf(record)
        again = one(text.encode())
        assert fields(again, *changing) == fields(record, *changing)
        if record.handicap:
            assert again.handicap == record.handicap


def test_comments_have_no_blank_lines():
    record = one("(;SZ[9];B[aa];W[bb])")
    text = to_sgf(record, {0: "one\n\n\ntwo", 2: "end ]"})
    assert "\n\n" not in text
    assert one(text).comment == "one two"
    assert text.endswith("C[end \\]])")
    with pytest.raises(ValueError, match="after moves"):
        to_sgf(record, {3: "beyond"})


def plain_lines(rng, count):
    """Lines near the plain form, most of them in it."""
    pieces = ["SZ[9]", "SZ[19]", "KM[375]", "KM[]", "RE[B+R]", "HA[2]", "AB[aa][bb]",
              "AW[cc]", "PL[W]", "PB[né]", "GM[1]", "GM[3]", "SZ[9:8]", "CA[UTF-8]",
              "CA[GBK]", "DT[2000,01]", "C[random: 1]", "B[aa]", "KM[1]KM[2]", "AB[zz]",
              "PW[x][y]", "AE[aa]", "PB[a\\]b]", "HA[x]", "AB[aa:cc]"]  # fmt: skip
    moves = [";B[aa]", ";W[bb]", ";B[tt]", ";W[]", ";B[ii]", ";W[ss]", ";B[zz]", "\n"]
    weights = np.array([8, 8, 1, 0.3, 4, 0.3, 0.1, 0.2])
    for _ in range(count):
        header = "".join(rng.choice(pieces, rng.integers(0, 5), replace=False))
        chosen = rng.choice(moves, rng.integers(0, 12), p=weights / weights.sum())
        yield f"(;{header}{''.join(chosen)})\n".encode()


def test_fast_reader_equals_the_full_one():
    fast = 0
    for line in plain_lines(np.random.default_rng(3), 1500):
        record = read_plain(line)
        if record is None:
            continue
        fast += 1
        assert fields(record) == fields(one(line))
    assert fast > 250


def test_mutated_files_raise_nothing_but_sgf_errors():
    rng = np.random.default_rng(4)
    seeds = [BASE.encode(), BASE.encode("gb18030"), b"(;SZ[9]AB[aa:cc];B[dd](;W[ee]))"]
    letters = np.frombuffer(b"()[];:\\BWASZKMHRE0919 \n\xff\x81aat", np.uint8)
    outcomes = set()
    for _ in range(1500):
        data = np.frombuffer(seeds[rng.integers(3)], np.uint8).copy()
        for _ in range(rng.integers(1, 6)):
            data[rng.integers(len(data))] = rng.choice(letters)
        cut = bytes(data[: rng.integers(len(data) // 2, len(data) + 1)])
        for game in iter_games(cut):  # never raises
            outcomes.add(type(game))
    assert outcomes == {GameRecord, SgfError}
