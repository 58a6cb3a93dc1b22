"""Training: losses, optimisers, one step, many devices, and the loop of a run.

It knows no Go and no search: it takes a network's functions, a loss, and examples.
"""

from alphago_jax.training.averages import Mean, weighted_mean
from alphago_jax.training.early_stopping import EarlyStopping
from alphago_jax.training.loop import (
    ExampleStream,
    LoopConfig,
    TrainingDivergedError,
    TrainingResult,
    train,
)
from alphago_jax.training.losses import (
    LossOutput,
    policy_loss,
    policy_value_loss,
    value_loss,
)
from alphago_jax.training.metrics import read_metrics
from alphago_jax.training.optimizers import (
    OptimizerConfig,
    learning_rate_schedule,
    make_optimizer,
)
from alphago_jax.training.parallel import (
    compile_eval_step,
    compile_train_step,
    make_mesh,
    replicate,
    shard_batch,
)
from alphago_jax.training.step import (
    TrainState,
    init_train_state,
    make_eval_step,
    make_train_step,
)

__all__ = [
    "EarlyStopping",
    "ExampleStream",
    "LoopConfig",
    "LossOutput",
    "Mean",
    "OptimizerConfig",
    "TrainState",
    "TrainingDivergedError",
    "TrainingResult",
    "compile_eval_step",
    "compile_train_step",
    "init_train_state",
    "learning_rate_schedule",
    "make_eval_step",
    "make_mesh",
    "make_optimizer",
    "make_train_step",
    "policy_loss",
    "policy_value_loss",
    "read_metrics",
    "replicate",
    "shard_batch",
    "train",
    "value_loss",
    "weighted_mean",
]
