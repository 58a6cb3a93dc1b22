"""This engine behind the interface of pgx, so that code written for pgx can use it.

`PgxGo` has the methods and its states the fields that pgx's Go environment has, with
the same observation planes; pgx itself is not needed. What differs is the rule, not
the interface: `legal_action_mask` forbids a repetition, where pgx allows the move
and lets the player who made it lose; a draw is a draw; and any rule set can be
chosen.

Koyamada, S. et al. (2023). Pgx: Hardware-accelerated parallel game simulators for
reinforcement learning. NeurIPS.
"""

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import mailbox, moves, scoring
from alphago_jax.go import state as state_lib
from alphago_jax.go.rules import Rules
from alphago_jax.go.state import GoState

_NUM_BOARDS = 8
_ILLEGAL_PENALTY = -1.0


class PgxState(flax.struct.PyTreeNode):
    """A state as pgx has it. Unbatched.

    Attributes:
      current_player: int32, 0 or 1; which of them has Black is drawn by `init`.
      observation: bool [N, N, 17], seen by the current player: for the last eight
        boards, newest first, own stones and opposing stones, then a plane that is
        True if the player has White.
      rewards: float32 [2], of player 0 and player 1, for the last step.
      terminated: bool.
      truncated: bool, always False.
      legal_action_mask: bool [A], all True when the game is over, as in pgx.
      game: the game of this package.
      players: int32 [2], the player who has Black, then White.
    """

    current_player: jax.Array  # int32 []
    observation: jax.Array  # bool [N, N, 17]
    rewards: jax.Array  # float32 [2]
    terminated: jax.Array  # bool []
    truncated: jax.Array  # bool []
    legal_action_mask: jax.Array  # bool [A]
    game: GoState
    players: jax.Array  # int32 [2]


class PgxGo:
    """Go with pgx's `init`, `step` and `observe`; all pure and for one state."""

    version = "v1"
    num_players = 2

    def __init__(
        self,
        *,
        size: int = 19,
        komi: float | None = None,
        rules: Rules | None = None,
        max_terminal_steps: int | None = None,
    ) -> None:
        """Chooses board and rules.

        Args:
          size: board side N, 2 to 25.
          komi: points for White; the rules' own by default.
          rules: `Rules.cgos()` by default, which are the closest to pgx's.
          max_terminal_steps: longest game, 2 N² by default.

        Raises:
          ValueError: for a size, komi or length that cannot be.
        """
        rules = Rules.cgos() if rules is None else rules
        if komi is not None:
            rules = rules.replace(komi=komi)
        self.size = size
        self._start = state_lib.init(size, rules=rules, move_limit=max_terminal_steps)

    @property
    def id(self) -> str:
        """Name of the environment, such as "go_19x19"."""
        return f"go_{self.size}x{self.size}"

    @property
    def num_actions(self) -> int:
        """A = N² + 1."""
        return self.size * self.size + 1

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """[N, N, 17]."""
        return (self.size, self.size, 2 * _NUM_BOARDS + 1)

    def init(self, key: jax.Array) -> PgxState:
        """A new game; the key, which is consumed, draws who has Black."""
        first = jax.random.bernoulli(key).astype(jnp.int32)
        players = jnp.stack([first, 1 - first])
        game = self._start
        return self._state(game, players, jnp.zeros(2, jnp.float32), jnp.bool_(False))

    def step(
        self, state: PgxState, action: jax.Array, key: jax.Array | None = None
    ) -> PgxState:
        """Plays an action of the current player.

        An illegal action ends the game with −1 for the player and +1 for the
        opponent. A game that is over stays as it is, with rewards 0.

        Args:
          state: unbatched.
          action: int32 scalar in [0, N²], N² is the pass.
          key: not used; pgx's interface has it.
        """
        del key
        action = jnp.asarray(action, jnp.int32)
        illegal = ~state.legal_action_mask[action]
        game = moves.step(state.game, action)
        over = state_lib.is_over(game)
        rewards = jnp.where(over, self._rewards(game, state.players), 0.0)
        penalty = jnp.where(
            np.arange(2) == state.current_player, _ILLEGAL_PENALTY, -_ILLEGAL_PENALTY
        ).astype(jnp.float32)
        rewards = jnp.where(illegal, penalty, rewards)
        rewards = jnp.where(state.terminated, 0.0, rewards)
        game = jax.tree.map(
            lambda old, new: jnp.where(state.terminated, old, new), state.game, game
        )
        over = over | illegal | state.terminated
        return self._state(game, state.players, rewards, over)

    def observe(self, state: PgxState, player_id: jax.Array) -> jax.Array:
        """The observation of either player. bool [N, N, 17]."""
        position = state.game.position
        newest = state_lib.rows(position)[None]
        boards = mailbox.unpack_rows(jnp.concatenate([newest, position.earlier]))
        mine = jnp.where(player_id == state.players[0], 0, 1)
        ordered = jnp.stack([boards[:, mine], boards[:, 1 - mine]], axis=1)
        planes = ordered.reshape(2 * _NUM_BOARDS, self.size, self.size)
        colour = jnp.full((1, self.size, self.size), mine == 1)
        return jnp.moveaxis(jnp.concatenate([planes, colour]), 0, -1)

    def _rewards(self, game: GoState, players: jax.Array) -> jax.Array:
        won = scoring.outcome(game)
        return jnp.where(players[0] == np.arange(2), won, -won)

    def _state(
        self, game: GoState, players: jax.Array, rewards: jax.Array, over: jax.Array
    ) -> PgxState:
        black_moves = state_lib.to_play(game) > 0
        current = jnp.where(black_moves, players[0], players[1])
        state = PgxState(
            current_player=current,
            observation=jnp.zeros(self.observation_shape, bool),
            rewards=rewards,
            terminated=over,
            truncated=jnp.bool_(False),
            legal_action_mask=moves.legal_actions(game) | over,
            game=game,
            players=players,
        )
        return state.replace(observation=self.observe(state, current))
