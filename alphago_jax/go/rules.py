"""Rule sets: their names, their switches and the presets people use.

`Rules` is what a person writes; `RuleData` is what the compiled engine reads.
The values are data, so that one batch may mix rule sets and komi. What *can*
occur at all (`Scope`) is static, so that a program without superko does not
pay for superko.
"""

import dataclasses
from typing import Any, Literal, Self

import flax.struct
import jax
import jax.numpy as jnp

Ko = Literal["simple", "positional", "situational"]
Scoring = Literal["area", "territory"]
Tax = Literal["none", "seki", "all"]
HandicapBonus = Literal["zero", "n-1", "n"]

KO_SIMPLE, KO_POSITIONAL, KO_SITUATIONAL = range(3)
_CHOICES: dict[str, tuple[str, ...]] = {
    "ko": ("simple", "positional", "situational"),
    "scoring": ("area", "territory"),
    "tax": ("none", "seki", "all"),
    "handicap_bonus": ("zero", "n-1", "n"),
}
_MAX_KOMI = 1000.0


@dataclasses.dataclass(frozen=True)
class Scope:
    """What can occur in a compiled program; the shape of its cost, not a rule.

    Attributes:
      superko: some game may use positional or situational superko.
      suicide: some game may allow multi-stone suicide.
      territory: some game may be scored by territory.
    """

    superko: bool = False
    suicide: bool = False
    territory: bool = False

    def __or__(self, other: "Scope") -> "Scope":
        """The smallest scope that holds both."""
        return Scope(
            self.superko or other.superko,
            self.suicide or other.suicide,
            self.territory or other.territory,
        )


class RuleData(flax.struct.PyTreeNode):
    """Rules as arrays; every field is a scalar (unbatched).

    Attributes:
      ko: int8, 0 simple, 1 positional superko, 2 situational superko.
      suicide: bool, multi-stone suicide is legal.
      territory: bool, scored by territory rather than area.
      tax: int8, 0 none, 1 no points in seki, 2 also two points a group.
      button: bool, the first pass takes half a point.
      handicap_bonus: int8, White gets 0, N − 1 or N points for N stones.
      komi: float32, points for White.
      board_size: int32, side of the board in play, at most the array side.
      scope: static, what the program is compiled for.
    """

    ko: jax.Array
    suicide: jax.Array
    territory: jax.Array
    tax: jax.Array
    button: jax.Array
    handicap_bonus: jax.Array
    komi: jax.Array
    board_size: jax.Array
    scope: Scope = flax.struct.field(pytree_node=False)


@dataclasses.dataclass(frozen=True)
class Rules:
    """A rule set, as a person writes it.

    Attributes:
      ko: "simple" (no immediate recapture; a cycle ends without a result at its
        third occurrence), "positional" (no earlier whole-board position may be
        recreated) or "situational" (none with the same player to move).
      suicide: whether a move may remove the mover's own chain of two stones or
        more. A single stone can never remove itself.
      scoring: "area" (stones and surrounded points) or "territory" (surrounded
        points and prisoners).
      tax: "none", "seki" (no territory in seki) or "all" (also two points less
        for every living group, as in stone scoring).
      button: the first player to pass gains half a point.
      friendly_pass: a player may pass over dead stones without losing points;
        for players and networks, the engine scores the same either way.
      handicap_bonus: what White gets for N handicap stones.
      komi: points for White.
    """

    ko: Ko = "positional"
    suicide: bool = True
    scoring: Scoring = "area"
    tax: Tax = "none"
    button: bool = False
    friendly_pass: bool = False
    handicap_bonus: HandicapBonus = "zero"
    komi: float = 7.5

    def __post_init__(self) -> None:
        values = dataclasses.asdict(self)
        for name, choices in _CHOICES.items():
            value = values[name]
            if value not in choices:
                raise ValueError(f"{name} must be one of {choices}, got {value!r}")
        if not abs(self.komi) <= _MAX_KOMI or self.komi * 2 != round(self.komi * 2):
            raise ValueError(
                f"komi must be a whole or half number within ±{_MAX_KOMI:g}, "
                f"got {self.komi!r}"
            )

    @property
    def scope(self) -> Scope:
        """The least that a program must be compiled for to play by these rules."""
        return Scope(self.ko != "simple", self.suicide, self.scoring == "territory")

    def replace(self, **changes: Any) -> "Rules":
        """A copy with some switches changed."""
        return dataclasses.replace(self, **changes)

    def data(self, board_size: int, scope: Scope | None = None) -> RuleData:
        """Arrays for the compiled engine.

        Args:
          board_size: side of the board in play.
          scope: what the program must be able to do; the rules' own by default.

        Raises:
          ValueError: if `scope` is narrower than the rules.
        """
        scope = self.scope if scope is None else scope
        if scope | self.scope != scope:
            raise ValueError(f"{scope} does not hold {self.scope}, which {self} needs")
        return RuleData(
            ko=jnp.int8(_CHOICES["ko"].index(self.ko)),
            suicide=jnp.bool_(self.suicide),
            territory=jnp.bool_(self.scoring == "territory"),
            tax=jnp.int8(_CHOICES["tax"].index(self.tax)),
            button=jnp.bool_(self.button),
            handicap_bonus=jnp.int8(
                _CHOICES["handicap_bonus"].index(self.handicap_bonus)
            ),
            komi=jnp.float32(self.komi),
            board_size=jnp.int32(board_size),
            scope=scope,
        )

    @classmethod
    def _preset(cls, defaults: dict[str, Any], changes: dict[str, Any]) -> Self:
        return cls(**{**defaults, **changes})

    @classmethod
    def tromp_taylor(cls, **changes: Any) -> Self:
        """Tromp-Taylor: area, positional superko, suicide, komi 7.5."""
        return cls._preset({}, changes)

    @classmethod
    def cgos(cls, **changes: Any) -> Self:
        """Computer Go server: Tromp-Taylor without suicide."""
        return cls._preset({"suicide": False}, changes)

    @classmethod
    def chinese(cls, **changes: Any) -> Self:
        """Chinese: area, simple ko, White gets N for N handicap stones."""
        return cls._preset(
            {
                "ko": "simple",
                "suicide": False,
                "friendly_pass": True,
                "handicap_bonus": "n",
            },
            changes,
        )

    @classmethod
    def japanese(cls, **changes: Any) -> Self:
        """Japanese: territory, simple ko, no points in seki, komi 6.5."""
        return cls._preset(
            {
                "ko": "simple",
                "suicide": False,
                "scoring": "territory",
                "tax": "seki",
                "komi": 6.5,
            },
            changes,
        )

    @classmethod
    def korean(cls, **changes: Any) -> Self:
        """Korean: the same switches as Japanese."""
        return cls.japanese(**changes)

    @classmethod
    def aga(cls, **changes: Any) -> Self:
        """American: area, situational superko, White gets N − 1."""
        return cls._preset(
            {
                "ko": "situational",
                "suicide": False,
                "friendly_pass": True,
                "handicap_bonus": "n-1",
            },
            changes,
        )

    @classmethod
    def new_zealand(cls, **changes: Any) -> Self:
        """New Zealand: area, situational superko, suicide, komi 7."""
        return cls._preset(
            {"ko": "situational", "friendly_pass": True, "komi": 7.0}, changes
        )
