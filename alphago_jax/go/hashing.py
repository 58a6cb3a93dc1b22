"""Zobrist hashes of positions, 63 bits in two uint32 words.

The lowest bit of the second word is kept free: the game's record of earlier
positions stores the player to move there, so that one record serves positional
superko (ignore the bit) and situational superko (compare it).

Zobrist, A. L. (1970). A new hashing method with application for game playing.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import mailbox

_MASK = (1 << 64) - 1


def _splitmix64(index: int) -> int:
    """The index-th output of SplitMix64 seeded with 0 (Steele et al. 2014)."""
    z = (index * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


@functools.cache
def keys(size: int) -> np.ndarray:
    """Zobrist keys of every cell and colour. uint32 [2, 2, P].

    First axis: colour (0 Black, 1 White). Second axis: the two words of the
    hash. The keys come from integer arithmetic alone, so that a stored hash
    keeps its meaning whatever NumPy's generators do.
    """
    num_cells = mailbox.num_cells(size)
    table = np.zeros((2, 2, num_cells), np.uint32)
    for colour in range(2):
        for cell in mailbox.cells_of_points(size):
            word = _splitmix64(1 + 2 * int(cell) + colour)
            table[colour, 0, cell] = word & 0xFFFFFFFF
            table[colour, 1, cell] = (word >> 32) & 0xFFFFFFFE
    return table


def colour_index(colour: jax.Array) -> jax.Array:
    """0 for Black (+1), 1 for White (−1). int32 scalar."""
    return (colour < 0).astype(jnp.int32)


def stone_hash(mask: jax.Array, colour: jax.Array, size: int) -> jax.Array:
    """Hash of the stones of one colour on the cells of `mask`.

    Args:
      mask: bool [P].
      colour: +1 or −1, scalar.
      size: array side N.

    Returns:
      uint32 [2].
    """
    table = jnp.where(colour > 0, keys(size)[0], keys(size)[1])  # [2, P]
    masked = jnp.where(mask, table, np.uint32(0))
    return jax.lax.reduce(masked, np.uint32(0), jax.lax.bitwise_xor, (1,))


def tagged(position_hash: jax.Array, to_play: jax.Array) -> jax.Array:
    """A hash with the player to move in its free bit. uint32 [2] -> uint32 [2]."""
    bit = (to_play < 0).astype(jnp.uint32)
    return position_hash | jnp.stack([jnp.zeros_like(bit), bit])


def filter_words(capacity: int) -> int:
    """Words of a Bloom filter for `capacity` hashes: 32 to 64 bits a hash."""
    return min(max(1 << (capacity - 1).bit_length(), 8), 2048)


def _filter_bits(position_hash: jax.Array, num_words: int) -> jax.Array:
    """The two bit numbers of a hash. uint32 [2, ...] -> uint32 [2, ...]."""
    first = position_hash[0] & np.uint32(32 * num_words - 1)
    # The tag lies in the lowest bit of the second word and must not be used.
    second = (position_hash[1] >> 8) & np.uint32(32 * num_words - 1)
    return jnp.stack([first, second])


def filter_add(words: jax.Array, position_hash: jax.Array) -> jax.Array:
    """Adds one hash to a Bloom filter. [K], [2] -> [K]."""
    if words.shape[0] == 0:
        return words
    bits = _filter_bits(position_hash, words.shape[0])
    number = np.arange(words.shape[0], dtype=np.uint32)
    for bit in bits:
        # A comparison with every word, not a scatter: under `vmap` a scatter
        # becomes a loop over the batch on a CPU.
        added = np.uint32(1) << (bit & 31)
        words = words | jnp.where(number == bit >> 5, added, np.uint32(0))
    return words


def filter_may_hold(words: jax.Array, position_hash: jax.Array) -> jax.Array:
    """False where a hash was never added. [K], [2, n] -> bool [n]."""
    bits = _filter_bits(position_hash, words.shape[0])  # [2, n]
    found = (words[bits >> 5] >> (bits & 31)) & 1
    return (found[0] & found[1]).astype(bool)
