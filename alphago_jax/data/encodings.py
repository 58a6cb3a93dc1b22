"""The encoding of a game file: declared, declared wrongly, or not at all.

Bytes become text with every move kept: a decoding that would swallow one (the
second byte of a GBK or Shift-JIS character may be a bracket) is not taken.
"""

import codecs
import re

# What CA[] says -> a codec that reads it and its supersets.
_CODECS = {
    "gb": "gb18030",
    "cp936": "gb18030",
    "hz": "hz",
    "big5": "big5hkscs",
    "cp950": "cp950",
    "euckr": "cp949",
    "kscp": "cp949",
    "ksc": "cp949",
    "cp949": "cp949",
    "uhc": "cp949",
    "sjis": "cp932",
    "shiftjis": "cp932",
    "mskanji": "cp932",
    "xsjis": "cp932",
    "windows31j": "cp932",
    "cp932": "cp932",
    "eucjp": "euc_jp",
    "iso2022jp": "iso2022_jp",
    "utf8": "utf-8",
    "ascii": "latin-1",
    "usascii": "latin-1",
    "latin": "latin-1",
    "iso8859": "",  # the name itself is a codec
    "windows125": "",
    "cp125": "",
    "koi8": "",
}
_DECLARED = re.compile(rb"(?<![A-Z])CA\s*+\[([^\]\[]{1,40})\]")
# Matches at every bracket, closed or not, so that scanning stays linear.
_VALUE = re.compile(r"([BW]?)\[([^\]\\]*+(?:\\.?[^\]\\]*+)*+)(?:\]|\Z)", re.DOTALL)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 4000  # characters looked at when guessing
_PLAUSIBLE = 0.6  # share of likely characters that makes a guess
_HANGUL_BONUS = 0.1


def decode(data: bytes) -> tuple[str, str | None]:
    """Text of a file, and a remark where its encoding was not as it should be.

    In this order: byte order mark; UTF-16 without one; what `CA` declares, unless
    the bytes are clearly UTF-8; UTF-8; UTF-8 with some broken characters; the most
    likely of GB18030, EUC-KR, Shift-JIS, Big5 and Latin-1. Never fails.
    """
    wide = _wide_codec(data)
    if wide is not None:
        return data.decode(wide, "replace").lstrip("\ufeff"), None
    if data.isascii():
        return data.decode("ascii"), None
    declared = declared_codec(data[:4096])
    utf8 = _strictly(data, "utf-8")
    if utf8 is not None and (declared in (None, "utf-8") or max(utf8) >= "\u0800"):
        wrong = declared not in (None, "utf-8")
        return utf8, f"declared {declared}, is UTF-8" if wrong else None
    if declared not in (None, "utf-8"):
        text = _strictly(data, declared)
        if text is not None:
            return text, None
    broken = _mostly_utf8(data)
    if broken is not None:
        return broken, "UTF-8 with broken characters"
    codec = _likely_codec(data)
    if codec is not None:
        return data.decode(codec), f"declared {declared or 'nothing'}, read as {codec}"
    # Latin-1 keeps every ASCII byte where it is, so that the moves are all there.
    return data.decode("latin-1"), "of no known encoding, read as latin-1"


def declared_codec(head: bytes) -> str | None:
    """Python's name of the codec that a file's CA property means, None if none."""
    found = _DECLARED.search(head)
    if found is None:
        return None
    written = found[1].decode("latin-1").strip().lower()
    name = re.sub(r"[^a-z0-9]", "", written)
    for prefix, codec in _CODECS.items():
        if name.startswith(prefix):
            try:
                return codecs.lookup(codec or written).name if not codec else codec
            except (LookupError, ValueError):
                return None
    return None


def _wide_codec(data: bytes) -> str | None:
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return codec
    head = data[:400]
    zeros = head.count(0)
    if zeros * 3 > len(head):
        return "utf-16-le" if head[1::2].count(0) * 2 > zeros else "utf-16-be"
    return None


def _strictly(data: bytes, codec: str | None) -> str | None:
    """The text, None if the bytes are not of this encoding or a move is lost."""
    if codec is None:
        return None
    try:
        text = data.decode(codec)
    except (UnicodeError, ValueError):
        return None
    if codec == "utf-8":  # no ASCII byte is ever part of a character
        return text
    return text if _moves(text) >= _moves(data.decode("latin-1")) else None


def _moves(text: str) -> int:
    """Values that look like moves, outside other values."""
    return sum(bool(name) and len(value) <= 2 for name, value in _VALUE.findall(text))


def _mostly_utf8(data: bytes) -> str | None:
    text = data.decode("utf-8", "replace")
    written = data.count(b"\xef\xbf\xbd")
    bad = text.count("\ufffd") - written
    good = sum(letter >= "\u0800" for letter in text) - bad
    return text if good >= 2 * bad else None


def _likely_codec(data: bytes) -> str | None:
    """The codec under which the text has the most common characters."""
    best, best_share = None, _PLAUSIBLE
    for codec, share_of in _LIKELIHOOD:
        text = _strictly(data, codec)
        if text is None:
            continue
        share = share_of(text, codec)
        if share > best_share:
            best, best_share = codec, share
    return best


def _common_lead(first: int, last: int, trail: int):
    """Share of characters whose first byte lies among the common ones' rows."""

    def share(text: str, codec: str) -> float:
        letters = [x for x in text if x > "\x7f"][:_SAMPLE]
        codes = [letter.encode(codec) for letter in letters]
        likely = [
            len(c) == 2 and first <= c[0] <= last and c[1] >= trail for c in codes
        ]
        return sum(likely) / max(1, len(likely))

    return share


def _hangul(text: str, codec: str) -> float:
    del codec
    letters = [x for x in text if x > "\x7f"][:_SAMPLE]
    share = sum("\uac00" <= x <= "\ud7a3" for x in letters) / max(1, len(letters))
    # Korean is plausible Chinese too; Chinese is hardly ever all Hangul.
    return share + (_HANGUL_BONUS if len(letters) >= 6 and share > 0.95 else 0.0)


def _japanese(text: str, codec: str) -> float:
    letters = [x for x in text if x > "\x7f"][:_SAMPLE]
    likely = 0
    for letter in letters:
        code = letter.encode(codec)
        kana = "\u3040" <= letter <= "\u30ff"
        likely += kana or (len(code) == 2 and 0x88 <= code[0] <= 0x97)
    return likely / max(1, len(letters))


_NAME_LETTER = re.compile(r"(?:[A-Za-z ][\xc0-\xff]|[\xc0-\xff][a-z])")


def _western(text: str, codec: str) -> float:
    del codec
    letters = [x for x in text if x > "\x7f"]
    return len(_NAME_LETTER.findall(text)) / max(1, len(letters))


# In the order of preference where shares are equal.
_LIKELIHOOD = (
    ("gb18030", _common_lead(0xB0, 0xD7, 0xA1)),
    ("cp949", _hangul),
    ("cp932", _japanese),
    ("big5hkscs", _common_lead(0xA4, 0xC6, 0x40)),
    ("latin-1", _western),
)
