"""GTP sessions on a 5×5 board, as scripts: what is sent and what comes back."""

import io
import random
import textwrap

import oracle
import pytest

from alphago_jax import go
from alphago_jax.go import coords
from alphago_jax.play import gtp
from alphago_jax.play.agents import random_agent
from alphago_jax.play.external import GtpError, GtpProcess
from alphago_jax.play.gtp import moves


def make_agent(size: int):
    if size == 24:
        raise ValueError("a board that this player does not know")
    return random_agent()


@pytest.fixture(scope="module")
def shared_session():
    return gtp.Session(make_agent, size=5)


@pytest.fixture
def engine(shared_session):
    """An engine on an empty 5×5 board; the compiled functions are shared."""
    shared_session.rules = go.Rules.cgos()
    shared_session.time_settings = gtp.TimeSettings()
    shared_session.new_game(5)
    return gtp.Engine(shared_session, version="1.2")


def send(engine, text: str) -> str:
    output = io.BytesIO()
    gtp.serve(engine.handle, io.BytesIO(text.encode()), output)
    return output.getvalue().decode()


def check(engine, script: str):
    """Runs a script whose lines are `> command` and the reply's lines."""
    for block in textwrap.dedent(script).strip().split("> ")[1:]:
        command, _, expected = block.partition("\n")
        reply = send(engine, command)
        assert reply.endswith("\n\n")
        assert reply.strip() == expected.strip(), command


def test_administration(engine):
    check(
        engine,
        """
        > protocol_version
        = 2
        > 1 name
        =1 alphago-jax random
        > version
        = 1.2
        > known_command genmove
        = true
        > known_command Genmove
        = false
        > 5 Genmove b
        ?5 unknown command
        > known_command
        ? syntax error
        > query_boardsize
        = 5
        > quit
        =
        """,
    )


def test_list_commands_lists_what_is_known(engine):
    names = send(engine, "list_commands")[2:].split()
    required = "protocol_version name version known_command list_commands quit"
    required += " boardsize clear_board komi play genmove reg_genmove undo loadsgf"
    required += " printsgf showboard final_score final_status_list fixed_handicap"
    required += " place_free_handicap set_free_handicap time_settings time_left"
    required += " kgs-time_settings get_komi query_boardsize list_stones all_legal"
    required += " is_legal captures last_move move_history kata-set-rules"
    required += " kata-get-rules cputime gogui-analyze_commands"
    assert set(required.split()) <= set(names)
    assert names == sorted(set(names))
    for name in names:
        assert send(engine, f"known_command {name}") == "= true\n\n"


def test_moves_captures_and_showboard(engine):
    check(
        engine,
        """
        > play black a1
        =
        > play W A2
        =
        > play b PASS
        =
        > play white B1
        =
        > captures white
        = 1
        > captures b
        = 0
        > list_stones b
        =
        > list_stones w
        = A2 B1
        > is_legal b A1
        = 0
        > play b A1
        ? illegal move: suicide
        > last_move
        = white B1
        > move_history
        = white B1
        black pass
        white A2
        black A1
        > showboard
        =
          A B C D E
        5 . . . . .
        4 . . . . .
        3 . . . . .
        2 O . . . .
        1 . O . . .
        Black (X) has captured 0, White (O) has captured 1
        Komi 7.5, handicap 0
        Move 4, last move white B1, black to play
        > undo
        =
        > list_stones b
        = A1
        > gg-undo 2
        =
        > move_history
        = black A1
        > gg-undo 2
        ? cannot undo
        > undo
        =
        > undo
        ? cannot undo
        > last_move
        ? no previous move known
        """,
    )


def test_refusals_change_nothing(engine):
    check(
        engine,
        """
        > play b C3
        =
        > play w C3
        ? illegal move: occupied
        > play w F1
        ? invalid color or coordinate
        > play w I1
        ? invalid color or coordinate
        > play green C1
        ? invalid color or coordinate
        > play w
        ? syntax error
        > play
        ? syntax error
        > genmove
        ? syntax error
        > genmove x
        ? invalid color
        > komi much
        ? syntax error
        > komi nan
        ? syntax error
        > boardsize
        ? syntax error
        > boardsize x
        ? boardsize not an integer
        > boardsize 1
        ? unacceptable size
        > boardsize 26
        ? unacceptable size
        > boardsize 24
        ? unacceptable size
        > boardsize 99999999999999999999999
        ? boardsize not an integer
        > move_history
        = black C3
        > final_status_list well
        ? invalid status
        > captures
        ? syntax error
        """,
    )


def test_superko_is_refused_with_its_name(engine):
    # Black takes the ko, White retakes after two passes: the position came before.
    for move in ["b B2", "w C2", "b A1", "w D1", "b C1", "w B1"]:
        assert send(engine, f"play {move}") == "=\n\n"
    assert send(engine, "play b C1") == "? illegal move: ko\n\n"
    for move in ["b pass", "w pass"]:
        send(engine, f"play {move}")
    assert send(engine, "play b C1") == "? illegal move: superko\n\n"
    assert send(engine, "is_legal b C1") == "= 0\n\n"
    assert send(engine, "last_move") == "= white pass\n\n"


def test_after_the_end_everything_works(engine):
    check(
        engine,
        """
        > play b C3
        =
        > play w pass
        =
        > play b pass
        =
        > genmove w
        = pass
        > genmove w
        = pass
        > genmove b
        = pass
        > reg_genmove b
        = pass
        > final_score
        = B+17.5
        > undo
        =
        > genmove b
        = pass
        > play b C3
        ? illegal move: occupied
        > genmove w
        = pass
        > play w D4
        =
        > last_move
        = white D4
        > final_score
        = W+7.5
        """,
    )
    assert send(engine, "genmove b") not in ("= pass\n\n", "= resign\n\n")
    assert send(engine, "gg-undo 2") == "=\n\n"
    assert send(engine, "genmove b") == "= pass\n\n"


def test_genmove_plays_and_reg_genmove_does_not(engine):
    seen = [send(engine, "reg_genmove b") for _ in range(3)]
    assert len(set(seen)) == 1
    assert send(engine, "move_history") == "=\n\n"
    assert send(engine, "genmove b") == seen[0]
    vertex = seen[0].split()[1]
    assert send(engine, "last_move") == f"= black {vertex}\n\n"
    # Out of turn, as set-up of handicap games needs it.
    assert send(engine, "genmove b").startswith("= ")
    assert send(engine, "get_handicap") == "= 2\n\n"


def test_a_whole_game_against_itself(engine):
    for ply in range(120):
        if send(engine, f"genmove {'bw'[ply % 2]}") == "= pass\n\n" and ply > 10:
            break
    else:
        pytest.fail("the game does not end")
    score = send(engine, "final_score")
    judge = oracle.Oracle(5, ko="positional", suicide=False, scoring="area", komi=7.5)
    for move in engine.session.game.moves:
        judge.play(move.action)
    margin = judge.score().black - judge.score().white
    assert score == f"= {'B' if margin > 0 else 'W'}+{abs(margin):g}\n\n"


def test_handicap(engine):
    check(
        engine,
        """
        > fixed_handicap 2
        ? invalid number of stones
        > place_free_handicap 1
        ? invalid number of stones
        > set_free_handicap C3
        ? bad vertex list
        > set_free_handicap C3 C3
        ? bad vertex list
        > set_free_handicap C3 pass
        ? bad vertex list
        > set_free_handicap C3 B2 D4
        =
        > get_handicap
        = 3
        > undo
        ? cannot undo
        > set_free_handicap A1 B1
        ? board not empty
        > final_score
        = B+17.5
        > kata-set-rules chinese-kgs
        =
        > final_score
        = B+14.5
        > clear_board
        =
        > get_handicap
        = 0
        > play b A1
        =
        > play b B1
        =
        > play b C1
        =
        > get_handicap
        = 3
        """,
    )
    assert send(engine, "clear_board") == "=\n\n"
    vertices = send(engine, "place_free_handicap 4")[2:].split()
    assert len(set(vertices)) == 4
    assert sorted(send(engine, "list_stones b")[2:].split()) == sorted(vertices)


def test_rules_and_komi(engine):
    check(
        engine,
        """
        > get_komi
        = 7.5
        > komi 6
        =
        > get_komi
        = 6
        > komi 6.3
        ? komi must be a whole or half number within ±1000, got 6.3
        > komi 375e9
        ? komi must be a whole or half number within ±1000, got 375000000000.0
        > kata-get-rules
        = {"friendlyPassOk": false, "hasButton": false, "ko": "POSITIONAL", \
"scoring": "AREA", "suicide": false, "tax": "NONE", "whiteHandicapBonus": "0"}
        > kata-set-rules Tromp_Taylor
        =
        > kata-set-rule ko SITUATIONAL
        =
        > kata-set-rules {"suicide": false, "whiteHandicapBonus": "N-1"}
        =
        > kata-get-rules
        = {"friendlyPassOk": false, "hasButton": false, "ko": "SITUATIONAL", \
"scoring": "AREA", "suicide": false, "tax": "NONE", "whiteHandicapBonus": "N-1"}
        > get_komi
        = 6
        > kata-set-rule ko SUPER
        ? ko must be one of SIMPLE, POSITIONAL, SITUATIONAL
        > kata-set-rule gravity on
        ? no rule 'gravity'; there are: ko, scoring, tax, suicide, \
multiStoneSuicideLegal, hasButton, friendlyPassOk, whiteHandicapBonus
        > clear_board
        =
        > get_komi
        = 6
        """,
    )
    assert send(engine, "kata-set-rules ing").startswith("? no rules 'ing'")
    assert send(engine, "kata-set-rules {x").startswith("? not a JSON object")


def test_dead_stones_are_taken_off_by_rules_that_agree_on_them(engine):
    # A white stone at A1 in Black's pass-alive territory.
    send(engine, "play w A5")
    for vertex in "A2 B2 C2 D2 E2 C1".split():
        send(engine, f"play b {vertex}")
    send(engine, "play w A1")
    check(
        engine,
        """
        > final_score
        = W+1.5
        > estimate_score
        = B+1.5
        > final_status_list dead
        =
        > kata-set-rules chinese-kgs
        =
        > final_score
        = B+1.5
        > final_status_list dead
        = A1
        > final_status_list seki
        =
        """,
    )
    dead = send(engine, "final_status_list dead")[2:].split()
    alive = send(engine, "final_status_list alive")[2:].splitlines()
    stones = send(engine, "list_stones b")[2:].split()
    stones += send(engine, "list_stones w")[2:].split()
    assert sorted(dead + " ".join(alive).split()) == sorted(stones)
    assert "A1" in dead
    assert "A2 B2 C2 D2 E2 C1" in alive  # a chain in a line


def test_clocks_are_kept(engine):
    session = engine.session
    for command, settings in [
        ("time_settings 600 30 5", gtp.TimeSettings("canadian", 600, 30, 5)),
        ("time_settings 0 1 0", gtp.TimeSettings()),
        ("time_settings 60 0 0", gtp.TimeSettings("absolute", 60)),
        ("kgs-time_settings byoyomi 60 10 3", gtp.TimeSettings("byoyomi", 60, 10, 3)),
        ("kgs-time_settings none", gtp.TimeSettings()),
        ("kgs-time_settings absolute 9", gtp.TimeSettings("absolute", 9)),
    ]:
        assert send(engine, command) == "=\n\n"
        assert session.time_settings == settings
    assert send(engine, "time_settings 1 2") == "? syntax error\n\n"
    assert send(engine, "kgs-time_settings canadian 1 2") == "? syntax error\n\n"
    assert send(engine, "kgs-time_settings hourglass") == (
        "? unknown time system hourglass\n\n"
    )
    assert send(engine, "time_left b 12 0") == "=\n\n"
    assert send(engine, "time_left w -1 0") == "=\n\n"
    assert session.time_left == {1: (12.0, 0), -1: (-1.0, 0)}
    assert float(send(engine, "cputime")[2:]) > 0


def test_random_commands_get_one_reply_each(engine):
    rng = random.Random(1)
    names = [n for n in engine.names if n not in ("quit", "boardsize", "printsgf")]
    words = ["b", "w", "white", "A1", "C3", "E5", "Z9", "pass", "2", "-3", "9", "1e9"]
    words += [
        "resign",
        "cgos",
        "{",
        "é",
        "alive",
        "none",
        "/",
        "0.5",
    ]
    commands = []
    for k in range(400):
        arguments = rng.choices(words, k=rng.randrange(4))
        commands.append(" ".join([str(k), rng.choice(names), *arguments]))
    output = send(engine, "\n".join(commands))
    replies = output.split("\n\n")
    assert replies.pop() == ""
    assert len(replies) == len(commands)
    for k, (command, reply) in enumerate(zip(commands, replies, strict=True)):
        assert reply[1:].split()[0] == str(k), command
        assert "internal error" not in reply, command
        if " genmove b" in command or " genmove w" in command:
            assert reply[0] == "=", command


def test_resigning_is_a_result(engine):
    check(
        engine,
        """
        > play b resign
        =
        > printsgf
        = (;GM[1]FF[4]CA[UTF-8]SZ[5]KM[7.5]RU[cgos]RE[W+R])
        > clear_board
        =
        > printsgf
        = (;GM[1]FF[4]CA[UTF-8]SZ[5]KM[7.5]RU[cgos])
        """,
    )


def test_sgf_there_and_back(engine, tmp_path):
    path = tmp_path / "a game.sgf"
    for move in ["b C3", "w D3", "b pass", "w E5", "b pass", "w pass"]:
        send(engine, f"play {move}")
    history = send(engine, "move_history")
    text = send(engine, "printsgf")
    assert ";B[cc];W[dc];B[];W[ea];B[];W[])" in text
    assert f"RE[{send(engine, 'final_score')[2:].strip()}]" in text
    assert send(engine, f"printsgf {path}") == "=\n\n"
    assert path.read_text().strip() == text[2:].strip()
    check(engine, f"> clear_board\n=\n> komi 0\n=\n> loadsgf {path}\n=\n")
    assert send(engine, "move_history") == history
    assert send(engine, "get_komi") == "= 7.5\n\n"
    assert send(engine, "genmove b") == "= pass\n\n"  # the game was over
    check(engine, f"> loadsgf {path} 3\n=\n> last_move\n= white D3\n")
    check(engine, f"> loadsgf {path} 1\n=\n> move_history\n=\n")
    check(engine, f"> loadsgf {path} 99\n=\n> last_move\n= white pass\n")


def test_loadsgf_of_handicap_and_variations(engine, tmp_path):
    path = tmp_path / "handicap.sgf"
    path.write_bytes(b"(;GM[1]SZ[5]HA[2]KM[0.5]AB[bb][dd](;W[cc];B[ab])(;W[aa];B[ee]))")
    check(
        engine,
        f"""
        > loadsgf {path}
        =
        > list_stones b
        = B4 A4 D2
        > list_stones w
        = C3
        > get_handicap
        = 2
        > undo
        =
        > undo
        =
        > undo
        ? cannot undo
        """.replace("B4 A4", "A4 B4"),
    )


def test_what_loadsgf_tolerates_is_logged(engine, tmp_path, caplog):
    path = tmp_path / "double.sgf"
    path.write_bytes(b"(;SZ[5]KM[much];B[cc];B[dd])")
    check(engine, f"> loadsgf {path}\n=\n")
    assert [record.getMessage() for record in caplog.records] == [
        "double.sgf: komi unreadable: KM[much]",
        "double.sgf: colours do not alternate: a player moves twice running",
    ]


def test_files_that_cannot_be_loaded_change_nothing(engine, tmp_path):
    check(engine, "> play b C3\n=\n")
    cases = {
        "illegal.sgf": (b"(;SZ[5];B[cc];W[cc])", "move 2: illegal move C3: occupied"),
        "wide.sgf": (b"(;SZ[5:9];B[cc])", "square"),
        "empty.sgf": (b"", "no game"),
        "size.sgf": (b"(;SZ[24];B[cc])", "a board that this player does not know"),
    }
    for name, (data, message) in cases.items():
        path = tmp_path / name
        path.write_bytes(data)
        reply = send(engine, f"loadsgf {path}")
        assert reply.startswith("? cannot load file: ")
        assert message in reply
    missing = send(engine, f"loadsgf {tmp_path / 'none.sgf'}")
    assert missing == "? cannot load file: No such file or directory\n\n"
    assert send(engine, "loadsgf") == "? syntax error\n\n"
    assert (
        send(engine, f"printsgf {tmp_path}")
        == "? cannot write file: Is a directory\n\n"
    )
    assert send(engine, "move_history") == "= black C3\n\n"


@pytest.mark.gnugo
def test_fixed_handicap_points_are_those_of_gnugo(gnugo):
    compared = 0
    with GtpProcess([gnugo, "--mode", "gtp"]) as program:
        # Not 12×12, where GNU Go takes the fourth line against the specification.
        for size in (7, 8, 9, 11, 13, 14, 19):
            for count in range(2, 10):
                program.send(f"boardsize {size}")
                try:
                    theirs = program.send(f"fixed_handicap {count}").split()
                except GtpError:
                    assert count > len(moves.fixed_points(size))
                    continue
                ours = [
                    coords.action_to_vertex(action, size)
                    for action in moves.handicap_points(size, count)
                ]
                assert sorted(ours) == sorted(theirs), (size, count)
                compared += 1
    assert compared > 30
