"""The pgx interface: by itself, and beside pgx where that is installed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import go
from alphago_jax.go.pgx_adapter import PgxGo

SIMPLE_KO = go.Rules(ko="simple", suicide=False, komi=0.5)


@pytest.fixture(scope="module")
def env():
    return PgxGo(size=5, rules=SIMPLE_KO)


@pytest.fixture(scope="module")
def compiled(env):
    return jax.jit(env.init), jax.jit(env.step)


def test_start(env, compiled):
    init, _ = compiled
    blacks = set()
    for seed in range(8):
        state = init(jax.random.key(seed))
        assert state.observation.shape == env.observation_shape == (5, 5, 17)
        assert not np.any(state.observation)
        assert np.all(state.legal_action_mask) and not state.terminated
        blacks.add(int(state.current_player))
    assert blacks == {0, 1}


def test_observation_and_rewards(env, compiled):
    init, step = compiled
    state = init(jax.random.key(0))
    black = int(state.current_player)
    state = step(state, 7)
    planes = np.asarray(state.observation)
    assert int(state.current_player) == 1 - black
    assert planes[1, 2, 1] and planes[:, :, :16].sum() == 1 and planes[:, :, 16].all()
    mine = np.asarray(env.observe(state, jnp.int32(black)))
    assert mine[1, 2, 0] and mine[:, :, :16].sum() == 1 and not mine[:, :, 16].any()
    state = step(step(state, 25), 25)
    assert state.terminated and not state.truncated
    assert float(state.rewards[black]) == 1.0 == -float(state.rewards[1 - black])
    assert np.all(state.legal_action_mask)
    after = step(state, 3)
    assert np.all(after.rewards == 0) and after.terminated
    assert np.array_equal(after.observation, state.observation)


def test_illegal_action_loses(compiled):
    init, step = compiled
    state = step(init(jax.random.key(1)), 7)
    mover = int(state.current_player)
    state = step(state, 7)
    assert state.terminated
    assert float(state.rewards[mover]) == -1.0 == -float(state.rewards[1 - mover])


def test_beside_pgx():
    pgx = pytest.importorskip("pgx")
    size, games = 5, 16
    peer = pgx.make("go_9x9").__class__(size=size, komi=0.5)
    env = PgxGo(size=size, rules=SIMPLE_KO)
    step = jax.jit(jax.vmap(lambda s, a: env.step(s, a)))
    peer_step = jax.jit(jax.vmap(lambda s, a: peer.step(s, a)))
    keys = jax.random.split(jax.random.key(3), games)
    state, expected = jax.vmap(env.init)(keys), jax.vmap(peer.init)(keys)
    # Each draws the colours in its own way; here player 0 has Black in both.
    state = state.replace(
        players=jnp.tile(jnp.array([0, 1], jnp.int32), (games, 1)),
        current_player=jnp.zeros(games, jnp.int32),
    )
    expected = expected.replace(
        _player_order=jnp.tile(jnp.array([0, 1], jnp.int32), (games, 1)),
        current_player=jnp.zeros(games, jnp.int32),
    )
    rng, running, compared = np.random.default_rng(0), np.ones(games, bool), 0
    ended = 0
    for _ in range(2 * size * size - 1):
        mask = np.asarray(state.legal_action_mask)
        actions = []
        for row in mask:
            points = np.flatnonzero(row[:-1])
            passes = len(points) == 0 or rng.random() < 0.1
            actions.append(size * size if passes else rng.choice(points))
        state = step(state, jnp.asarray(actions, jnp.int32))
        expected = peer_step(expected, jnp.asarray(actions, jnp.int32))
        # pgx lets a player repeat a position and lose; that game is over there only.
        repeated = np.asarray(expected._x.is_psk)
        same = running & ~repeated
        for name in (
            "current_player",
            "observation",
            "legal_action_mask",
            "terminated",
            "rewards",
        ):
            mine = np.asarray(getattr(state, name))[same]
            assert np.array_equal(mine, np.asarray(getattr(expected, name))[same]), name
        compared += same.sum()
        ended += (same & np.asarray(state.terminated)).sum()
        running &= ~np.asarray(expected.terminated)
    assert compared > 150 and ended >= 5
