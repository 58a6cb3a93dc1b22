"""Komi, handicap, board size, date and rank as game files write them."""

import functools
import re

from alphago_jax.data.results import fold, parse_points

MIN_SIZE, MAX_SIZE = 2, 25
MAX_KOMI = 400.0
MAX_HANDICAP = 25

_SIZE = re.compile(r"^(\d{1,9})(?:\s*[:x×,]\s*(\d{1,9}))?$")
_SIGNED = re.compile(r"^[-+]?\d{1,9}(?:[.,]\d{1,12})?$")
_NUMERAL = re.compile(r"^[-+\d.,]*$")
_DIGITS = re.compile(r"\d{1,9}")
_YEAR_FIRST = re.compile(
    r"(?<!\d)(\d{4})(?:\s*[-./年]\s*(\d{1,2})(?!\d)(?:\s*[-./月]\s*(\d{1,2})(?!\d))?)?"
)
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})[-./](\d{1,2})[-./](\d{4})(?!\d)")
_OLD_YEAR = re.compile(r"^\D{0,4}(\d{3})\D*$")
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_ERA = re.compile(
    rf"({'|'.join(_ERAS)})\s*(\d{{1,2}}|元)年?(?:(\d{{1,2}})月(?:(\d{{1,2}})日)?)?"
)
_LAST_YEAR = 2200
_TITLES = re.compile(
    r"honinbo|meijin|kisei|judan|tengen|oza|gosei|guksu|本因坊|名人|棋聖|十段|天元|王座|碁聖"
)
_RANK = re.compile(
    r"(?:(pro|p|프로)\s*)?(\d{1,2}|[初一二三四五六七八九])\s*-?\s*"
    r"(dan|kyu|gup|[dkp段级級단급])?\s*\*?\??\s*(ama|pro)?"
)
_PROFESSIONAL = 9  # a professional's 1p counts like 10 dan


class HeaderError(ValueError):
    """A board that cannot be read: the reason, and what was found."""

    def __init__(self, reason: str, detail: str):
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


@functools.lru_cache(maxsize=256)
def parse_size(text: str) -> int | None:
    """Board side; None where the property is empty.

    Raises:
      HeaderError: if the board is not square, beyond 2 to 25, or unreadable.
    """
    text = text.strip()
    if not text:
        return None
    found = _SIZE.match(text)
    if found is None:
        raise HeaderError("bad board size", f"SZ[{text[:40]}]")
    columns = int(found[1])
    if found[2] is not None and int(found[2]) != columns:
        raise HeaderError("board not square", f"SZ[{text[:40]}]")
    if not MIN_SIZE <= columns <= MAX_SIZE:
        detail = f"SZ[{text[:40]}], {MIN_SIZE} to {MAX_SIZE} are"
        raise HeaderError("board size not supported", detail)
    return columns


@functools.lru_cache(maxsize=1024)
def parse_komi(text: str) -> float | None:
    """Komi in points; None if it is empty or makes no sense.

    Fox writes hundredths, of points or of Chinese stones: 750 and 375 (3¾ stones)
    both mean 7.5. Quarters are always stones, for points come in halves.
    """
    text = fold(text)
    if _SIGNED.match(text):
        komi = float(text.replace(",", "."))
    else:
        # Free text only: a number of absurd length is not cut to something sane.
        amount = None if _NUMERAL.match(text) else parse_points(text)
        if amount is None:
            return None
        komi = -amount if text.startswith("-") else amount
    if abs(komi) >= 100 and komi == int(komi):
        komi /= 100
    if (komi * 4) % 2 == 1:
        komi *= 2
    return komi if abs(komi) <= MAX_KOMI else None


@functools.lru_cache(maxsize=256)
def parse_handicap(text: str) -> int | None:
    """Handicap stones; 0 for none, one, or nothing written; None if unreadable."""
    text = fold(text)
    if not text:
        return 0
    found = _DIGITS.search(text)
    if found is None or text.startswith("-"):
        return None
    stones = int(found[0])
    if stones > MAX_HANDICAP:
        return None
    return stones if stones >= 2 else 0


@functools.lru_cache(maxsize=65536)
def parse_date(text: str) -> str | None:
    """First date in a text, as YYYY, YYYY-MM or YYYY-MM-DD; None if there is none."""
    text = fold(text)
    era = _ERA.search(text)
    if era is not None:
        number = 1 if era[2] == "元" else int(era[2])
        return _iso(_ERAS[era[1]] + number, era[3], era[4])
    day_first = _DAY_FIRST.search(text)
    if day_first is not None:
        return _iso(int(day_first[3]), day_first[2], day_first[1])
    found = _YEAR_FIRST.search(text)
    if found is not None:
        return _iso(int(found[1]), found[2], found[3])
    old = _OLD_YEAR.match(text.strip())
    return None if old is None else _iso(int(old[1]), None, None)


def _iso(year: int, month: str | None, day: str | None) -> str | None:
    if not 1 <= year <= _LAST_YEAR:
        return None
    date = f"{year:04d}"
    if month is None or not 1 <= int(month) <= 12:
        return date
    date += f"-{int(month):02d}"
    if day is None or not 1 <= int(day) <= 31:
        return date
    return f"{date}-{int(day):02d}"


@functools.lru_cache(maxsize=4096)
def rank_number(text: str) -> int | None:
    """A rank on one scale: 1k is 0, 1d is 1, 9d is 9, 1p is 10, 9p is 18.

    Lower kyu are negative (30k is −29). A bare number is dan; a title without a
    rank is a 9p's. None if nothing can be read.
    """
    text = fold(text).lower()
    found = _RANK.search(text)
    if found is None:
        return 18 if _TITLES.search(text) else None
    number = "〇一二三四五六七八九".find(found[2])
    number = 1 if found[2] == "初" else number
    number = int(found[2]) if number < 0 else number
    unit = found[3] or ""
    if unit in ("k", "kyu", "gup", "级", "級", "급"):
        return 1 - number
    if number > 9 or number == 0:
        return None
    professional = bool(found[1]) or unit == "p" or found[4] == "pro"
    return number + _PROFESSIONAL if professional else number
