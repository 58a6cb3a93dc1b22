"""From a network's logits to the probabilities that moves are played with."""

import jax
import jax.numpy as jnp


def get_move_probabilities(
    prior_logits: jax.Array,
    legal_actions: jax.Array,
    temperature: jax.Array | float = 1.0,
) -> jax.Array:
    """Masks illegal moves, raises to the power 1/T and renormalises.

    The probability of a legal move a is p(a)^(1/T) / Σ_b p(b)^(1/T) over legal moves b,
    computed from the logits, so that nothing underflows however small T is.

    * T → 0 (T = 0 and below too) gives the most probable legal move, the first of
      equals; T → ∞ is uniform over the legal moves.
    * If the network gives no mass to any legal move (all its logits there are −∞ or
      NaN), the result is uniform over the legal moves. A NaN or −∞ at a single move
      means no mass for that move.
    * If no move is legal, all the mass is on the pass (the last action): a finished
      game must not poison the batch that it is in.

    Args:
      prior_logits: [..., A] logits, in any floating dtype.
      legal_actions: bool [..., A], True = legal.
      temperature: T, one number or an array that broadcasts to the batch [...].

    Returns:
      fp32 [..., A] probabilities: finite, never negative, 0 at illegal moves, sum 1.
    """
    logits = prior_logits.astype(jnp.float32)
    limit = jnp.finfo(jnp.float32).max
    no_legal_move = ~jnp.any(legal_actions, axis=-1)  # [...]
    legal_actions = legal_actions.at[..., -1].max(no_legal_move)
    has_mass = legal_actions & (logits > -jnp.inf)  # False where NaN too
    some_mass = jnp.any(has_mass, axis=-1, keepdims=True)  # [..., 1]
    support = jnp.where(some_mass, has_mass, legal_actions)  # [..., A]
    logits = jnp.where(support & some_mass, jnp.minimum(logits, limit), 0.0)

    highest = jnp.max(logits, axis=-1, keepdims=True, where=support, initial=-limit)
    # The floor keeps 0/0 away; with it, all that is not the maximum is out of reach.
    divisor = jnp.maximum(jnp.asarray(temperature, jnp.float32), 1e-30)[..., None]
    scaled = jnp.where(support, (logits - highest) / divisor, -jnp.inf)  # [..., A]
    warm = jax.nn.softmax(scaled, axis=-1)
    cold = jax.nn.one_hot(
        jnp.argmax(jnp.where(support, logits, -jnp.inf), axis=-1), logits.shape[-1]
    )
    return jnp.where(jnp.asarray(temperature)[..., None] > 0, warm, cold)
