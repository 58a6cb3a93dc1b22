"""The 49 input planes of AlphaGo's value network: the 48, and the colour to move."""

import jax
import jax.numpy as jnp

from alphago_jax.features import alphago
from alphago_jax.go.state import GoState

NUM_CHANNELS = 49


def channel_names() -> tuple[str, ...]:
    """Names of the 49 planes, in order."""
    return (*alphago.channel_names(), "black_to_play")


def planes(state: GoState, dtype: jax.typing.DTypeLike = jnp.float32) -> jax.Array:
    """The 49 planes, seen by the player to move.

    Args:
      state: unbatched, see `alphago.planes`.
      dtype: of the result.

    Returns:
      [N, N, 49], 0 or 1; 0 everywhere off the board.
    """
    return alphago.unpack(alphago.packed(state), NUM_CHANNELS, dtype)
