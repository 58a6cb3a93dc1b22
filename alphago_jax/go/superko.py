"""Which moves would recreate an earlier position, for the whole board at once.

The hash of the position after a move is known without playing it: the stone's
key, and the hashes of the chains it captures, which every stone carries. Three
steps then go from cheap to exact: a stone can only recreate a position in which
it stood before, so its point must be one where a stone was once removed; a
Bloom filter rules out nearly everything that is left; what remains is compared
with the whole record, one candidate of every game a round, while any game of
the batch has one.
"""

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
    """XOR of the neighbours' chain hashes, each chain once. -> uint32 [2, n]."""
    total = jnp.zeros_like(sides[0])
    for k in range(4):
        new = counts[k]
        for j in range(k):
            new = new & ~(counts[j] & (labels[j] == labels[k]))
        total = total ^ jnp.where(new, sides[k], np.uint32(0))
    return total


def hashes_after(state: GoState) -> tuple[jax.Array, jax.Array]:
    """Hash of the position after a stone on each interior cell.

    Args:
      state: unbatched; its scope must hold superko.

    Returns:
      uint32 [2, N·(N+1)], meaningful on legal cells only; and bool [N·(N+1)],
      cells where the stone would remove its own chain.
    """
    position = state.position
    size = position.size
    sign = position.to_play.astype(jnp.int16)
    board = position.chains * sign
    labels = mailbox.shifts(board, size)
    chain_hash = [
        jnp.stack(words)
        for words in zip(
            mailbox.shifts(state.record.chain_hash[0], size),
            mailbox.shifts(state.record.chain_hash[1], size),
            strict=True,
        )
    ]
    stone = [jnp.abs(v) < chains_lib.WALL for v in labels]
    captures = [
        (v < 0) & s & ((v & 1) == 1) for v, s in zip(labels, stone, strict=True)
    ]
    table = jnp.where(sign > 0, hashing.keys(size)[0], hashing.keys(size)[1])
    keys = jnp.stack([mailbox.interior(table[w], size) for w in range(2)])
    after = position.hash[:, None] ^ keys ^ _combined(chain_hash, labels, captures)
    if not state.rules.scope.suicide:
        return after, jnp.zeros(after.shape[1:], bool)
    own = [(v > 0) & s for v, s in zip(labels, stone, strict=True)]
    alive = [
        (v == 0) | c | (o & ((v & 1) == 0))
        for v, c, o in zip(labels, captures, own, strict=True)
    ]
    suicide = ~(alive[0] | alive[1] | alive[2] | alive[3])
    without = position.hash[:, None] ^ _combined(chain_hash, labels, own)
    return jnp.where(suicide, without, after), suicide


def repeats(state: GoState, legal: jax.Array) -> jax.Array:
    """Legal cells where a stone would recreate an earlier position.

    Args:
      state: unbatched.
      legal: bool [N·(N+1)], interior cells that are legal but for superko.

    Returns:
      bool [N·(N+1)]; all False under simple ko.
    """
    size = state.position.size
    after, suicide = hashes_after(state)
    own = hashing.colour_index(state.position.to_play)
    once_removed = mailbox.unpack_rows(state.record.removed[own])  # [N, N]
    once_removed = jnp.pad(once_removed, ((0, 0), (1, 0))).reshape(-1)
    possible = legal & (once_removed | suicide) & (state.rules.ko != KO_SIMPLE)
    possible = possible & hashing.filter_may_hold(state.record.seen, after)

    situational = state.rules.ko == KO_SITUATIONAL
    ignored = jnp.where(situational, np.uint32(0), np.uint32(1))
    known = state.record.hashes  # [2, T]
    length = state.position.move_number.astype(jnp.int32) + 1
    written = np.arange(known.shape[1], dtype=np.int32) < length
    cells = np.arange(size * (size + 1), dtype=np.int32)

    def check_one(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        waiting, banned = carry
        cell = jnp.argmax(waiting)
        candidate = hashing.tagged(after[:, cell], -state.position.to_play)
        difference = known ^ candidate[:, None]
        equal = (difference[0] | (difference[1] & ~ignored)) == 0
        found = jnp.any(equal & written) & waiting[cell]
        return waiting & (cells != cell), banned | (found & (cells == cell))

    _, banned = jax.lax.while_loop(
        lambda carry: jnp.any(carry[0]),
        check_one,
        (possible, jnp.zeros_like(possible)),
    )
    return banned
