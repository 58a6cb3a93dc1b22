"""The GTP server as clients see it: a process of its own."""

import subprocess
import sys

from alphago_jax.play.external import GtpProcess

MAIN = [sys.executable, "-c", "from alphago_jax.cli import main; main()", "gtp"]
# A player that prints and warns as a library may do, from Python and from below.
NOISY = """
import os, sys, warnings
from alphago_jax.play import agents, gtp

def make_agent(size):
    print("loading")
    os.system("echo from a child process")
    os.write(1, b"from below Python\\n")
    warnings.warn("be careful")
    return agents.random_agent()

with gtp.private_stdout() as output:
    engine = gtp.Engine(gtp.Session(make_agent, size=5))
    print("ready")
    gtp.serve(engine.handle, sys.stdin.buffer, output)
print("goodbye")
"""


def test_nothing_but_replies_on_standard_output():
    script = b"1 name\r\n\r\n# hello\r\n2 genmove b\n3 foo\n4 quit\n5 name\n"
    done = subprocess.run(
        [sys.executable, "-c", NOISY], input=script, capture_output=True, check=True
    )
    replies = done.stdout.decode()
    first, second, third, fourth, rest = replies.split("\n\n")
    assert first == "=1 alphago-jax random"
    assert second.startswith("=2 ") and len(second) == 5
    assert third == "?3 unknown command"
    assert fourth == "=4"
    assert rest == "goodbye\n"  # standard output is given back
    for words in (b"loading", b"from a child", b"below Python", b"careful", b"ready"):
        assert words in done.stderr


def test_a_client_plays_with_the_command(tmp_path):
    with GtpProcess([*MAIN, "random", "--size", "5", "--seed", "1"]) as program:
        assert program.send("protocol_version") == "2"
        assert program.send("query_boardsize") == "5"
        assert program.send("get_komi") == "7.5"
        assert "genmove" in program.send("list_commands").split()
        assert program.send("komi 6.5") == ""
        program.close(timeout=60.0)
        assert program._process.returncode == 0


def test_the_end_of_input_ends_the_program():
    done = subprocess.run([*MAIN, "--size", "5"], input=b"name", capture_output=True)
    assert done.returncode == 0
    assert done.stdout == b"= alphago-jax random\n\n"
