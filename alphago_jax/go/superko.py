"""Which moves would recreate an earlier position, for the whole board at once.

The hash of the position after a move is known without playing it: the stone's
key, and the hashes of the chains it captures. Three steps then go from cheap to
exact: a stone can only recreate a position in which it stood before, so its
point must be one where a stone was once removed; a Bloom filter rules out nearly
everything that is left; what remains is compared with the whole record, one
candidate of every game a round, while any game of the batch has one.

The filter needs 32 bits of a hash, so that every stone carries one word of its
chain's hash; the other word is computed for the few candidates only.
"""

import functools
import operator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import hashing, mailbox
from alphago_jax.go.rules import KO_SIMPLE, KO_SITUATIONAL
from alphago_jax.go.state import GoState


def _combined(
    sides: list[jax.Array], labels: list[jax.Array], counts: list[jax.Array]
) -> jax.Array:
    """XOR of the neighbours' chain words, each chain once. -> uint32 [n]."""
    total = jnp.zeros_like(sides[0])
    for k in range(4):
        new = counts[k]
        for j in range(k):
            new = new & ~(counts[j] & (labels[j] == labels[k]))
        total = total ^ jnp.where(new, sides[k], np.uint32(0))
    return total


class _Neighbours(NamedTuple):
    """The four neighbours of some cells, seen by the player to move.

    Attributes:
      labels: int16, own chains positive.
      captures: bool, enemy chains that a stone here captures.
      own: bool, own chains.
      keeps_liberty: bool, one for all four: a stone here is no suicide.
    """

    labels: list[jax.Array]
    captures: list[jax.Array]
    own: list[jax.Array]
    keeps_liberty: jax.Array


def _neighbours(labels: list[jax.Array]) -> _Neighbours:
    stone = [jnp.abs(v) < chains_lib.WALL for v in labels]
    atari = [(v & 1) == 1 for v in labels]
    captures = [(v < 0) & s & a for v, s, a in zip(labels, stone, atari, strict=True)]
    own = [(v > 0) & s for v, s in zip(labels, stone, strict=True)]
    keeps = [
        (v == 0) | c | (o & ~a)
        for v, c, o, a in zip(labels, captures, own, atari, strict=True)
    ]
    return _Neighbours(labels, captures, own, functools.reduce(operator.or_, keeps))


def _words_after(state: GoState) -> tuple[jax.Array, jax.Array]:
    """First word of the hash after a stone on each interior cell.

    Args:
      state: unbatched; its scope must hold superko.

    Returns:
      uint32 [N·(N+1)], meaningful on legal cells only; and bool [N·(N+1)],
      cells where the stone would remove its own chain.
    """
    position = state.position
    size = position.size
    sign = position.to_play.astype(jnp.int16)
    beside = _neighbours(mailbox.shifts(position.chains * sign, size))
    words = mailbox.shifts(state.record.chain_word, size)
    table = jnp.where(sign > 0, hashing.keys(size)[0, 0], hashing.keys(size)[1, 0])
    key = mailbox.interior(table, size)
    before = position.hash[0]
    after = before ^ key ^ _combined(words, beside.labels, beside.captures)
    if not state.rules.scope.suicide:
        return after, jnp.zeros(after.shape, bool)
    suicide = ~beside.keeps_liberty
    without = before ^ _combined(words, beside.labels, beside.own)
    return jnp.where(suicide, without, after), suicide


def _hash_after(state: GoState, cell: jax.Array) -> jax.Array:
    """Whole hash of the position after a stone on a legal cell. -> uint32 [2]."""
    position = state.position
    size = position.size
    board = position.chains * position.to_play.astype(jnp.int16)
    beside = _neighbours(list(board[cell + mailbox.offsets(size)]))

    def hash_of(counts: list[jax.Array], colour: jax.Array) -> jax.Array:
        chosen = [
            (board == label) & there
            for label, there in zip(beside.labels, counts, strict=True)
        ]
        return hashing.stone_hash(functools.reduce(operator.or_, chosen), colour, size)

    own = hashing.colour_index(position.to_play)
    key = jnp.asarray(hashing.keys(size))[own, :, cell]
    change = key ^ hash_of(beside.captures, -position.to_play)
    if state.rules.scope.suicide:
        removed = hash_of(beside.own, position.to_play)
        change = jnp.where(beside.keeps_liberty, change, removed)
    return position.hash ^ change


def repeats(state: GoState, legal: jax.Array) -> jax.Array:
    """Legal cells where a stone would recreate an earlier position.

    Args:
      state: unbatched.
      legal: bool [N·(N+1)], interior cells that are legal but for superko.

    Returns:
      bool [N·(N+1)]; all False under simple ko.
    """
    size = state.position.size
    words, suicide = _words_after(state)
    own = hashing.colour_index(state.position.to_play)
    once_removed = mailbox.unpack_rows(state.record.removed[own])  # [N, N]
    once_removed = jnp.pad(once_removed, ((0, 0), (1, 0))).reshape(-1)
    possible = legal & (once_removed | suicide) & (state.rules.ko != KO_SIMPLE)

    def filter_once(carry: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        _, words, possible = carry
        seen = hashing.filter_may_hold(state.record.seen, words)
        # Words that change are not computed inside the loop, where XLA would do so
        # within the gather, one by one.
        return jnp.bool_(False), jnp.zeros_like(words), possible & seen

    # A loop of one round is a branch that stays one under `vmap`: no game of the
    # batch has a candidate until stones are captured.
    _, _, possible = jax.lax.while_loop(
        lambda carry: carry[0], filter_once, (jnp.any(possible), words, possible)
    )

    situational = state.rules.ko == KO_SITUATIONAL
    ignored = jnp.where(situational, np.uint32(0), np.uint32(1))
    known = state.record.hashes  # [2, T]
    length = state.position.move_number.astype(jnp.int32) + 1
    written = np.arange(known.shape[1], dtype=np.int32) < length
    cells = np.arange(size * (size + 1), dtype=np.int32)

    def first_of(waiting: jax.Array) -> jax.Array:
        # A maximum, because XLA's argmax is a slow loop on a CPU.
        return jnp.max(jnp.where(waiting, cells, -1))

    def check_one(
        carry: tuple[jax.Array, jax.Array, jax.Array],
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        cell, waiting, banned = carry
        after = _hash_after(state, cell + (size + 1))  # interior to walled
        candidate = hashing.tagged(after, -state.position.to_play)
        difference = known ^ candidate[:, None]
        equal = (difference[0] | (difference[1] & ~ignored)) == 0
        banned = banned | (jnp.any(equal & written) & (cells == cell))
        waiting = waiting & (cells != cell)
        return first_of(waiting), waiting, banned

    # The condition reads one number a game: over whole boards it would be a sum
    # on a single core.
    _, _, banned = jax.lax.while_loop(
        lambda carry: carry[0] >= 0,
        check_one,
        (first_of(possible), possible, jnp.zeros_like(possible)),
    )
    return banned
