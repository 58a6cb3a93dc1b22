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


def first_word(mask: jax.Array, colour: jax.Array, size: int) -> jax.Array:
    """First word of `stone_hash`. bool [P] -> uint32 scalar."""
    table = jnp.where(colour > 0, keys(size)[0, 0], keys(size)[1, 0])  # [P]
    masked = jnp.where(mask, table, np.uint32(0))
    return jax.lax.reduce(masked, np.uint32(0), jax.lax.bitwise_xor, (0,))


def tagged(position_hash: jax.Array, to_play: jax.Array) -> jax.Array:
    """A hash with the player to move in its free bit. uint32 [2] -> uint32 [2]."""
    bit = (to_play < 0).astype(jnp.uint32)
    return position_hash | jnp.stack([jnp.zeros_like(bit), bit])


def filter_words(capacity: int) -> int:
    """Words of a Bloom filter for `capacity` hashes: 32 to 64 bits a hash."""
    return min(max(1 << (capacity - 1).bit_length(), 8), 2048)


def _filter_bits(word: jax.Array, num_words: int) -> tuple[jax.Array, jax.Array]:
    """Where a hash stands in a Bloom filter, and its three bits there.

    All bits of a hash share one word of the filter, so that looking is one gather
    (Putze, Sanders and Singler 2009, "Cache-, hash- and space-efficient Bloom
    filters").
    """
    index = word & np.uint32(num_words - 1)  # at most 11 bits
    bits = jnp.zeros_like(word)
    for shift in (11, 16, 21):
        bits = bits | (np.uint32(1) << ((word >> shift) & 31))
    return index, bits


def filter_add(words: jax.Array, word: jax.Array) -> jax.Array:
    """Adds one hash to a Bloom filter, by its first word. [K], [] -> [K]."""
    if words.shape[0] == 0:
        return words
    index, bits = _filter_bits(word, words.shape[0])
    number = np.arange(words.shape[0], dtype=np.uint32)
    # A comparison with every word, not a scatter: under `vmap` a scatter becomes a
    # loop over the batch on a CPU.
    return words | jnp.where(number == index, bits, np.uint32(0))


def filter_may_hold(words: jax.Array, word: jax.Array) -> jax.Array:
    """False where no hash with this first word was added. [K], [n] -> bool [n]."""
    index, bits = _filter_bits(word, words.shape[0])
    return (words[index] & bits) == bits
