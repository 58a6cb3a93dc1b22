import json
import os
import pathlib
import subprocess
import sys

import jax
import numpy as np
import optax
import pytest
import toy_training as toy

from alphago_jax.checkpoint import RunDirectory
from alphago_jax.training import init_train_state

HERE = pathlib.Path(__file__).parent
REPOSITORY = HERE.parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("eight") / "run"


@pytest.fixture(scope="module")
def result(folder):
    """What many_devices.py finds with eight host devices."""
    environment = os.environ | {
        # Without optimisation: compiling for eight devices takes the time here.
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8 "
        "--xla_backend_optimization_level=0",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": str(REPOSITORY),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", str(HERE / "many_devices.py"), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_a_mesh_of_eight_trains_like_one_device(result):
    assert result["devices"] == 8
    assert result["mesh"] < 1e-6


def test_pmap_trains_like_one_device(result):
    assert result["pmap"] < 1e-6


def test_metrics_are_those_of_the_whole_batch(result):
    single, mesh, pmap = result["metrics"]
    assert single["loss"] > 0
    assert mesh == pytest.approx(single, rel=1e-4)
    assert pmap == pytest.approx(single, rel=1e-4)


def test_a_missing_mean_would_show(result):
    """The same program without the axis name: the devices drift apart."""
    assert result["without_mean"] > 1e-3
    assert result["devices_apart"] > 1e-3


@pytest.mark.parametrize("num_devices", [1, 2, 8])
def test_a_checkpoint_of_eight_devices_restores_on(result, num_devices):
    restored = result["checkpoint"][str(num_devices)]
    assert restored["devices"] == num_devices
    assert restored["distance"] == 0.0
    assert restored["key"] == jax.random.key_data(jax.random.key(0)).tolist()


def test_the_save_outlives_its_donated_buffers(result):
    """The step after the save did change the state, not what was saved."""
    assert result["checkpoint"]["moved"] > 1e-3


def test_it_restores_in_a_program_with_one_device(result, folder):
    network = toy.ToyNetwork()
    state = init_train_state(
        network.variables(), optax.sgd(0.1, momentum=0.9), jax.random.key(1)
    )
    with RunDirectory(folder, {}, resume=True) as run:
        restored = run.restore(state)
    assert restored is not None and restored.step == 3
    assert int(restored.state.step) == 3
    assert not np.array_equal(
        restored.state.params["Conv_0"]["kernel"], state.params["Conv_0"]["kernel"]
    )
