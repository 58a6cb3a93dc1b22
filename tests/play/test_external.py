"""The client against a fake program with every kind of reply, and GNU Go."""

import os
import sys
import time

import pytest

from alphago_jax.play.external import (
    GtpError,
    GtpProcess,
    GtpProcessError,
    gnugo_command,
)

FAKE = r"""
import subprocess, sys, time
out = sys.stdout
for line in sys.stdin:
    word = line.split()[0]
    if word == "name":
        out.write("= Fake\n\n")
    elif word == "windows":
        out.write("=\ta\tb\r\n\r\n")
    elif word == "board":
        out.write("=\n  A B\n2 . .\n1 X O\n\n")
    elif word == "numbered":
        out.write("=17 D4\n\n")
    elif word == "empty":
        out.write("=\n\n")
    elif word == "refuse":
        out.write("? illegal move\n\n")
    elif word == "chatty":
        out.write("\nthinking hard\n\n= C3\n\n\n")
    elif word == "flood":
        sys.stderr.write("noise\n" * 50000 + "last noise\n")
        out.write("= done\n\n")
    elif word == "latin":
        sys.stdout.buffer.write(b"= caf\xe9\n\n")
    elif word == "hang":
        time.sleep(1000)
    elif word == "half":
        out.write("= half a reply\n")
        out.flush()
        sys.exit(4)
    elif word == "die":
        sys.stderr.write("segmentation fault\n")
        sys.exit(3)
    elif word == "quit":
        if "stubborn" in sys.argv:
            time.sleep(1000)
        out.write("=\n\n")
        out.flush()
        break
    else:
        out.write("? unknown command\n\n")
    out.flush()
"""


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    script = tmp_path_factory.mktemp("fake") / "fake.py"
    script.write_text(FAKE)
    return [sys.executable, str(script)]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("command", "reply"),
    [
        ("name", "Fake"),
        ("windows", "a b"),
        ("board", "A B\n2 . .\n1 X O"),
        ("numbered", "D4"),
        ("empty", ""),
        ("chatty", "C3"),
        ("flood", "done"),
        ("latin", "caf\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_replies(fake, command, reply):
    with GtpProcess(fake) as program:
        assert program.send(command) == reply
        assert program.send("name") == "Fake"  # still in step


def test_a_refusal_is_an_error_and_the_program_lives_on(fake):
    with GtpProcess(fake) as program:
        with pytest.raises(GtpError, match="illegal move") as caught:
            program.send("refuse")
        assert (caught.value.command, caught.value.reply) == ("refuse", "illegal move")
        assert program.is_running
        assert program.send("name") == "Fake"


@pytest.mark.parametrize(("command", "status"), [("die", 3), ("half", 4)])
def test_a_dead_program_is_told_with_its_last_words(fake, command, status):
    program = GtpProcess(fake)
    with pytest.raises(GtpProcessError, match=f"ended.*exit status {status}") as caught:
        program.send(command)
    assert ("segmentation fault" in str(caught.value)) == (command == "die")
    assert not program.is_running
    with pytest.raises(GtpProcessError, match="closed"):
        program.send("name")
    program.close()


def test_a_program_that_died_between_commands(fake):
    with GtpProcess(fake) as program:
        os.kill(program.pid, 9)
        with pytest.raises(GtpProcessError, match="ended"):
            program.send("name")


def test_a_late_program_is_killed(fake):
    with GtpProcess(fake, timeout=30.0) as program:
        with pytest.raises(GtpProcessError, match=r"within 0\.2 s"):
            program.send("hang", timeout=0.2)
        assert not is_alive(program.pid)


def test_standard_error_is_kept_aside_but_bounded(fake):
    with GtpProcess(fake) as program:
        program.send("flood")
        program.send("chatty")
        deadline = time.monotonic() + 30
        while "last noise" not in program.aside and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "last noise" in program.aside
        assert program.aside.count("noise") <= 200


@pytest.mark.parametrize("stubborn", [False, True])
def test_close_ends_the_process(fake, stubborn):
    program = GtpProcess([*fake, "stubborn"] if stubborn else fake)
    assert program.send("name") == "Fake"
    assert is_alive(program.pid)
    program.close(timeout=0.3 if stubborn else 30.0)
    assert not is_alive(program.pid)
    assert (program._process.returncode == 0) == (not stubborn)
    program.close()


def test_a_wrapper_script_leaves_no_child(fake):
    code = (
        "import subprocess, sys; child = subprocess.Popen(sys.argv[1:]);"
        "print('=', child.pid, '\\n', flush=True); child.wait()"
    )
    program = GtpProcess([sys.executable, "-c", code, *fake, "stubborn"])
    # The wrapper's own greeting answers the first command.
    child = int(program.send("name"))
    assert is_alive(child)
    program.close(timeout=0.3)
    deadline = time.monotonic() + 30
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(child) or _is_zombie(child)


def _is_zombie(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("command", ["", "  ", "# only a comment", "play b\nplay w"])
def test_only_one_line_is_sent(fake, command):
    with GtpProcess(fake) as program:
        with pytest.raises(ValueError, match="one line"):
            program.send(command)
        assert program.send("name") == "Fake"


@pytest.mark.parametrize("command", ["/no/such/program --mode gtp", []])
def test_a_missing_program(command):
    with pytest.raises(GtpProcessError, match="cannot start"):
        GtpProcess(command)


def test_a_command_line_is_split_without_a_shell(fake):
    with GtpProcess(f"'{fake[0]}' '{fake[1]}'") as program:
        assert program.send("name") == "Fake"


@pytest.mark.gnugo
def test_gnugo_plays_by_the_agreed_rules(gnugo):
    with GtpProcess(gnugo_command(level=1, program=gnugo)) as program:
        assert program.send("name") == "GNU Go"
        program.send("boardsize 5")
        program.send("clear_board")
        program.send("play black C3")
        assert "C3" in program.send("list_stones black")
        with pytest.raises(GtpError, match="illegal"):
            program.send("play white C3")
        vertex = program.send("genmove white").upper()
        assert vertex == "PASS" or vertex[0] in "ABCDE"
        # Suicide in the corner is refused: A1 with A2 and B1 black.
        program.send("clear_board")
        program.send("play black A2")
        program.send("play black B1")
        assert program.send("is_legal white A1") == "0"


@pytest.mark.gnugo
def test_gnugo_command_is_the_reference_opponent(gnugo):
    words = gnugo_command(level=10, seed=7, program=gnugo)
    assert words[0] == gnugo
    for option in ("--chinese-rules", "--forbid-suicide", "--positional-superko"):
        assert option in words
    assert words[words.index("--level") + 1] == "10"
    assert words[words.index("--seed") + 1] == "7"
