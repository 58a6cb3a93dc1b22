"""A game of Go as a pytree: the position, its record and its rules.

Three parts with three lifetimes:

- `Position` is what a search node holds: under 2 kB at 19×19.
- `Record` lives once per game: the hashes of all positions so far, and what
  makes superko cheap to look up.
- `RuleData` never changes during a game.

All fields are unbatched here; `jax.vmap` adds the batch. N is the array side,
which is the shape of the arrays and nowhere stored; a smaller board lies in the
top-left corner of larger arrays, the rest is wall.
"""

from collections.abc import Iterable

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import hashing, mailbox
from alphago_jax.go.rules import RuleData, Rules, Scope

PLAYING, TWO_PASSES, NO_RESULT, MOVE_LIMIT = range(4)
NUM_EARLIER_BOARDS = 7  # with the board itself: the last eight
BUTTON_UNTAKEN = 0


class Position(flax.struct.PyTreeNode):
    """What a search node holds. P = (N + 2)(N + 1) walled cells.

    Attributes:
      chains: int16 [P], see `alphago_jax.go.chains`.
      earlier: uint32 [7, 2, N], the seven boards before this one as row
        bitboards, newest first; Black, then White. Before the start of the game
        the set-up position is repeated.
      hash: uint32 [2], Zobrist hash of the stones.
      to_play: int8, +1 Black, −1 White.
      ko_point: int16, point (row-major) that may not be retaken now, or −1.
      num_passes: int8, passes in a row just before this position.
      prisoners: int16 [2], stones lost by Black and by White.
      move_number: int16, moves and passes so far.
      button: int8, 0 untaken, +1 Black has it, −1 White has it.
      status: int8, PLAYING, TWO_PASSES, NO_RESULT or MOVE_LIMIT.
    """

    chains: jax.Array  # int16 [P]
    earlier: jax.Array  # uint32 [7, 2, N]
    hash: jax.Array  # uint32 [2]
    to_play: jax.Array  # int8 []
    ko_point: jax.Array  # int16 []
    num_passes: jax.Array  # int8 []
    prisoners: jax.Array  # int16 [2]
    move_number: jax.Array  # int16 []
    button: jax.Array  # int8 []
    status: jax.Array  # int8 []

    @property
    def size(self) -> int:
        """Array side N."""
        return self.earlier.shape[-1]


class Record(flax.struct.PyTreeNode):
    """What a game remembers beyond the last eight boards.

    T is the capacity, the length limit of the game plus one.

    Attributes:
      hashes: uint32 [2, T], hash of every position so far with the player to
        move in the free bit; the set-up position first.
      seen: uint32 [K], a Bloom filter of the same hashes: a position whose two
        bits are not both set is new. Like the next two, empty in programs
        without superko.
      removed: uint32 [2, N], points where Black's and White's stones were ever
        removed: only there can a stone recreate an earlier position.
      chain_word: uint32 [P], on every stone the first word of its chain's hash.
    """

    hashes: jax.Array  # uint32 [2, T]
    seen: jax.Array  # uint32 [K]
    removed: jax.Array  # uint32 [2, N]
    chain_word: jax.Array  # uint32 [P]


class GoState(flax.struct.PyTreeNode):
    """One game. Attributes: position, record, rules, handicap (int16 stones)."""

    position: Position
    record: Record
    rules: RuleData
    handicap: jax.Array  # int16 []


def default_move_limit(size: int) -> int:
    """Longest game, in moves and passes: 2 N², as in AlphaGo Zero (722)."""
    return max(2 * size * size, 8)


def init(
    size: int,
    *,
    rules: Rules | None = None,
    board_size: int | None = None,
    scope: Scope | None = None,
    move_limit: int | None = None,
) -> GoState:
    """An empty board with Black to play.

    Args:
      size: array side N, 2 to 25.
      rules: a rule set; Tromp-Taylor by default.
      board_size: side of the board in play, at most `size`, which it is by
        default. A smaller board lies in the top-left corner.
      scope: what the program must be able to do; by default what `rules` needs.
        Games that share a batch share a scope.
      move_limit: longest game in moves and passes; it then ends and is scored
        as it stands. 2 N² by default.

    Returns:
      An unbatched state.

    Raises:
      ValueError: for a size, limit or scope that cannot be.
    """
    rules = Rules.tromp_taylor() if rules is None else rules
    board_size = size if board_size is None else board_size
    move_limit = default_move_limit(size) if move_limit is None else move_limit
    if not 2 <= size <= mailbox.MAX_SIZE:
        raise ValueError(f"the board side must be 2 to {mailbox.MAX_SIZE}, got {size}")
    if not 2 <= board_size <= size:
        raise ValueError(f"board_size must be 2 to {size}, got {board_size}")
    if not 1 <= move_limit <= 32_000:
        raise ValueError(f"move_limit must be 1 to 32000, got {move_limit}")
    grid = np.full((size, size), chains_lib.WALL, np.int16)
    grid[:board_size, :board_size] = 0
    return _empty(grid, rules.data(board_size, scope), move_limit)


def _empty(grid: np.ndarray, rules: RuleData, move_limit: int) -> GoState:
    """A game on an empty board. `grid` [N, N] is 0 on the board, else `WALL`."""
    size = grid.shape[0]
    superko = rules.scope.superko
    num_cells = mailbox.num_cells(size) if superko else 0
    num_words = hashing.filter_words(move_limit) if superko else 0
    state = GoState(
        position=Position(
            chains=mailbox.from_points(jnp.asarray(grid), int(chains_lib.WALL)),
            earlier=jnp.zeros((NUM_EARLIER_BOARDS, 2, size), jnp.uint32),
            hash=jnp.zeros(2, jnp.uint32),
            to_play=jnp.int8(1),
            ko_point=jnp.int16(-1),
            num_passes=jnp.int8(0),
            prisoners=jnp.zeros(2, jnp.int16),
            move_number=jnp.int16(0),
            button=jnp.int8(BUTTON_UNTAKEN),
            status=jnp.int8(PLAYING),
        ),
        record=Record(
            hashes=jnp.zeros((2, move_limit + 1), jnp.uint32),
            seen=jnp.zeros(num_words, jnp.uint32),
            removed=jnp.zeros((2, size if superko else 0), jnp.uint32),
            chain_word=jnp.zeros(num_cells, jnp.uint32),
        ),
        rules=rules,
        handicap=jnp.int16(0),
    )
    return _with_first_hash(state)


def _with_first_hash(state: GoState) -> GoState:
    """Records the set-up position, which counts for superko like any other."""
    first = hashing.tagged(state.position.hash, state.position.to_play)
    record = state.record
    record = record.replace(
        hashes=record.hashes.at[:, 0].set(first),
        seen=hashing.filter_add(record.seen, first[0]),
    )
    return state.replace(record=record)


def size_of(state: GoState) -> int:
    """Array side N."""
    return state.position.size


def rows(position: Position) -> jax.Array:
    """The board as row bitboards: Black, White. uint32 [2, N]."""
    inner = mailbox.interior(position.chains, position.size)
    stone = jnp.abs(inner) < chains_lib.WALL
    return jnp.stack(
        [
            mailbox.pack_rows(stone & (inner > 0), position.size),
            mailbox.pack_rows(stone & (inner < 0), position.size),
        ]
    )


def stones(state: GoState) -> jax.Array:
    """The board: +1 Black, −1 White, 0 empty or off the board. int8 [N, N]."""
    grid = mailbox.to_points(state.position.chains, size_of(state))
    return jnp.where(chains_lib.is_stone(grid), jnp.sign(grid), 0).astype(jnp.int8)


def on_board(state: GoState) -> jax.Array:
    """Points of the board in play. bool [N, N]."""
    grid = mailbox.to_points(state.position.chains, size_of(state))
    return grid != chains_lib.WALL


def to_play(state: GoState) -> jax.Array:
    """The player to move: +1 Black, −1 White. int8 scalar."""
    return state.position.to_play


def is_over(state: GoState) -> jax.Array:
    """Whether the game has ended. bool scalar."""
    return state.position.status != PLAYING


def is_no_result(state: GoState) -> jax.Array:
    """Whether an endless cycle has ended the game without a winner. bool scalar."""
    return state.position.status == NO_RESULT


def with_to_play(state: GoState, colour: jax.Array | int) -> GoState:
    """The same board with a player to move, as when colours do not alternate.

    Nobody passed: if the player changes, the ko ban is lifted (it bound the other
    one) and passes in a row start again from none. Pure, unbatched.
    """
    position = state.position
    same = position.to_play == colour
    return state.replace(
        position=position.replace(
            to_play=jnp.asarray(colour, jnp.int8),
            ko_point=jnp.where(same, position.ko_point, jnp.int16(-1)),
            num_passes=jnp.where(same, position.num_passes, jnp.int8(0)),
        )
    )


def reopened(state: GoState) -> GoState:
    """The same board with the game going on, as after a dispute. Pure, unbatched."""
    position = state.position
    over = position.status != PLAYING
    return state.replace(
        position=position.replace(
            num_passes=jnp.where(over, jnp.int8(0), position.num_passes),
            status=jnp.full_like(position.status, PLAYING),
        )
    )


def set_up(
    state: GoState,
    black: Iterable[int] | np.ndarray = (),
    white: Iterable[int] | np.ndarray = (),
    to_play: int = 1,
    *,
    handicap: int | None = None,
) -> GoState:
    """Starts a game from given stones. Host side.

    The set-up position is the first of the game: it counts for superko, and the
    boards before it are taken to be equal to it.

    Args:
      state: a state as `init` makes it; only its sizes and rules are used.
      black: points (row-major in the arrays) of Black's stones.
      white: points of White's stones.
      to_play: +1 or −1.
      handicap: number of handicap stones for White's bonus; by default Black's
        stones if there are at least two and White has none.

    Raises:
      ValueError: for a point off the board or given twice, or a chain without a
        liberty.
    """
    size = size_of(state)
    black, white = [int(p) for p in black], [int(p) for p in white]
    points, num_black = black + white, len(black)
    colours = np.zeros(size * size, np.int8)
    board = np.asarray(on_board(state)).reshape(-1)
    for k, point in enumerate(points):
        if not 0 <= point < size * size or not board[point]:
            raise ValueError(f"set-up stone at point {point} is off the board")
        if colours[point]:
            raise ValueError(f"two set-up stones at point {point}")
        colours[point] = 1 if k < num_black else -1
    grid = np.where(board, colours, chains_lib.WALL).reshape(size, size)
    chains = chains_from_stones(grid)
    if handicap is None:
        alone = num_black >= 2 and num_black == len(points)
        handicap = num_black if alone else 0
    return _begin(state, chains, to_play, handicap)


def chains_from_stones(grid: np.ndarray) -> np.ndarray:
    """Labels the chains of a whole board. Host side.

    Args:
      grid: [N, N], +1, −1, 0 or `WALL`.

    Returns:
      int16 [P], see `alphago_jax.go.chains`.

    Raises:
      ValueError: if a chain has no liberty.
    """
    size = grid.shape[0]
    wall = int(chains_lib.WALL)
    board = np.asarray(mailbox.from_points(jnp.asarray(grid, jnp.int16), wall))
    labels = np.array(board)
    seen = np.zeros(board.shape, bool)
    sides = [int(d) for d in mailbox.offsets(size)]
    for start in mailbox.cells_of_points(size):
        colour = int(board[start])
        if abs(colour) != 1 or seen[start]:
            continue
        chain, liberties, frontier = [], set(), [int(start)]
        seen[start] = True
        while frontier:
            cell = frontier.pop()
            chain.append(cell)
            for beside in (cell + d for d in sides):
                if board[beside] == 0:
                    liberties.add(beside)
                elif board[beside] == colour and not seen[beside]:
                    seen[beside] = True
                    frontier.append(beside)
        if not liberties:
            row, column = divmod(int(start), size + 1)
            raise ValueError(
                f"the chain at row {row - 1}, column {column - 1} has no liberty"
            )
        labels[chain] = colour * (2 * int(start) + (len(liberties) == 1))
    return labels


def _begin(state: GoState, chains: np.ndarray, to_play: int, handicap: int) -> GoState:
    size = size_of(state)
    empty = np.where(np.asarray(on_board(state)), np.int16(0), chains_lib.WALL)
    move_limit = state.record.hashes.shape[-1] - 1
    fresh = _empty(empty, state.rules, move_limit)
    zobrist = hashing.keys(size)
    is_stone = (chains != 0) & (np.abs(chains) < chains_lib.WALL)
    stone_key = np.where(chains > 0, zobrist[0], zobrist[1]) * is_stone
    position = fresh.position.replace(
        chains=jnp.asarray(chains),
        hash=jnp.asarray(np.bitwise_xor.reduce(stone_key, axis=1), jnp.uint32),
        to_play=jnp.int8(to_play),
    )
    board = rows(position)
    position = position.replace(
        earlier=jnp.broadcast_to(board, (NUM_EARLIER_BOARDS, 2, size))
    )
    record = fresh.record
    if state.rules.scope.superko:
        labels = np.abs(chains) >> 1
        words = np.zeros_like(stone_key[0])
        for label in np.unique(labels[is_stone]):
            chain = is_stone & (labels == label)
            words[chain] = np.bitwise_xor.reduce(stone_key[0, chain])
        record = record.replace(chain_word=jnp.asarray(words, jnp.uint32))
    record = record.replace(
        hashes=jnp.zeros_like(record.hashes), seen=jnp.zeros_like(record.seen)
    )
    state = fresh.replace(
        position=position, record=record, handicap=jnp.int16(handicap)
    )
    return _with_first_hash(state)
