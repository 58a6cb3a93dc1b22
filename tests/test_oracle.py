"""The oracle against known facts, a second program, and brute force."""

import itertools
import random

import known_answers as known
import oracle
import pytest
from oracle import BLACK, WHITE, Oracle, lockstep, reach
from oracle.grid import chains_of, neighbours_of

KO_RULES = ("simple", "positional", "situational")


def from_drawing(drawing, **options):
    size, black, white = oracle.parse(drawing)
    return Oracle(size, black=black, white=white, **options)


def action_at(game, place):
    return game.pass_action if place is None else place[0] * game.size + place[1]


def play_all(game, places):
    for place in places:
        game.play(action_at(game, place))


def has_liberties(stones, neighbours):
    return all(c is None or c.liberties for c in chains_of(stones, neighbours))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_number_of_legal_positions(size):
    neighbours = neighbours_of(size)
    boards = itertools.product((0, BLACK, WHITE), repeat=size * size)
    count = sum(has_liberties(board, neighbours) for board in boards)
    assert count == known.LEGAL_POSITIONS[size]


def count_sequences(game, depth):
    """Sequences of 1, 2, ... `depth` actions, by replaying every one of them."""
    counts, sequences = [], [[]]
    for _ in range(depth):
        longer = []
        for actions in sequences:
            now = Oracle(game.size, game.rules)
            for action in actions:
                now.play(action)
            legal = now.legal_actions()
            longer += [[*actions, a] for a, is_legal in enumerate(legal) if is_legal]
        sequences = longer
        counts.append(len(sequences))
    return counts


@pytest.mark.parametrize("case", known.SEQUENCES, ids=str)
def test_number_of_sequences(case):
    size, ko, suicide = case
    expected = known.SEQUENCES[case]
    game = Oracle(size, ko=ko, suicide=suicide)
    assert count_sequences(game, len(expected)) == expected
    assert reach.count_sequences(size, len(expected), ko, suicide) == expected


def test_long_games_against_the_second_program():
    """The same boards in the same order, far into small games with many repeats."""
    endings = {"no result": 0, "passes": 0}
    for seed, ko, suicide in itertools.product(range(12), KO_RULES, (False, True)):
        rng = random.Random(seed)
        game = Oracle(2 + seed % 2, ko=ko, suicide=suicide)
        boards = ["." * game.size**2]
        while not game.is_over and len(boards) < 80:
            colour = {BLACK: "X", WHITE: "O"}[game.to_play]
            expected = reach.next_boards(boards, game.size, colour, ko, suicide)
            legal = game.legal_actions()
            assert sum(legal) == len(expected)
            actions = [p for p in range(game.pass_action) if legal[p]]
            if not actions or rng.random() < 0.05:
                actions = [game.pass_action]
            game.play(rng.choice(actions))
            boards.append("".join(oracle.draw(game.stones).split()))
            assert boards[-1] in expected
            assert game.is_over == reach.is_over(boards, ko)
        endings["no result"] += game.no_result
        endings["passes"] += game.passes_in_a_row == 2
    assert endings["no result"] >= 3 and endings["passes"] >= 10


@pytest.mark.parametrize("case", known.LEGALITY, ids=lambda case: case.name)
@pytest.mark.parametrize("ko", KO_RULES)
def test_drawn_legality(case, ko):
    game = from_drawing(case.board, ko=ko, suicide=case.suicide, to_play=case.to_play)
    play_all(game, case.moves)
    point, reason = action_at(game, case.point), case.reasons[KO_RULES.index(ko)]
    assert game.why_illegal(point) == reason
    assert game.legal_actions()[point] == (reason is None)
    if reason is None:
        game.play(point)
    else:
        with pytest.raises(ValueError, match=reason):
            game.play(point)


def test_other_reasons():
    game = from_drawing(known.KO)
    assert game.why_illegal(1) == "occupied"
    assert game.why_illegal(-1) == game.why_illegal(26) == "off board"
    play_all(game, [None, None])
    assert game.is_over and not game.no_result
    assert game.why_illegal(game.pass_action) == "game over"
    assert not any(game.legal_actions())


def test_ko_point_is_for_simple_ko_only():
    for ko, expected in (("simple", 6), ("positional", None), ("situational", None)):
        game = from_drawing(known.KO, ko=ko)
        play_all(game, [(1, 2)])
        assert game.ko_point == expected
        assert game.captures == {BLACK: 1, WHITE: 0}
        play_all(game, [None])
        assert game.ko_point is None


def test_captures_and_suicide_make_prisoners():
    game = from_drawing(known.SNAPBACK, to_play=WHITE)
    play_all(game, [(0, 0), (0, 1), (0, 0)])
    assert game.captures == {BLACK: 1, WHITE: 5}
    assert game.stones[:4] == [WHITE, 0, 0, WHITE]
    game = from_drawing(known.TWO_STONE_SUICIDE, to_play=WHITE, suicide=True)
    play_all(game, [(0, 1)])
    assert game.captures == {BLACK: 2, WHITE: 0}
    assert game.stones[:3] == [0, 0, BLACK]
    assert game.to_play == BLACK


@pytest.mark.parametrize(
    ("board", "to_play", "cycle"),
    [
        (known.TRIPLE_KO, BLACK, known.TRIPLE_KO_CYCLE),
        (known.ETERNAL_LIFE, BLACK, known.ETERNAL_LIFE_CYCLE),
        (known.SENDING_TWO, WHITE, known.SENDING_TWO_CYCLE),
    ],
    ids=["triple ko", "eternal life", "sending two, returning one"],
)
def test_no_result_at_the_third_time(board, to_play, cycle):
    game = from_drawing(board, to_play=to_play)
    before = list(game.stones)
    play_all(game, cycle)
    assert game.stones == before and not game.is_over
    play_all(game, cycle[:-1])
    assert not game.is_over
    play_all(game, cycle[-1:])
    assert game.stones == before and game.is_over and game.no_result


def test_situational_superko_counts_situations_made_by_passes():
    game = from_drawing(known.SENDING_TWO, to_play=WHITE, ko="situational")
    play_all(game, known.SENDING_TWO_CYCLE)
    assert game.why_illegal(0) == "superko"


def test_set_up_is_checked():
    for options in ({"black": [0], "white": [0]}, {"black": [9]}, {"ko": "none"}):
        with pytest.raises(ValueError, match=r"set-up|must be"):
            Oracle(3, **options)
    with pytest.raises(ValueError, match="liberty"):
        Oracle(2, black=[0], white=[1, 2])
    with pytest.raises(ValueError, match="size"):
        Oracle(26)


@pytest.mark.parametrize("case", known.SCORES, ids=lambda case: case.name)
@pytest.mark.parametrize("scoring", ["area", "territory"])
def test_drawn_scores(case, scoring):
    dead = None
    for tax, points in zip(
        ("none", "seki", "all"), getattr(case, scoring), strict=True
    ):
        game = from_drawing(case.board, scoring=scoring, tax=tax, komi=0.0)
        if case.dead is not None:
            dead = [action_at(game, place) for place in case.dead]
        score = game.score(dead)
        assert (score.black, score.white) == points
        assert score.margin == points[0] - points[1]


def test_bonuses():
    for bonus, points in (("zero", 0), ("n-1", 2), ("n", 3)):
        game = Oracle(3, black=[0, 2, 8], komi=0.5, handicap_bonus=bonus)
        assert game.score().white == 0.5 + points
    assert Oracle(3, black=[4], handicap_bonus="n", komi=0.0).score().white == 0
    game = Oracle(3, komi=0.0, button=True)
    assert game.score().margin == 0
    play_all(game, [(1, 1), None, (0, 0), None, None])
    assert game.is_over and game.button_taker == WHITE
    assert game.score().margin == 9 - 0.5


def test_lockstep_games_hold_what_they_promise():
    specs = lockstep.random_specs(72, size=3, rules=lockstep.all_rules(), seed=3)
    boards, rules = (known.ETERNAL_LIFE, known.TRIPLE_KO), lockstep.all_rules()[::5]
    specs += lockstep.drawn_specs(boards, rules=rules, seed=3)
    seen = {"ko": 0, "capture": 0, "over": 0, "no_result": 0, "plies": 0}
    for ply in lockstep.play_games(specs, max_plies=100):
        assert len(ply) == len(specs)
        for facts in ply:
            assert facts.is_over != any(facts.legal_actions)
            assert (facts.score is not None) == facts.is_over
            assert all((s == 0) == (n == 0) for s, n in _pairs(facts))
            seen["ko"] += facts.ko_point is not None
            seen["plies"] += not facts.is_over
    for facts in ply:
        seen["over"] += facts.is_over
        seen["no_result"] += facts.no_result
        seen["capture"] += sum(facts.prisoners)
    assert seen["ko"] > 20 and seen["capture"] > 500 and seen["over"] > 10
    assert seen["no_result"] > 3 and seen["plies"] > 1500


def _pairs(facts):
    return zip(facts.stones, facts.liberties, strict=True)
