"""The game of Go by its rules: chains, liberties, captures, ko and the end.

Points are numbered row by row from the top-left corner, 0 to N*N - 1; the action
N*N is a pass. A stone is +1 (Black) or -1 (White), an empty point is 0. A *chain*
is a maximal set of stones of one colour joined along the lines; its *liberties*
are the empty points next to it.

A move puts a stone on an empty point. Then opposing chains without a liberty are
captured (removed); then, if the mover's own chain has no liberty, that is suicide.

* Suicide is legal only if the rules allow it and the chain has two stones or more;
  it then removes the mover's own chain. Suicide of a single stone would leave the
  board as it was and is illegal under every rule set here. (Positional superko
  forbids it anyway; situational superko would not, but programs that offer
  suicide treat it in this way, and so do we.)
* Removed stones are prisoners of the opponent of their colour, suicides included.
* Simple ko: a move that captured exactly one stone, and whose own chain is one
  stone with one liberty, bans that liberty (the captured point) for the very next
  move. Any move, a pass too, lifts the ban.
* Positional superko: a board move may not make a whole-board position that has
  already been on the board in this game. Situational superko: ... with the same
  player to move next. The set-up position is part of the game; a pass is always
  legal. Neither has a simple-ko ban of its own, since it is implied.
* Two passes in a row end the game.
* Under simple ko a game also ends, as "no result", when the same situation (board
  and player to move) is there for the third time, the set-up counting as the
  first. A pass may complete a repetition, but only two occurrences with a board
  move between them are different ones. As two passes in a row end the game, this
  exempts nothing but those two passes.
* Friendly pass (a pass may end the game while dead stones are left on the board,
  as the players will agree about them) changes nothing here: neither legality nor
  the end nor the score. It is advice to a player, kept with the rules.
* The handicap N is the number of Black's set-up stones if there are two or more
  and White has none, else 0, unless the caller gives the number.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

from . import scoring as _scoring
from .grid import BLACK, EMPTY, WHITE, chains_of, neighbours_of


@dataclasses.dataclass(frozen=True)
class Rules:
    """The rules that a game may choose from; see the modules for their meaning."""

    ko: str = "simple"  # "simple", "positional" or "situational"
    suicide: bool = False
    scoring: str = "area"  # "area" or "territory"
    komi: float = 7.5
    tax: str = "none"  # "none", "seki" or "all"
    button: bool = False
    handicap_bonus: str = "zero"  # "zero", "n-1" or "n"
    friendly_pass: bool = False

    def __post_init__(self) -> None:
        choices = {
            "ko": ("simple", "positional", "situational"),
            "scoring": ("area", "territory"),
            "tax": ("none", "seki", "all"),
            "handicap_bonus": ("zero", "n-1", "n"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}")


@dataclasses.dataclass(frozen=True)
class Effect:
    """What a stone on an empty point would do, legal or not."""

    captured: frozenset[int]  # opposing stones that leave the board
    chain: frozenset[int]  # the mover's chain, the new stone in it
    suicide: bool  # the mover's chain has no liberty left


class Oracle:
    """One game of Go.

    Args:
        size: side of the board, 1 to 25.
        rules: the rules; or give their fields as keywords.
        black: points of Black's set-up stones.
        white: points of White's set-up stones.
        to_play: who moves first, +1 or -1.
        handicap: the number N of the handicap bonus; counted if None.
        **options: fields of `Rules`.
    """

    def __init__(
        self,
        size: int,
        rules: Rules | None = None,
        *,
        black: Iterable[int] = (),
        white: Iterable[int] = (),
        to_play: int = BLACK,
        handicap: int | None = None,
        **options,
    ) -> None:
        if not 1 <= size <= 25:
            raise ValueError(f"size must be 1 to 25, got {size}")
        self.size = size
        self.rules = dataclasses.replace(rules or Rules(), **options)
        self.neighbours = neighbours_of(size)
        self.stones = self._set_up(sorted(set(black)), sorted(set(white)))
        self.to_play = to_play
        self.captures = {BLACK: 0, WHITE: 0}  # prisoners taken BY that colour
        self.ko_point: int | None = None
        self.passes_in_a_row = 0
        self.button_taker = 0  # +1 or -1 once somebody has passed first
        self.no_result = False
        self.moves: list[int] = []
        if handicap is None:
            count = self.stones.count(BLACK)
            handicap = count if count >= 2 and WHITE not in self.stones else 0
        self.handicap = handicap
        self._refresh()
        if any(chain and not chain.liberties for chain in self.chain_at):
            raise ValueError("a set-up chain has no liberty")
        self.positions = {self.position}
        self.situations = Counter([(self.position, self.to_play)])

    def _set_up(self, black: list[int], white: list[int]) -> list[int]:
        if set(black) & set(white):
            raise ValueError("a set-up point is both black and white")
        stones = [EMPTY] * self.size**2
        for colour, points in ((BLACK, black), (WHITE, white)):
            for point in points:
                if not 0 <= point < len(stones):
                    raise ValueError(f"set-up point {point} is off the board")
                stones[point] = colour
        return stones

    def _refresh(self) -> None:
        self.chain_at = chains_of(self.stones, self.neighbours)
        self.position = sum(
            self._digit(point, stone)
            for point, stone in enumerate(self.stones)
            if stone != EMPTY
        )

    def _digit(self, point: int, colour: int) -> int:
        # A position is written as one whole number with two bits a point, so that
        # comparing positions is exact and a move adds and subtracts a few terms.
        return (1 if colour == BLACK else 2) << (2 * point)

    @property
    def pass_action(self) -> int:
        """The action that passes, N*N."""
        return self.size**2

    @property
    def is_over(self) -> bool:
        """True after two passes in a row, or with no result."""
        return self.no_result or self.passes_in_a_row >= 2

    def liberties(self) -> list[int]:
        """For every point the liberties of the chain on it, 0 where empty."""
        return [len(chain.liberties) if chain else 0 for chain in self.chain_at]

    def effect(self, point: int) -> Effect:
        """What a stone of the player to move on an empty point would do."""
        captured: set[int] = set()
        chain, liberties = {point}, set()
        for neighbour in self.neighbours[point]:
            other = self.chain_at[neighbour]
            if other is None:
                liberties.add(neighbour)
            elif other.colour == self.to_play:
                chain |= other.stones
                liberties |= other.liberties
            elif other.liberties == {point}:
                captured |= other.stones
        # Captured stones are next to the new stone's chain: they become liberties.
        suicide = not (liberties - {point}) and not captured
        return Effect(frozenset(captured), frozenset(chain), suicide)

    def position_after(self, point: int, effect: Effect) -> int:
        """The number of the position that the move would make."""
        mine, theirs = self.to_play, -self.to_play
        position = self.position + self._digit(point, mine)
        removed, colour = effect.captured, theirs
        if effect.suicide:
            removed, colour = effect.chain, mine
        for stone in removed:
            position -= self._digit(stone, colour)
        return position

    def why_illegal(self, action: int) -> str | None:
        """The reason why an action is illegal, or None if it is legal.

        The first that applies of: game over, off board, occupied, ko, suicide,
        superko.
        """
        if self.is_over:
            return "game over"
        if action == self.pass_action:
            return None
        if not 0 <= action < self.pass_action:
            return "off board"
        if self.stones[action] != EMPTY:
            return "occupied"
        if action == self.ko_point:
            return "ko"
        effect = self.effect(action)
        if effect.suicide and (not self.rules.suicide or len(effect.chain) == 1):
            return "suicide"
        return "superko" if self._repeats(action, effect) else None

    def _repeats(self, action: int, effect: Effect) -> bool:
        if self.rules.ko == "simple":
            return False
        position = self.position_after(action, effect)
        if self.rules.ko == "positional":
            return position in self.positions
        return (position, -self.to_play) in self.situations

    def legal_actions(self) -> list[bool]:
        """N*N + 1 booleans, True = legal; all False once the game is over."""
        return [self.why_illegal(a) is None for a in range(self.pass_action + 1)]

    def play(self, action: int) -> None:
        """Plays an action for the player to move.

        Raises:
            ValueError: the action is illegal; the message is the reason.
        """
        reason = self.why_illegal(action)
        if reason is not None:
            raise ValueError(reason)
        self.ko_point = None
        if action == self.pass_action:
            if self.button_taker == 0:
                self.button_taker = self.to_play
            self.passes_in_a_row += 1
        else:
            self._put_stone(action)
            self.passes_in_a_row = 0
        self.moves.append(action)
        self.to_play = -self.to_play
        self._remember()

    def _put_stone(self, point: int) -> None:
        effect = self.effect(point)
        self.stones[point] = self.to_play
        for stone in effect.captured:
            self.stones[stone] = EMPTY
        self.captures[self.to_play] += len(effect.captured)
        if effect.suicide:
            for stone in effect.chain:
                self.stones[stone] = EMPTY
            self.captures[-self.to_play] += len(effect.chain)
        self._refresh()
        chain = self.chain_at[point]
        if self.rules.ko == "simple" and chain and len(effect.captured) == 1:
            if len(chain.stones) == 1 and len(chain.liberties) == 1:
                (self.ko_point,) = effect.captured

    def _remember(self) -> None:
        if self.passes_in_a_row >= 2:
            return  # No board move since the situation two passes ago.
        self.positions.add(self.position)
        situation = (self.position, self.to_play)
        self.situations[situation] += 1
        if self.rules.ko == "simple" and self.situations[situation] >= 3:
            self.no_result = True

    def score(self, dead: Iterable[int] | None = None) -> _scoring.Score:
        """The score of the board as it stands; see `scoring.score`."""
        return _scoring.score(
            self.stones,
            self.neighbours,
            self.rules,
            dead=dead,
            prisoners=self.captures,
            handicap=self.handicap,
            button_taker=self.button_taker,
        )
