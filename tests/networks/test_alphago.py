"""AlphaGo's policy and value networks."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import networks
from alphago_jax.networks.alphago import NO_PASS_LOGIT
from networks import kit

SMALL = {"filters": 8, "layers": 3}


@pytest.mark.parametrize(
    ("name", "options", "total"),
    [
        ("alphago_policy", {}, 3_882_434),
        ("alphago_policy", {"pass_move": False}, 3_882_793),
        ("alphago_policy", {"filters": 128, "pass_move": False}, 1_777_641),
        ("alphago_policy", {"filters": 256, "pass_move": False}, 6_798_953),
        ("alphago_value", {}, 3_980_162),
    ],
)
def test_parameter_counts_are_the_papers(name, options, total):
    rows = networks.parameter_table(networks.create(name, 19, **options))
    assert all(row.count == row.formula for row in rows), rows
    assert sum(row.count for row in rows) == total
    text = networks.format_parameter_table(rows)
    assert len(text.splitlines()) == len(rows) + 2
    assert text.splitlines()[-1].split() == ["total", f"{total:,}", f"{total:,}"]
    assert "kernel 3×3×" in text and rows[0].layer == "tower/layer_1"


def test_parameter_table_with_additions():
    network = networks.create(
        "alphago_value", 7, batch_norm=True, residual=True, hidden=5, **SMALL
    )
    rows = {row.layer: row for row in networks.parameter_table(network)}
    assert all(row.count == row.formula for row in rows.values())
    assert rows["tower/layer_2"].count == 9 * 8 * 8 + 2 * 8
    assert rows["hidden"].count == 49 * 5 + 5


LAWS = [
    ("alphago_policy", {}),
    ("alphago_policy", {"batch_norm": True, "residual": True, "conv": "winograd"}),
    ("alphago_value", {"hidden": 16}),
]


@pytest.mark.parametrize(("name", "options"), LAWS, ids=str)
def test_laws(name, options):
    kit.check_everything(networks.create(name, 5, **SMALL, **options))


def torch_tower(params, x, residual):
    from torch.nn import functional

    skip = None
    for index in range(1, len(params) + 1):
        layer = params[f"layer_{index}"]
        y = functional.conv2d(x, layer["kernel"], layer["bias"], padding="same")
        if residual and index in (3, 5, 7):
            y = y + skip
        x = y.relu()
        if index in (1, 3, 5, 7):
            skip = x
    return x


def torch_network(residual=False):
    def forward(params, planes):
        import torch

        x = torch_tower(params["tower"], planes, residual)
        head = params["head"]
        points = torch.nn.functional.conv2d(x, head["kernel"]).flatten(1)
        points = points + head["bias"]
        if "hidden" in params:
            hidden, output = params["hidden"], params["output"]
            x = (points @ hidden["kernel"].T + hidden["bias"]).relu()
            x = x @ output["kernel"].T + output["bias"]
            return {"value": x[:, 0].tanh()}
        no_pass = torch.full((1,), NO_PASS_LOGIT, dtype=torch.float64)
        last = params.get("pass_logit", no_pass).expand(len(points), 1)
        return {"prior_logits": torch.cat([points, last], 1)}

    return forward


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("alphago_policy", {"layers": 3, "conv": "plain"}),
        ("alphago_policy", {"layers": 3, "conv": "winograd", "pass_move": False}),
        ("alphago_policy", {"layers": 4, "conv": "winograd", "residual": True}),
        ("alphago_value", {"layers": 3, "conv": "winograd", "hidden": 16}),
    ],
    ids=str,
)
def test_same_as_torch(name, options):
    network = networks.create(name, 9, filters=8, **options)
    kit.check_against_torch(network, torch_network(options.get("residual", False)))


def test_no_pass_means_no_mass_on_the_pass():
    network = networks.create("alphago_policy", 5, pass_move=False, **SMALL)
    planes = kit.random_planes(network, batch=2)
    logits = kit.compiled_apply(network)(
        network.init(jax.random.key(0)), planes
    ).prior_logits
    assert logits.shape == (2, 26)
    np.testing.assert_array_equal(jax.nn.softmax(logits)[:, -1], 0.0)


def test_residual_pairs_start_as_the_identity():
    deep = networks.create("alphago_policy", 5, filters=8, layers=5, residual=True)
    stem = networks.create("alphago_policy", 5, filters=8, layers=1)
    variables = deep.init(jax.random.key(0))
    params = variables["params"]
    stem_params = {**params, "tower": {"layer_1": params["tower"]["layer_1"]}}
    planes = kit.random_planes(deep)
    np.testing.assert_allclose(
        kit.compiled_apply(deep)(variables, planes).prior_logits,
        kit.compiled_apply(stem)({"params": stem_params}, planes).prior_logits,
        rtol=1e-6,
    )


def test_batch_norm_statistics():
    network = networks.create("alphago_policy", 5, batch_norm=True, **SMALL)
    variables = network.init(jax.random.key(0))
    planes = kit.random_planes(network, batch=8)
    outputs, updates = jax.jit(network.apply_train)(variables, planes)
    assert set(updates) == {"batch_stats"}
    same = jax.jit(network.apply, static_argnames="train")(
        variables, planes, train=True
    )
    np.testing.assert_allclose(
        outputs.prior_logits, same.prior_logits, rtol=1e-5, atol=1e-5
    )
    # The first layer by hand: a convolution as a sum over shifts, then the moments.
    kernel = np.asarray(variables["params"]["tower"]["layer_1"]["kernel"], np.float64)
    padded = np.pad(np.asarray(planes, np.float64), ((0, 0), (2, 2), (2, 2), (0, 0)))
    y = sum(
        padded[:, i : i + 5, j : j + 5] @ kernel[i, j]
        for i in range(5)
        for j in range(5)
    )
    stats = updates["batch_stats"]["tower"]["layer_1"]["norm"]
    np.testing.assert_allclose(stats["mean"], 0.01 * y.mean((0, 1, 2)), atol=1e-6)
    np.testing.assert_allclose(stats["var"], 0.99 + 0.01 * y.var((0, 1, 2)), rtol=1e-5)
    plain = networks.create("alphago_policy", 5, **SMALL)
    plain_variables = plain.init(jax.random.key(0))
    assert jax.jit(plain.apply_train)(plain_variables, planes)[1] == {}


def test_batch_norm_over_a_mapped_axis_is_that_of_the_whole_batch():
    network = networks.create("alphago_policy", 5, batch_norm=True, **SMALL)
    variables = network.init(jax.random.key(0))
    planes = kit.random_planes(network, batch=8)
    whole, updates = jax.jit(network.apply_train)(variables, planes)

    def part(planes):
        return network.apply_train(variables, planes, axis_name="devices")

    halves, half_updates = jax.jit(jax.vmap(part, axis_name="devices"))(
        planes.reshape(2, 4, 5, 5, 48)
    )
    np.testing.assert_allclose(
        halves.prior_logits.reshape(8, -1), whole.prior_logits, rtol=1e-4, atol=1e-4
    )
    for got, expected in zip(
        jax.tree.leaves(half_updates), jax.tree.leaves(updates), strict=True
    ):
        np.testing.assert_allclose(got[0], expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(got[1], expected, rtol=1e-4, atol=1e-5)


def test_dropout_is_for_training_only():
    network = networks.create("alphago_value", 5, dropout=0.5, hidden=16, **SMALL)
    variables = network.init(jax.random.key(0))
    planes = kit.random_planes(network)
    apply = jax.jit(network.apply, static_argnames="train")
    still = apply(variables, planes).value
    np.testing.assert_array_equal(still, apply(variables, planes).value)
    values = [
        apply(
            variables, planes, train=True, rngs={"dropout": jax.random.key(seed)}
        ).value
        for seed in (0, 1)
    ]
    assert not np.allclose(values[0], values[1])
    assert not np.allclose(values[0], still)


def test_configuration_round_trip_and_value_semantics():
    network = networks.create("alphago_value", 9, dropout=0.5, dtype="bfloat16")
    stored = json.loads(json.dumps(network.config_dict()))
    again = networks.create(network.name, network.board_size, **stored)
    assert again == network and hash(again) == hash(network)
    assert (network.planes, network.num_planes) == ("alphago_value", 49)
    assert networks.create("alphago_policy", 9).planes == "alphago"
    assert networks.create("alphago_value", 9) != network


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("alphago", 9), {}, "alphago_policy, alphago_value"),
        (("alphago_policy", 9), {"filter": 3}, "no option filter; it has: .*filters"),
        (("alphago_policy", 9), {"hidden": 3}, "no option hidden"),
        (("alphago_policy", 0), {}, "board_size must be a whole number"),
        (("alphago_policy", 9), {"layers": 2.5}, "layers must be a whole number"),
        (("alphago_value", 9), {"dropout": 1.0}, "dropout must be in"),
        (("alphago_policy", 9), {"dtype": "float16"}, "float32, bfloat16"),
        (("alphago_policy", 9), {"conv": "fft"}, "auto, plain, winograd"),
    ],
)
def test_mistakes_are_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        networks.create(*arguments, **options)


def test_wrong_planes_are_refused():
    network = networks.create("alphago_policy", 5, **SMALL)
    variables = network.init(jax.random.key(0))
    with pytest.raises(ValueError, match=r"planes \[B, 5, 5, 48\] \(alphago\)"):
        network.apply(variables, jnp.zeros((1, 9, 9, 48)))


def test_planes_of_any_dtype():
    network = networks.create("alphago_policy", 5, **SMALL)
    variables, planes = kit.lively_variables(network), kit.random_planes(network)
    apply = kit.compiled_apply(network)
    expected = apply(variables, planes).prior_logits
    for dtype in (jnp.uint8, bool, jnp.bfloat16):
        got = apply(variables, planes.astype(dtype)).prior_logits
        np.testing.assert_allclose(got, expected, rtol=1e-6)
