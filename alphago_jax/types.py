"""The dimension glossary, and the arrays that cross folders.

Array shapes are written with these letters everywhere in the package:

| letter | meaning |
|---|---|
| B | batch: games, positions or examples |
| N | board side |
| A | actions, N·N + 1; `action` is row-major from the top-left, N·N is the pass |
| C | channels (feature planes) |
| S | simulations of a search |
| T | time, in plies |

`to_play` is +1 for Black and -1 for White. A `value` is in [-1, 1] and seen by the
player to move. `prior_logits` are logits. `legal_actions` is True where legal.
"""

from typing import TypeAlias

import jax
from flax import struct

JSON: TypeAlias = (
    bool | int | float | str | list["JSON"] | tuple["JSON", ...] | dict[str, "JSON"]
) | None


@struct.dataclass
class Examples:
    """A batch of training examples: positions with what happened in them.

    Attributes:
        planes: [B, N, N, C] network input, any real dtype (often uint8).
        actions: int32 [B] the move played, in [0, A).
        returns: float32 [B] result of the game, +1 won, 0 drawn, -1 lost, seen by
            the player to move.
        weights: float32 [B] weight in the loss; 0 marks padding, which must not
            influence anything but batch statistics.
        legal_actions: bool [B, A], or None where nobody asked for it.
    """

    planes: jax.Array  # [B, N, N, C]
    actions: jax.Array  # [B]
    returns: jax.Array  # [B]
    weights: jax.Array  # [B]
    legal_actions: jax.Array | None = None  # [B, A]
