"""Bulk reading: formats, reports, and nothing that stops it."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from alphago_jax.data import selection
from alphago_jax.data.archives import ReadReport, iter_records

GOOD = b"(;SZ[9]KM[7]RE[B+1];B[aa];W[bb])"
OTHER = b"(;SZ[13]RE[W+T];B[cc])"
BAD = b"(;SZ[16:8];B[aa])"


def read(paths, **options):
    report = ReadReport()
    return list(iter_records(paths, report=report, **options)), report


def test_lines_compressed_or_not(tmp_path):
    text = GOOD + b"\n\n" + BAD + b"\r\n" + OTHER  # no line break at the end
    (tmp_path / "a.sgfs").write_bytes(text)
    (tmp_path / "b.sgfs.xz").write_bytes(lzma.compress(text))
    (tmp_path / "c.sgfs.gz").write_bytes(gzip.compress(text))
    (tmp_path / "d.sgfs.bz2").write_bytes(bz2.compress(text))
    games, report = read(tmp_path)
    assert [game.size for game in games] == [9, 13] * 4
    assert [game.source.line for game in games] == [1, 4] * 4
    assert (report.read, report.files) == (8, 4)
    assert report.skipped == {"board not square": 4}
    assert [skip.source.line for skip in report.skips] == [3] * 4


def test_folders_zip_and_tar(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.SGF").write_bytes(GOOD + OTHER)
    (tmp_path / "deep" / "notes.txt").write_text("no game")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("x/one.sgf", GOOD)
        archive.writestr("bad.sgf", b"no game")
        archive.writestr("lines.sgfs.xz", lzma.compress(GOOD + b"\n" + OTHER))
        archive.writestr("read.me", b"")
    for mode in ("w", "w:gz", "w:xz", "w:bz2"):
        suffix = mode[2:] and "." + mode[2:]
        with tarfile.open(tmp_path / f"c.tar{suffix}", mode) as archive:
            member = tarfile.TarInfo("in/two.sgf")
            member.size = len(OTHER)
            archive.addfile(member, io.BytesIO(OTHER))
    games, report = read([tmp_path])
    assert [game.size for game in games] == [9, 9, 13] + [13] * 4 + [9, 13]
    assert (report.read, report.ignored) == (9, 2)
    assert report.skipped == {"no game": 1}
    assert str(report.skips[0].source).endswith("b.zip/bad.sgf")


def test_damage_is_skipped_and_reported(tmp_path):
    packed = lzma.compress((GOOD + b"\n") * 5000)
    (tmp_path / "a.sgfs.xz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 not a zip")
    (tmp_path / "c.tar.gz").write_bytes(b"not a tar")
    (tmp_path / "d.sgf").write_bytes(b"")
    (tmp_path / "e.sgfs.gz").write_bytes(b"\x1f\x8b broken")
    (tmp_path / "f.sgf").write_bytes(GOOD)
    games, report = read(tmp_path)
    assert any(str(game.source).endswith("f.sgf") for game in games)
    assert report.skipped["unreadable file"] == 4
    assert report.skipped["no game"] == 1
    assert "unreadable file" in str(report) and "a.sgfs.xz" in str(report)


def test_a_wrong_path_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        iter_records(tmp_path / "absent")


def test_filters_are_counted(tmp_path):
    (tmp_path / "a.sgf").write_bytes(GOOD + OTHER + b"(;SZ[9];B[aa])")
    filters = [selection.by_size(9), selection.decided_by_play]
    games, report = read(tmp_path / "a.sgf", keep=filters)
    assert len(games) == 1 == report.read
    assert report.rejected == {"size in (9,)": 1, "decided_by_play": 1}


def test_warnings_are_counted_once_a_game(tmp_path):
    (tmp_path / "any name").write_bytes(b"junk (;KM[]HA[x];B[aa])")
    _, report = read([tmp_path / "any name"])
    assert report.warnings == {
        "junk": 1,
        "komi unreadable": 1,
        "handicap unreadable": 1,
    }
