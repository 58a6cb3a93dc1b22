"""Networks: planes to outputs, knowing no Go.

`create(name, board_size, **overrides)` makes a `Network`, a pair of pure functions
`init` and `apply`; every network returns a `NetworkOutput`.
"""

from alphago_jax.networks.loading import from_checkpoint
from alphago_jax.networks.network import Network, NetworkOutput, Variables
from alphago_jax.networks.parameters import format_parameter_table, parameter_table
from alphago_jax.networks.probabilities import get_move_probabilities
from alphago_jax.networks.registry import create

__all__ = [
    "Network",
    "NetworkOutput",
    "Variables",
    "create",
    "format_parameter_table",
    "from_checkpoint",
    "get_move_probabilities",
    "parameter_table",
]
