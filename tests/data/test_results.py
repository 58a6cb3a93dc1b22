"""What RE, KM, SZ, HA, DT, BR and WR mean in the forms that files have."""

import pytest

from alphago_jax.data import headers
from alphago_jax.data.results import Result, parse_points, parse_result

RESULTS = {
    "B+3.5": (1, 3.5, "score"),
    "W+R": (-1, None, "resign"),
    "w+resign": (-1, None, "resign"),
    "B+Resignation": (1, None, "resign"),
    "W + 0.5 ": (-1, 0.5, "score"),
    "Ｂ＋Ｒ": (1, None, "resign"),
    "B+T": (1, None, "time"),
    "W+Time": (-1, None, "time"),
    "B+F": (1, None, "forfeit"),
    "W+bye": (-1, None, "forfeit"),
    "B+": (1, None, "unknown"),
    "W+0.0": (-1, None, "unknown"),
    "W+ (but Black does not lose)": (-1, None, "unknown"),
    "W+6 3/5": (-1, 6.6, "score"),
    "B+5½": (1, 5.5, "score"),
    "W+1半": (-1, 1.5, "score"),
    "W+11.5?": (-1, 11.5, "score"),
    "B+12,5": (1, 12.5, "score"),
    "0": (0, 0.0, "score"),
    "Draw": (0, 0.0, "score"),
    "Jigo": (0, 0.0, "score"),
    "和棋": (0, 0.0, "score"),
    "持碁": (0, 0.0, "score"),
    "무승부": (0, 0.0, "score"),
    "Void": (None, None, "void"),
    "Both lost": (None, None, "void"),
    "無勝負": (None, None, "void"),
    "?": (None, None, "unknown"),
    "": (None, None, "unknown"),
    "Unfinished": (None, None, "unknown"),
    "Not played": (None, None, "unknown"),
    "Y+": (None, None, "unknown"),
    "白胜43.5目": (-1, 43.5, "score"),
    "黑胜3目半": (1, 3.5, "score"),
    "黑胜三目半": (1, 3.5, "score"),
    "白勝二十一目": (-1, 21.0, "score"),
    "白半目胜": (-1, 0.5, "score"),
    "黑胜1/4子": (1, 0.5, "score"),
    "黑胜三又四分之一子": (1, 6.5, "score"),
    "黑中盘胜": (1, None, "resign"),
    "白中押勝ち": (-1, None, "resign"),
    "黒中押し勝ち": (1, None, "resign"),
    "黒2目半勝": (1, 2.5, "score"),
    "白超时负": (1, None, "time"),
    "黑超时负，白胜": (-1, None, "time"),
    "白時間切れ負け": (1, None, "time"),
    "黑弃权": (None, None, "unknown"),
    "흑불계승": (1, None, "resign"),
    "백 2집반승": (-1, 2.5, "score"),
    "흑 불계패": (-1, None, "resign"),
    "흑 시간승": (1, None, "time"),
    "black wins by 5 3/4 points": (1, 5.75, "score"),
    "White wins by resignation": (-1, None, "resign"),
    "white lost by 3 points": (1, 3.0, "score"),
    "Black won on time": (1, None, "time"),
    "john wins": (None, None, "unknown"),
}


@pytest.mark.parametrize("text", RESULTS)
def test_result(text):
    assert parse_result(text) == Result(*RESULTS[text])


@pytest.mark.parametrize("text", ["B+3.5", "W+R", "B+T", "W+F", "0", "Void", "?", "B+"])
def test_standard_form_is_written_back(text):
    assert str(parse_result(text)) == text


def test_by_play_is_no_time_loss():
    by_play = {text for text in RESULTS if parse_result(text).by_play}
    assert {"B+3.5", "W+R", "Jigo", "白胜43.5目"} <= by_play
    assert not {"B+T", "W+bye", "B+", "Void", "?", "W+0.0"} & by_play


@pytest.mark.parametrize(
    ("text", "points"),
    [("6.5", 6.5), ("3 3/4", 3.75), ("¼子", 0.5), ("12目", 12.0), ("none", None)],
)
def test_points(text, points):
    assert parse_points(text) == points


KOMI = {
    "6.5": 6.5, "7.500000": 7.5, "375": 7.5, "750": 7.5, "650": 6.5, "325": 6.5,
    "3.75": 7.5, "0": 0.0, "-5.5": -5.5, "6,5": 6.5, "5 1/2": 5.5, "5½": 5.5,
    "90": 90.0, "": None, "none": None, "9" * 50: None, "nan": None, "3目半": 3.5,
}  # fmt: skip


@pytest.mark.parametrize("text", KOMI)
def test_komi(text):
    assert headers.parse_komi(text) == KOMI[text]


@pytest.mark.parametrize(
    ("text", "stones"),
    [
        ("0", 0),
        ("1", 0),
        ("2", 2),
        ("", 0),
        ("9 stones", 9),
        ("text", None),
        ("999", None),
    ],
)
def test_handicap(text, stones):
    assert headers.parse_handicap(text) == stones


def test_size():
    assert [headers.parse_size(t) for t in ("19", " 9 ", "13:13", "")] == [
        19,
        9,
        13,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("16:8", "not square"),
        ("999999999", "not supported"),
        ("9" * 5000, "bad board size"),
        ("-10", "bad board size"),
        ("1", "not supported"),
        ("26", "not supported"),
        ("x", "bad board size"),
    ],
)
def test_size_refused(text, reason):
    with pytest.raises(headers.HeaderError, match=reason):
        headers.parse_size(text)


DATES = {
    "1934-04-11,12": "1934-04-11", "2017.06.21 21:45": "2017-06-21", "1955": "1955",
    "ca. 1680": "1680", "c. 950": "0950", "Summer 1785": "1785", "1700s": "1700",
    "1846-09": "1846-09", "20-08-2003": "2003-08-20", "2016年10月13日": "2016-10-13",
    "昭和52年3月4日": "1977-03-04", "明治元年": "1868", "1961-99-99": "1961",
    "2020-02-13T10:00:00": "2020-02-13", "0000-00-00": None, "?": None, "": None,
    "a sunny afternoon": None, "1962-05-03,1962-06-04": "1962-05-03",
}  # fmt: skip


@pytest.mark.parametrize("text", DATES)
def test_date(text):
    assert headers.parse_date(text) == DATES[text]


RANKS = {
    "9d": 9, "1d*": 1, "9段": 9, "P9": 18, "P9段": 18, "9p": 18, "1p": 10, "1k": 0,
    "17k": -16, "15级": -14, "初段": 1, "九段": 9, "9p, Honinbo": 18, "Meijin": 18,
    "5d ama": 5, "9 dan pro": 18, "5단": 5, "18급": -17, "NR": None, "": None,
    "ama": None,
}  # fmt: skip


@pytest.mark.parametrize("text", RANKS)
def test_rank(text):
    assert headers.rank_number(text) == RANKS[text]
