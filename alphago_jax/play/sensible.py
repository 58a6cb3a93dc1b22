"""Moves worth considering: legal ones that do not fill an own eye.

A game between players that fill their own eyes never ends; one between players that
keep to sensible moves ends when both have none left, with every dead stone taken off.
"""

import jax

from alphago_jax import go
from alphago_jax.features import alphago


def sensible_points(state: go.GoState, legal_actions: jax.Array) -> jax.Array:
    """Legal points that fill no own eye, as in AlphaGo's plane "sensibleness".

    Args:
      state: unbatched.
      legal_actions: bool [A], as from `go.legal_actions`.

    Returns:
      bool [N²]; the pass is not among them.
    """
    return legal_actions[:-1] & ~alphago.own_eyes(state.position).reshape(-1)
