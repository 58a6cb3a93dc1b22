import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from alphago_jax import checkpoint
from alphago_jax.checkpoint import CheckpointError, NetworkMetadata
from alphago_jax.networks.loading import from_checkpoint
from alphago_jax.networks.registry import create

METADATA = NetworkMetadata(
    name="alphago_policy",
    board_size=5,
    config={"filters": 4, "layers": 2},
    planes="alphago",
    rules="chinese",
    step=7,
    metrics={"top_1": 0.25},
    notes={"data": ["a", 1, None]},
)


@pytest.fixture(scope="module")
def variables():
    rng = np.random.default_rng(0)
    return {
        "params": {
            "layer": {"kernel": rng.normal(size=(3, 4)).astype(np.float32)},
            "half": rng.normal(size=3).astype(ml_dtypes.bfloat16),
            "count": np.arange(3, dtype=np.int32),
        },
        "batch_stats": {"mean": np.zeros(4, np.float32)},
    }


def assert_same(tree, other):
    assert jax.tree.structure(tree) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(tree), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_a_directory_comes_back_as_it_was(tmp_path, variables):
    path = tmp_path / "deep" / "network"
    on_device = jax.tree.map(jnp.asarray, variables)
    checkpoint.save_network(path, on_device, METADATA)
    metadata, restored = checkpoint.load_network(path)
    assert metadata == METADATA
    assert_same(restored, variables)
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(restored))
    # It says what it is to a reader without this package.
    assert json.loads((path / "network.json").read_text())["name"] == "alphago_policy"
    assert [entry.name for entry in path.parent.iterdir()] == ["network"]


def test_a_network_is_overwritten_only_if_asked(tmp_path, variables):
    path = tmp_path / "network"
    checkpoint.save_network(path, variables, METADATA)
    with pytest.raises(CheckpointError, match="not overwritten"):
        checkpoint.save_network(path, variables, METADATA)
    changed = jax.tree.map(lambda leaf: leaf + 1, variables)
    checkpoint.save_network(path, changed, METADATA, overwrite=True)
    assert_same(checkpoint.load_network(path)[1], changed)
    other = tmp_path / "precious"
    other.mkdir()
    with pytest.raises(CheckpointError, match="not overwritten"):
        checkpoint.save_network(other, variables, METADATA, overwrite=True)


def test_a_file_comes_back_as_it_was(tmp_path, variables):
    path = tmp_path / "network.npz"
    sha256 = checkpoint.save_network_file(path, variables, METADATA)
    metadata, restored = checkpoint.load_network(path, sha256=sha256)
    assert metadata == METADATA
    assert_same(restored, variables)
    again = tmp_path / "again.npz"
    assert checkpoint.save_network_file(again, variables, METADATA) == sha256
    with pytest.raises(CheckpointError, match="SHA-256"):
        checkpoint.load_network(path, sha256="0" * 64)
    with pytest.raises(CheckpointError, match="not overwritten"):
        checkpoint.save_network_file(path, variables, METADATA)
    with pytest.raises(CheckpointError, match="npz"):
        checkpoint.save_network_file(tmp_path / "network.bin", variables, METADATA)


def test_half_precision_halves_the_file_and_keeps_the_dtype(tmp_path):
    kernel = np.random.default_rng(0).normal(size=(100, 100)).astype(np.float32)
    variables = {"params": {"kernel": kernel}}
    whole, half = tmp_path / "whole.npz", tmp_path / "half.npz"
    checkpoint.save_network_file(whole, variables, METADATA)
    checkpoint.save_network_file(half, variables, METADATA, half=True)
    assert half.stat().st_size < 0.55 * whole.stat().st_size
    restored = checkpoint.load_network(half)[1]["params"]["kernel"]
    assert restored.dtype == np.float32
    np.testing.assert_allclose(restored, kernel, rtol=2.0**-11, atol=1e-7)
    assert np.abs(restored - kernel).max() > 0
    with pytest.raises(CheckpointError, match="params/kernel does not fit"):
        checkpoint.save_network_file(
            half,
            {"params": {"kernel": kernel * 1e6}},
            METADATA,
            half=True,
            overwrite=True,
        )


def test_what_is_no_network_is_refused_plainly(tmp_path, variables):
    with pytest.raises(CheckpointError, match="neither a network"):
        checkpoint.load_network(tmp_path / "nothing")
    junk = tmp_path / "junk.npz"
    junk.write_bytes(b"PK\x03\x04 this is not a zip file")
    with pytest.raises(CheckpointError, match="not a network file"):
        checkpoint.load_network(junk)
    np.savez(junk, weights=np.zeros(3))
    with pytest.raises(CheckpointError, match="not a network file"):
        checkpoint.load_network(junk)
    path = checkpoint.save_network(tmp_path / "network", variables, METADATA)
    for change, message in [
        ({"format_version": 99}, "format 99"),
        ({"surprise": 1}, "not a network description"),
    ]:
        text = json.dumps(METADATA.to_json() | change)
        (path / "network.json").write_text(text)
        with pytest.raises(CheckpointError, match=message):
            checkpoint.load_network(path)
    (path / "network.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be read"):
        checkpoint.load_network(path)


def test_from_checkpoint_needs_nothing_else(tmp_path):
    network = create("alphago_policy", 5, filters=4, layers=2)
    shapes = jax.eval_shape(network.init, jax.random.key(0))
    rng = np.random.default_rng(0)
    variables = jax.tree.map(
        lambda leaf: rng.normal(size=leaf.shape).astype(leaf.dtype), shapes
    )
    metadata = NetworkMetadata(
        network.name, 5, network.config_dict(), planes=network.planes, step=3
    )
    checkpoint.save_network_file(tmp_path / "n.npz", variables, metadata)
    checkpoint.save_network(tmp_path / "n", variables, metadata)
    for path in (tmp_path / "n.npz", tmp_path / "n"):
        loaded, restored, found = from_checkpoint(path)
        assert loaded == network and found == metadata
        assert_same(restored, variables)
    # A tower of another width does not slip through.
    wrong = NetworkMetadata(network.name, 5, network.config_dict() | {"filters": 5})
    checkpoint.save_network_file(tmp_path / "wrong.npz", variables, wrong)
    with pytest.raises(CheckpointError, match="the network needs"):
        from_checkpoint(tmp_path / "wrong.npz")
    unknown = NetworkMetadata("no_such_network", 5)
    checkpoint.save_network_file(tmp_path / "unknown.npz", variables, unknown)
    with pytest.raises(CheckpointError, match="no_such_network"):
        from_checkpoint(tmp_path / "unknown.npz")
