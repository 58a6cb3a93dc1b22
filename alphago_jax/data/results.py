"""What the RE property says: who won, by how much, and how.

Written results are English, Chinese, Japanese or Korean, of the standard's form or
free. Nothing is guessed: what cannot be read is unknown.
"""

import functools
import re
import unicodedata
from fractions import Fraction
from typing import Literal, NamedTuple

Reason = Literal["score", "resign", "time", "forfeit", "void", "unknown"]
REASONS: tuple[Reason, ...] = (
    "score",
    "resign",
    "time",
    "forfeit",
    "void",
    "unknown",
)


class Result(NamedTuple):
    """Result of a game.

    Attributes:
      winner: +1 Black, −1 White, 0 a draw, None unknown or none.
      margin: points won by, None where not by score or not said.
      reason: how it was won; "unknown" also where only the winner is known.
    """

    winner: int | None
    margin: float | None
    reason: Reason

    @property
    def by_play(self) -> bool:
        """The winner was ahead on the board: by score, resignation or a draw."""
        return self.winner is not None and self.reason in ("score", "resign")

    def __str__(self) -> str:
        """In the standard's form: B+3.5, W+R, B+T, W+F, 0, Void or ?."""
        if self.winner is None:
            return "Void" if self.reason == "void" else "?"
        if self.winner == 0:
            return "0"
        if self.margin is not None:
            manner = f"{self.margin:g}"
        else:
            manner = {"resign": "R", "time": "T", "forfeit": "F"}.get(self.reason, "")
        return f"{'B' if self.winner > 0 else 'W'}+{manner}"


UNKNOWN = Result(None, None, "unknown")
VOID = Result(None, None, "void")
DRAW = Result(0, 0.0, "score")

_VOID = re.compile(
    r"\bvoid\b|\bboth (?:players )?los|no[- ]?result|无胜负|無勝負|무효|両負|双方负"
)
_DRAW = re.compile(r"^(?:0(?:\.0+)?$|draw|tie|jigo|持碁|和棋|和局|和$|平局|무승부|빅)")
_STANDARD = re.compile(r"^([bw])\s*\+\s*(.*)$", re.DOTALL)
_COLOUR = re.compile(r"(\bblack\b|\bb\b|黑|黒|흑|先番)|\bwhite\b|\bw\b|白|백|後番")
_WINS = re.compile(r"\bw[io]ns?\b|胜|勝|승|赢|贏")
_LOSES = re.compile(r"\blo(?:ses?|st)\b|负|負|败|敗|패")
_MANNERS: tuple[tuple[Reason, re.Pattern[str]], ...] = (
    (
        "resign",
        re.compile(
            r"^r(?:es)?\W*$|resign|中盘|中盤|中押|不计|不計|불계|认输|認輸|投了|投降"
        ),
    ),
    ("time", re.compile(r"^t\W*$|\btime|超时|超時|时间|時間|切れ|逾时|逾時|시간")),
    (
        "forfeit",
        re.compile(
            r"^f\W*$|forfeit|default|walkover|\bbye\b|弃权|棄権|棄權|不戦|不战|不戰|反則"
            r"|犯规|犯規|기권|반칙"
        ),
    ),
)
_CJK_DIGITS = {letter: value for value, letter in enumerate("零一二三四五六七八九")}
_CJK_DIGITS["两"] = 2
_FRACTIONS = {"四分之一": "1/4", "二分之一": "1/2", "四分之三": "3/4"}
_NUMBER = r"(\d{1,4}(?:[.,]\d{1,12})?)"
_AMOUNT = re.compile(rf"(?:{_NUMBER}[\s又と]+)?(\d)/(\d)|{_NUMBER}")
_VULGAR = {"½": " 1/2", "¼": " 1/4", "¾": " 3/4"}


@functools.lru_cache(maxsize=4096)
def parse_result(text: str) -> Result:
    """The result that a text states; `UNKNOWN` if it cannot be read."""
    text = fold(text).lower()
    if not text:
        return UNKNOWN
    if _VOID.search(text):
        return VOID
    if _DRAW.search(text):
        return DRAW
    standard = _STANDARD.match(text)
    if standard is not None:
        return _won(1 if standard[1] == "b" else -1, standard[2])
    winner = _winner(text)
    return UNKNOWN if winner is None else _won(winner, text)


def _winner(text: str) -> int | None:
    """The winner in free text: the colour that stands before "wins" or "loses"."""
    for sign, verb in ((1, _WINS.search(text)), (-1, _LOSES.search(text))):
        if verb is not None:
            before = list(_COLOUR.finditer(text, 0, verb.start()))
            named = before[-1] if before else _COLOUR.search(text, verb.end())
            return None if named is None else sign * (1 if named[1] else -1)
    named = _COLOUR.search(text)
    stated = named is not None and (" by " in text or parse_points(text))
    return (1 if named[1] else -1) if named is not None and stated else None


def _won(winner: int, manner: str) -> Result:
    if manner.startswith(("score", "point")):
        return Result(winner, None, "score")
    for reason, pattern in _MANNERS:
        if pattern.search(manner):
            return Result(winner, None, reason)
    margin = parse_points(manner)
    if margin is None or margin == 0:
        return Result(winner, None, "unknown")
    return Result(winner, margin, "score")


def parse_points(text: str) -> float | None:
    """An amount of points in free text: 3.5, 5 3/4, 3目半, 三目半, 1/4子 (stones).

    Chinese stones (子) count two points each.
    """
    plain = fold(text)
    for words, digits in _FRACTIONS.items():
        plain = plain.replace(words, " " + digits)
    plain = re.sub("[零一二三四五六七八九两十]+", _cjk_number, plain)
    found = _AMOUNT.search(plain)
    half = Fraction(1, 2) if re.search("半|반", plain) else Fraction(0)
    if found is None:
        return float(half) or None
    amount = Fraction((found[1] or found[4] or "0").replace(",", "."))
    if found[3] is not None and int(found[3]) > 0:
        amount += Fraction(int(found[2]), int(found[3]))
    stones = "子" in plain
    return float((amount + half) * (2 if stones else 1))


def fold(text: str) -> str:
    """A short text with full-width letters and vulgar fractions made plain."""
    text = text[:200]
    for letter, plain in _VULGAR.items():
        text = text.replace(letter, plain)
    return unicodedata.normalize("NFKC", text).strip()


def _cjk_number(match: re.Match[str]) -> str:
    tens, ten, ones = match[0].rpartition("十")
    if not ten:
        return "".join(str(_CJK_DIGITS[digit]) for digit in match[0] if digit != "十")
    high = _CJK_DIGITS.get(tens, 1) if tens else 1
    return str(10 * high + _CJK_DIGITS.get(ones, 0))
