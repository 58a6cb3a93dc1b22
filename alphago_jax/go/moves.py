"""Playing: `legal_actions` and `step`, for one state, pure and compiled."""

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import hashing, mailbox, superko
from alphago_jax.go.rules import KO_SIMPLE
from alphago_jax.go.state import (
    MOVE_LIMIT,
    NO_RESULT,
    PLAYING,
    TWO_PASSES,
    GoState,
    Position,
    Record,
    is_over,
    rows,
)


def legal_actions(state: GoState) -> jax.Array:
    """The moves that `step` accepts: the rule itself, superko included.

    Args:
      state: unbatched.

    Returns:
      bool [A], A = N² + 1, row-major from the top-left; the last is the pass,
      which is always legal. All False when the game is over.
    """
    position = state.position
    size = position.size
    suicide = state.rules.suicide if state.rules.scope.suicide else False
    legal = chains_lib.legal_cells(position.chains, position.to_play, size, suicide)
    ko_cell = mailbox.cell_of_action(position.ko_point.astype(jnp.int32), size)
    ko_cell = jnp.where(position.ko_point >= 0, ko_cell - (size + 1), -1)
    cells = np.arange(size * (size + 1), dtype=np.int32)
    legal = legal & (cells != ko_cell)
    if state.rules.scope.superko:
        legal = legal & ~superko.repeats(state, legal)
    # Through row bitboards: the sum in `pack_rows` keeps XLA from recomputing
    # the neighbourhood for every output point with its division by N.
    bits = mailbox.pack_rows(legal, size)
    points = mailbox.unpack_rows(bits).reshape(-1)
    mask = jnp.concatenate([points, jnp.ones(1, bool)])
    return mask & ~is_over(state)


def step(state: GoState, action: jax.Array) -> GoState:
    """Plays one action. A finished game is absorbing; `step` never scores.

    Args:
      state: unbatched.
      action: int32 scalar in [0, N²], N² is the pass. Must be legal: it is not
        checked here (`alphago_jax.go.play` checks, on the host).

    Returns:
      The next state.
    """
    position = state.position
    size = position.size
    action = jnp.asarray(action, jnp.int32)
    over = is_over(state)
    is_pass = action == size * size
    still = over | is_pass  # nothing moves on the board
    placed = chains_lib.place(
        position.chains,
        position.to_play,
        mailbox.cell_of_action(action, size),
        size,
        can_suicide=state.rules.scope.suicide,
    )
    new_hash, record = _remember(state, action, placed, still)
    num_passes = jnp.where(is_pass, position.num_passes + 1, 0).astype(jnp.int8)
    number = position.move_number + 1
    own = hashing.colour_index(position.to_play)
    lost = jnp.stack([placed.num_suicide, placed.num_captured])
    lost = jnp.where(own == 0, lost, lost[::-1]).astype(jnp.int16)
    ko_row, ko_column = jnp.divmod(placed.ko_cell, size + 1)
    ko_point = (ko_row - 1) * size + ko_column - 1
    next_position = Position(
        chains=jnp.where(still, position.chains, placed.chains),
        earlier=jnp.concatenate([rows(position)[None], position.earlier[:-1]]),
        hash=new_hash,
        to_play=-position.to_play,
        ko_point=jnp.where(still | (placed.ko_cell < 0), -1, ko_point).astype(
            jnp.int16
        ),
        num_passes=num_passes,
        prisoners=position.prisoners + jnp.where(still, jnp.int16(0), lost),
        move_number=number,
        button=jnp.where(
            is_pass & state.rules.button & (position.button == 0),
            position.to_play,
            position.button,
        ),
        status=position.status,
    )
    status = _status(state, next_position, record)
    next_position = next_position.replace(status=status)
    record = _append(record, next_position, over)
    next_position = jax.tree.map(
        lambda old, new: jnp.where(over, old, new), position, next_position
    )
    return state.replace(position=next_position, record=record)


def _status(state: GoState, after: Position, record: Record) -> jax.Array:
    """How the game stands after a move. int8 scalar."""
    capacity = record.hashes.shape[1]
    tag = hashing.tagged(after.hash, after.to_play)
    equal = jnp.all(record.hashes == tag[:, None], axis=0)
    written = np.arange(capacity, dtype=np.int32) < after.move_number
    earlier = jnp.sum(equal & written, dtype=jnp.int32)
    cycle = (state.rules.ko == KO_SIMPLE) & (earlier >= 2)
    status = jnp.where(after.move_number >= capacity - 1, MOVE_LIMIT, PLAYING)
    status = jnp.where(cycle, NO_RESULT, status)
    return jnp.where(after.num_passes >= 2, TWO_PASSES, status).astype(jnp.int8)


def _append(record: Record, after: Position, over: jax.Array) -> Record:
    """Adds the new position to the record, unless the game was over before."""
    tag = hashing.tagged(after.hash, after.to_play)
    number = np.arange(record.hashes.shape[1], dtype=np.int32)
    here = (number == after.move_number) & ~over
    return record.replace(
        hashes=jnp.where(here, tag[:, None], record.hashes),
        seen=hashing.filter_add(record.seen, tag[0]),
    )


def _remember(
    state: GoState,
    action: jax.Array,
    placed: chains_lib.Placed,
    still: jax.Array,
) -> tuple[jax.Array, Record]:
    """Hash after the move, and the parts of the record that superko reads."""
    position, record = state.position, state.record
    size = position.size
    scope = state.rules.scope
    cell = mailbox.cell_of_action(action, size)
    own = hashing.colour_index(position.to_play)
    change = jnp.asarray(hashing.keys(size))[own, :, cell]
    change ^= hashing.stone_hash(placed.captured, -position.to_play, size)
    if scope.suicide:
        gone = hashing.stone_hash(placed.suicide, position.to_play, size)
        # The new stone is one of those removed.
        change ^= gone
    new_hash = jnp.where(still, position.hash, position.hash ^ change)
    if not scope.superko:
        return new_hash, record
    merged = placed.chains == placed.chains[cell]
    chain_word = hashing.first_word(merged, position.to_play, size)
    captured = mailbox.pack_rows(mailbox.interior(placed.captured, size), size)
    suicide = mailbox.pack_rows(mailbox.interior(placed.suicide, size), size)
    gone = jnp.where(
        own == 0, jnp.stack([suicide, captured]), jnp.stack([captured, suicide])
    )
    return new_hash, record.replace(
        chain_word=jnp.where(merged & ~still, chain_word, record.chain_word),
        removed=record.removed | jnp.where(still, np.uint32(0), gone),
    )
