"""The 48 input planes of AlphaGo's policy network (2016), and the 49th.

Silver et al. (2016), Extended Data Table 2; docs/planes.md defines every plane
with drawn boards and names the choices that the paper leaves open.

All planes are one bit a point. `packed` therefore gives the 49 bits of a point as
two words, twelve times smaller than float32 planes; `unpack` spreads them out.
Shuffle windows, symmetries and copies to other devices are cheaper on the words.
"""

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import ladders, liberties, mailbox
from alphago_jax.go import state as state_lib
from alphago_jax.go.moves import legal_actions
from alphago_jax.go.state import GoState, Position

NUM_CHANNELS = 48
NUM_WORDS = 2
STONES, TURNS_SINCE, LIBERTIES, CAPTURE_SIZE = 0, 4, 12, 20
SELF_ATARI_SIZE, LIBERTIES_AFTER_MOVE = 28, 36
LADDER_CAPTURE, LADDER_ESCAPE, SENSIBLENESS, ZEROS = 44, 45, 46, 47
BLACK_TO_PLAY = 48  # of the value network
_COUNTED = 8  # planes of each counted quantity
_WORD = 32


def channel_names() -> tuple[str, ...]:
    """Names of the 48 planes, in order."""

    def counted(name: str, first: int) -> list[str]:
        last = first + _COUNTED - 1
        return [f"{name}_{k}" for k in range(first, last)] + [f"{name}_{last}_or_more"]

    return (
        "own",
        "opponent",
        "empty",
        "ones",
        *counted("turns_since", 1),
        *counted("liberties", 1),
        *counted("capture_size", 0),
        *counted("self_atari_size", 1),
        *counted("liberties_after_move", 1),
        "ladder_capture",
        "ladder_escape",
        "sensibleness",
        "zeros",
    )


def planes(state: GoState, dtype: jax.typing.DTypeLike = jnp.float32) -> jax.Array:
    """The 48 planes, seen by the player to move.

    Args:
      state: unbatched; under `jax.vmap` the ladders of the whole batch are read
        together.
      dtype: of the result.

    Returns:
      [N, N, 48], 0 or 1; 0 everywhere off the board.
    """
    return unpack(packed(state), NUM_CHANNELS, dtype)


def unpack(
    words: jax.Array,
    num_channels: int = NUM_CHANNELS,
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> jax.Array:
    """Planes from words. uint32 [..., 2] -> [..., num_channels]."""
    channel = np.arange(num_channels, dtype=np.uint32)
    word = jnp.where(channel < _WORD, words[..., :1], words[..., 1:])
    return ((word >> (channel % _WORD)) & np.uint32(1)).astype(dtype)


def packed(
    state: GoState, *, bounds: ladders.Bounds = ladders.DEFAULT_BOUNDS
) -> jax.Array:
    """The 48 planes and the 49th as bits: plane c is bit c % 32 of word c // 32.

    Args:
      state: unbatched.
      bounds: how far ladders are read; the default is what docs/planes.md says.

    Returns:
      uint32 [N, N, 2].
    """
    position = state.position
    size = position.size
    chains, to_play = position.chains, position.to_play
    legal = legal_actions(state)[:-1].reshape(size, size)
    counts = liberties.count(chains, size)
    moves = jnp.pad(legal, ((0, 0), (1, 0))).reshape(-1)  # interior cells
    after = liberties.after_moves(chains, counts, to_play, moves, size, enough=_COUNTED)
    after = jax.tree.map(lambda v: v.reshape(size, size + 1)[:, 1:], after)
    captures, escapes = ladders.read_moves(
        chains, counts.liberties, legal, to_play, bounds
    )

    grid = mailbox.to_points(chains, size)
    on_board = grid != chains_lib.WALL
    board = grid * to_play.astype(jnp.int16)
    stone = chains_lib.is_stone(board)
    atari = legal & (after.liberties == 1)
    one_hot = [
        (TURNS_SINCE, ages(position) - 1, stone),
        (LIBERTIES, mailbox.to_points(counts.liberties, size) - 1, stone),
        (CAPTURE_SIZE, after.num_captured, legal),
        (SELF_ATARI_SIZE, after.chain_size - 1, atari),
        (LIBERTIES_AFTER_MOVE, after.liberties - 1, legal & (after.liberties > 0)),
    ]
    single = [
        (STONES, stone & (board > 0)),
        (STONES + 1, stone & (board < 0)),
        (STONES + 2, board == 0),
        (STONES + 3, on_board),
        (LADDER_CAPTURE, captures),
        (LADDER_ESCAPE, escapes),
        (SENSIBLENESS, legal & ~own_eyes(position)),
        (BLACK_TO_PLAY, on_board & (to_play > 0)),
    ]
    channels = [
        (first + jnp.minimum(value, _COUNTED - 1), mask)
        for first, value, mask in one_hot
    ]
    channels += [(jnp.full(mask.shape, c, jnp.int32), mask) for c, mask in single]
    return _set_bits(channels)


def _set_bits(channels: list[tuple[jax.Array, jax.Array]]) -> jax.Array:
    """Words with the bit `channel` set where `mask` is. -> uint32 [N, N, 2]."""
    words = []
    for word in range(NUM_WORDS):
        total = jnp.uint32(0)
        for channel, mask in channels:
            here = mask & (channel // _WORD == word)
            bit = np.uint32(1) << (channel % _WORD).astype(jnp.uint32)
            total = total | jnp.where(here, bit, np.uint32(0))
        words.append(total)
    return jnp.stack(words, axis=-1)


def ages(position: Position) -> jax.Array:
    """Turns since the stone on each point was placed, 1 to 8 (or more).

    A turn is a move or a pass of either player: the last move's stone is 1 old.

    Args:
      position: unbatched.

    Returns:
      int32 [N, N], 0 where there is no stone.
    """
    there = state_lib.rows(position)  # [2, N]
    age = mailbox.unpack_rows(there[0] | there[1]).astype(jnp.int32)
    for board in position.earlier:
        # Still there one board earlier, without a break and in the same colour.
        there = there & board
        age += mailbox.unpack_rows(there[0] | there[1])
    return age


def own_eyes(position: Position) -> jax.Array:
    """Empty points that are true eyes of the player to move. bool [N, N].

    All neighbours are own stones, and the opponent holds at most one of four
    diagonal points, none at the edge.
    """
    size = position.size
    grid = mailbox.to_points(position.chains, size)
    wall = grid == chains_lib.WALL
    board = grid * position.to_play.astype(jnp.int16)
    stone = chains_lib.is_stone(board)
    fine = jnp.pad(wall | (stone & (board > 0)), 1, constant_values=True)
    off = jnp.pad(wall, 1, constant_values=True)
    enemy = jnp.pad(stone & (board < 0), 1)

    def at(mask: jax.Array, row: int, column: int) -> jax.Array:
        return mask[1 + row : 1 + row + size, 1 + column : 1 + column + size]

    diagonals = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    eye = board == 0
    for row, column in [(-1, 0), (0, -1), (0, 1), (1, 0)]:
        eye = eye & at(fine, row, column)
    num_enemy = sum(at(enemy, *d).astype(jnp.int32) for d in diagonals)
    num_off = sum(at(off, *d).astype(jnp.int32) for d in diagonals)
    return eye & (num_enemy + (num_off > 0) < 2)
