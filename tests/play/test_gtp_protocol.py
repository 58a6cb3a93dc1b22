"""The framing of GTP: what the specification fixes to the byte."""

import io
import random

import pytest

from alphago_jax.play.gtp.protocol import (
    CommandError,
    Request,
    answer,
    format_reply,
    parse,
    serve,
)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("play b D4\n", Request("", "play", ["b", "D4"])),
        ("12 play b D4\r\n", Request("12", "play", ["b", "D4"])),
        ("\tplay\tb\tD4\t\n", Request("", "play", ["b", "D4"])),
        ("  007   name  \n", Request("007", "name", [])),
        ("komi 6.5 # a comment\n", Request("", "komi", ["6.5"])),
        ("name#comment", Request("", "name", [])),
        ("na\x00m\x07e\x7f\n", Request("", "name", [])),
        ("12\n", Request("12", "", [])),
        ("12x name\n", Request("", "12x", ["name"])),
        ("-1 name\n", Request("", "-1", ["name"])),
        ("loadsgf caf\u00e9\u00a0x.sgf\n", Request("", "loadsgf", ["café\u00a0x.sgf"])),
    ],
)
def test_parse(line, request_):
    assert parse(line) == request_


@pytest.mark.parametrize(
    "line", ["", "\n", "  \t \r\n", "# name\n", "  # 1 name\n", "\x00"]
)
def test_nothing_is_asked(line):
    assert parse(line) is None


@pytest.mark.parametrize(
    ("arguments", "reply"),
    [
        (("", True, ""), "=\n\n"),
        (("12", True, ""), "=12\n\n"),
        (("", True, "D4"), "= D4\n\n"),
        (("3", False, "illegal move"), "?3 illegal move\n\n"),
        (("", True, "a\n\n\nb\n"), "= a\nb\n\n"),
        (("", True, "\n  A B\n2 . .  \n \n1 X O"), "=\n  A B\n2 . .\n1 X O\n\n"),
        (("", True, "a\r\nb\x0cc\x00\td"), "= a\nb\nc d\n\n"),
    ],
)
def test_reply(arguments, reply):
    assert format_reply(*arguments) == reply


def handler(name: str, arguments: list[str]) -> str:
    if name == "refuse":
        raise CommandError("no")
    if name == "silent":
        raise CommandError
    if name == "fail":
        raise RuntimeError("two\n\nlines")
    return " ".join([name, *arguments])


def run(text: bytes) -> bytes:
    output = io.BytesIO()
    serve(handler, io.BytesIO(text), output)
    return output.getvalue()


def test_serve_answers_each_command_once():
    text = b"1 a\n\n# c\nb x\n3\n4 refuse\nsilent\nquit\nafter\n"
    expected = b"=1 a\n\n= b x\n\n?3 unknown command\n\n?4 no\n\n? failed\n\n= quit\n\n"
    assert run(text) == expected


def test_end_of_input_without_newline_or_quit():
    assert run(b"name") == b"= name\n\n"
    assert run(b"") == b""


def test_a_fault_is_one_reply(caplog):
    reply = answer(Request("7", "fail", []), handler)
    assert reply == "?7 internal error: RuntimeError: two lines\n\n"
    assert "fail failed" in caplog.text  # with its traceback, on standard error


def test_any_bytes_give_one_well_formed_reply_a_request():
    rng = random.Random(0)
    alphabet = [b"1", b"9", b" ", b"\t", b"\r", b"#", b"a", b"refuse", b"\xff", b"\x00"]
    for _ in range(500):
        line = b"".join(rng.choices(alphabet, k=rng.randrange(12)))
        reply = run(line + b"\n").decode()
        if parse(line.decode(errors="replace")) is None:
            assert reply == ""
        else:
            assert reply[0] in "=?" and reply.endswith("\n\n")
            assert reply.count("\n\n") == 1
