"""A small run to be killed: `kill_run.py DIRECTORY NUM_STEPS`."""

import pathlib
import sys
import time

import jax
import numpy as np
import optax
import toy_training as toy

from alphago_jax.checkpoint import Retention, RunDirectory
from alphago_jax.training import (
    LoopConfig,
    init_train_state,
    make_eval_step,
    make_train_step,
    policy_value_loss,
    train,
)


def main() -> None:
    directory, num_steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    network, optimizer = toy.ToyNetwork(), optax.sgd(0.05, momentum=0.9)
    step = jax.jit(
        make_train_step(network.apply_train, policy_value_loss, optimizer),
        donate_argnums=0,
    )
    eval_step = jax.jit(make_eval_step(network.apply_eval, policy_value_loss))
    held_out = toy.make_batch(0)

    def slow_step(state, examples):
        time.sleep(0.004)  # gives the killer something to aim at
        return step(state, examples)

    def evaluate(state):
        metrics = eval_step(state.averaged_variables, held_out)
        return {"loss": metrics["loss"].compute()}

    config = LoopConfig(num_steps, log_every=10, eval_every=50, save_every=7)
    state = init_train_state(
        network.variables(), optimizer, jax.random.key(0), keep_average=True
    )
    retention = Retention(metric="loss", mode="min")
    with RunDirectory(
        directory, {"num_steps": num_steps}, resume=True, retention=retention
    ) as run:
        print("from", run.latest_step, flush=True)
        result = train(
            run, state, slow_step, toy.ToyStream(), config, evaluate=evaluate
        )
    state = result.state.replace(rng_key=jax.random.key_data(result.state.rng_key))
    leaves = {
        jax.tree_util.keystr(path): np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(state)
    }
    np.savez(directory / "final.npz", **leaves)
    print("reached", result.step, result.best_step, flush=True)


if __name__ == "__main__":
    main()
