"""Counting a board: area and territory, pass-alive stones, seki, tax and button.

*Regions.* After the dead stones are taken off, the empty points fall into regions
(maximal connected sets). A region that borders one colour only belongs to that
colour; a region that borders both colours, or none, is neutral (dame).

*Area* (Chinese, Tromp-Taylor): a colour has its stones and its regions. Without a
list of dead stones every stone on the board is alive, as Tromp and Taylor count.

*Territory* (Japanese, Korean): a colour has its regions and its prisoners; dead
stones become prisoners. Without a list of dead stones, those are dead that stand
in pass-alive territory of the opponent (see `pass_alive`), and no others.

*Groups and seki.* A group is a set of chains of one colour joined by regions of
that colour: two chains are in one group if both border the same such region, and
so on. A group is in seki if one of its chains borders a region that touches both
colours. This is the classical test and holds only when the players have filled
the neutral points that are no seki: an open dame makes its neighbours seki.

*Tax.* "none": regions count for their colour. "seki": regions of groups in seki
count for nobody. "all": the same, and each group that is not in seki pays 2 points
(the two eyes that stone scoring cannot fill). Stones always count under area
scoring.

*Bonuses.* White gets komi and the handicap bonus (0, N - 1 or N; N - 1 is 0 for
N = 0). With the button, the player who made the first pass of the game gets half a
point; nobody does while there was no pass. That pass counts like any other for the
end of the game.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .grid import BLACK, EMPTY, WHITE, connected

if TYPE_CHECKING:
    from .engine import Rules


@dataclasses.dataclass(frozen=True)
class Score:
    """Points of both sides, with every bonus; margin = black - white."""

    black: float
    white: float
    ownership: list[int]  # +1 Black's point, -1 White's, 0 nobody's

    @property
    def margin(self) -> float:
        """Black's points minus White's; 0 is a draw."""
        return self.black - self.white


@dataclasses.dataclass(frozen=True)
class Region:
    """Connected empty points and the chains (numbers) around them."""

    points: frozenset[int]
    owner: int  # the only colour around it, or 0
    chains: frozenset[int]


def _parts(
    starts: Iterable[int], wanted: Sequence[bool], neighbours: Sequence[Sequence[int]]
) -> list[frozenset[int]]:
    """Connected sets of wanted points, each with one of `starts` in it at least."""
    parts: list[frozenset[int]] = []
    for start in starts:
        if not any(start in part for part in parts):
            parts.append(connected(start, wanted, neighbours))
    return parts


def _where(stones: Sequence[int], *colours: int) -> list[bool]:
    return [stone in colours for stone in stones]


def _points(wanted: Sequence[bool]) -> list[int]:
    return [point for point, is_wanted in enumerate(wanted) if is_wanted]


def _around(points: Iterable[int], neighbours: Sequence[Sequence[int]]) -> set[int]:
    return {q for p in points for q in neighbours[p]}


def pass_alive(
    stones: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    colour: int,
    *,
    suicide: bool = False,
) -> tuple[set[int], set[int]]:
    """Benson's unconditionally alive stones of a colour, and their territory.

    D. Benson, "Life in the game of Go", Information Sciences 10 (1976). A *region*
    is a maximal connected set of points without a stone of the colour, one of them
    empty at least. A region is *vital* to a chain if every empty point of it is a
    liberty of the chain; where suicide is legal, every point of it, opposing stones
    too, must be next to the chain, since the opponent can empty the region by
    suicide. Chains with fewer than two vital regions are struck off, then the
    regions that border a chain struck off, then chains again, until nothing
    changes: what remains lives even if its owner always passes.

    *Territory* are the regions that border only such chains and have at most one
    point that is not next to a stone of the colour: the opponent would need two
    such points for two eyes. Opposing stones in it are dead.

    Returns:
        The points of the pass-alive stones, and the points of the territory.
    """
    own, free = _where(stones, colour), _where(stones, EMPTY, -colour)
    chains = _parts(_points(own), own, neighbours)
    regions = _parts(_points(_where(stones, EMPTY)), free, neighbours)
    next_to = [_around(chain, neighbours) for chain in chains]

    def is_vital(region: frozenset[int], chain: int) -> bool:
        must = {p for p in region if suicide or stones[p] == EMPTY}
        return must <= next_to[chain]

    alive = set(range(len(chains)))
    sound = set(range(len(regions)))
    while True:
        doomed = {c for c in alive if sum(is_vital(regions[r], c) for r in sound) < 2}
        alive -= doomed
        broken = {r for r in sound if any(regions[r] & next_to[c] for c in doomed)}
        sound -= broken
        if not doomed:
            break
    beside_stones = _around(_points(own), neighbours)
    territory: set[int] = set()
    for r in sound:
        borders = any(regions[r] & next_to[c] for c in alive)
        if borders and len(regions[r] - beside_stones) <= 1:
            territory |= regions[r]
    return {p for c in alive for p in chains[c]}, territory


def dead_by_pass_alive(
    stones: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    *,
    suicide: bool = False,
) -> set[int]:
    """The stones that stand in pass-alive territory of their opponent."""
    dead: set[int] = set()
    for colour in (BLACK, WHITE):
        _, territory = pass_alive(stones, neighbours, colour, suicide=suicide)
        dead |= {p for p in territory if stones[p] == -colour}
    return dead


def regions_and_chains(
    stones: Sequence[int], neighbours: Sequence[Sequence[int]]
) -> tuple[list[Region], list[frozenset[int]]]:
    """The empty regions of a board, and its chains, in whose numbers they speak."""
    chains: list[frozenset[int]] = []
    for colour in (BLACK, WHITE):
        mine = _where(stones, colour)
        chains += _parts(_points(mine), mine, neighbours)
    number = {point: n for n, chain in enumerate(chains) for point in chain}
    empty = _where(stones, EMPTY)
    regions = []
    for points in _parts(_points(empty), empty, neighbours):
        border = _around(points, neighbours) - points
        colours = {stones[p] for p in border}
        owner = colours.pop() if len(colours) == 1 else 0
        regions.append(Region(points, owner, frozenset(number[p] for p in border)))
    return regions, chains


def groups_of(
    regions: Sequence[Region], chains: Sequence[frozenset[int]]
) -> list[set[int]]:
    """Chains (numbers) joined by regions of their own colour."""
    groups = [{n} for n in range(len(chains))]
    for region in regions:
        if region.owner:
            joined = [g for g in groups if g & region.chains]
            groups = [g for g in groups if not g & region.chains]
            groups.append(set().union(*joined))
    return groups


def score(
    stones: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    rules: Rules,
    *,
    dead: Iterable[int] | None = None,
    prisoners: Mapping[int, int],
    handicap: int = 0,
    button_taker: int = 0,
) -> Score:
    """Counts a board.

    Args:
        stones: +1, -1 or 0 for every point.
        neighbours: the points next to every point.
        rules: scoring, tax, komi, button and handicap bonus.
        dead: points of dead stones (empty points in it are ignored); None = by rule.
        prisoners: stones taken by +1 and by -1 so far.
        handicap: N of the handicap bonus.
        button_taker: who passed first, +1 or -1; 0 = nobody.

    Returns:
        The points of both sides and the owner of each point. Under area scoring a
        living stone's point is its colour's; under territory scoring it is too,
        although it counts nothing.
    """
    if dead is None:
        is_area = rules.scoring == "area"
        dead = (
            set()
            if is_area
            else dead_by_pass_alive(stones, neighbours, suicide=rules.suicide)
        )
    points = {BLACK: 0.0, WHITE: 0.0}
    left = list(stones)
    for point in set(dead):
        if left[point] != EMPTY and rules.scoring == "territory":
            points[-left[point]] += 1
        left[point] = EMPTY
    ownership, tax = _owners(left, neighbours, rules.tax)
    for colour in (BLACK, WHITE):
        points[colour] -= tax[colour]
        if rules.scoring == "area":
            points[colour] += ownership.count(colour)
        else:
            points[colour] += prisoners[colour]
            points[colour] += sum(
                o == colour and s == EMPTY for o, s in zip(ownership, left, strict=True)
            )
    bonus = {"zero": 0, "n-1": max(handicap - 1, 0), "n": handicap}
    points[WHITE] += rules.komi + bonus[rules.handicap_bonus]
    if rules.button and button_taker:
        points[button_taker] += 0.5
    return Score(points[BLACK], points[WHITE], ownership)


def _owners(
    stones: Sequence[int], neighbours: Sequence[Sequence[int]], tax: str
) -> tuple[list[int], dict[int, int]]:
    """Who owns each point, and the group tax of each colour."""
    regions, chains = regions_and_chains(stones, neighbours)
    groups = groups_of(regions, chains)
    dame = [r for r in regions if r.owner == 0 and r.chains]
    in_seki = [any(g & r.chains for r in dame) for g in groups]
    seki_chains = {
        c for g, seki in zip(groups, in_seki, strict=True) if seki for c in g
    }
    ownership = list(stones)
    for region in regions:
        if tax == "none" or not region.chains & seki_chains:
            for point in region.points:
                ownership[point] = region.owner
    paid = {BLACK: 0, WHITE: 0}
    if tax == "all":
        for group in groups:
            if not group & seki_chains:
                paid[stones[min(chains[min(group)])]] += 2
    return ownership, paid
