"""The convolution in matrix form against the definition, and in every transform."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax.networks.convolution import convolve


def direct(x, kernel):
    """The definition, in float64: shift the padded board, multiply, add."""
    n, size = x.shape[0], kernel.shape[0]
    half = size // 2
    padded = np.pad(x.astype(np.float64), ((half, half), (half, half), (0, 0), (0, 0)))
    return sum(
        padded[i : i + n, j : j + n] @ kernel[i, j].astype(np.float64)
        for i in range(size)
        for j in range(size)
    )


def direct_gradients(x, kernel, cotangent):
    """Gradients of ⟨direct(x, kernel), cotangent⟩, from the definition."""
    n, size = x.shape[0], kernel.shape[0]
    half = size // 2
    margin = ((half, half), (half, half), (0, 0), (0, 0))
    padded = np.pad(x.astype(np.float64), margin)
    grad_padded = np.zeros_like(padded)
    grad_kernel = np.zeros(kernel.shape)
    for i in range(size):
        for j in range(size):
            window = padded[i : i + n, j : j + n]
            grad_kernel[i, j] = np.einsum("hwbc,hwbo->co", window, cotangent)
            grad_padded[i : i + n, j : j + n] += cotangent @ kernel[i, j].T
    return grad_padded[half : half + n, half : half + n], grad_kernel


def example(n, size, batch, channels, features, seed=0):
    rng = np.random.default_rng(seed)
    x = np.maximum(rng.normal(size=(n, n, batch, channels)), 0)
    kernel = rng.normal(size=(size, size, channels, features))
    kernel *= np.sqrt(2 / (size * size * channels))
    cotangent = rng.normal(size=(n, n, batch, features))
    return tuple(a.astype(np.float32) for a in (x, kernel, cotangent))


def distance(got, expected):
    return np.linalg.norm(np.asarray(got) - expected) / np.linalg.norm(expected)


SHAPES = [
    (19, 3, 3, 48, 48),
    (19, 5, 3, 48, 50),
    (13, 3, 2, 5, 7),
    (7, 1, 2, 3, 4),
    (3, 5, 1, 2, 1),
]


@pytest.mark.parametrize("method", ["plain", "winograd", "auto"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_value_and_gradients_are_the_definition(shape, method):
    x, kernel, cotangent = example(*shape)

    @jax.jit
    def value_and_gradients(x, kernel, cotangent):
        y, vjp = jax.vjp(lambda x, k: convolve(x, k, method=method), x, kernel)
        return y, *vjp(cotangent)

    y, grad_x, grad_kernel = value_and_gradients(x, kernel, cotangent)
    expected_x, expected_kernel = direct_gradients(x, kernel, cotangent)
    assert distance(y, direct(x, kernel)) < 5e-6
    assert distance(grad_x, expected_x) < 5e-6
    assert distance(grad_kernel, expected_kernel) < 5e-6


def test_auto_is_winograd_on_a_cpu_where_it_pays():
    def text(shape, method):
        x, kernel, _ = example(*shape)
        f = jax.jit(lambda x, k: convolve(x, k, method=method))
        return f.lower(x, kernel).as_text()

    large, small = (9, 3, 13, 48, 48), (9, 3, 1, 48, 48)
    assert "stablehlo.convolution" not in text(large, "auto")
    assert "stablehlo.convolution" in text(large, "plain")
    assert "stablehlo.convolution" in text(small, "auto")


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_accelerators_get_their_own_convolution(platform):
    x, kernel, _ = example(9, 3, 13, 48, 48)

    def loss(x, kernel):
        return jnp.sum(convolve(x, kernel) ** 2)

    exported = jax.export.export(jax.jit(jax.grad(loss, 1)), platforms=[platform])
    text = exported(x, kernel).mlir_module()
    # Forward and weight gradient; the matrix form would be dots.
    assert text.count("stablehlo.convolution") == 2
    assert "stablehlo.dot_general" not in text


@pytest.mark.parametrize("method", ["plain", "winograd", "auto"])
def test_transforms(method):
    x, kernel, tangent = example(9, 3, 13, 48, 48)
    kernels = jnp.stack([kernel, 2 * kernel])

    def f(x, kernel):
        return convolve(x, kernel, method=method)

    @jax.jit
    def transformed(x, kernel, kernels, tangent):
        y_dot = jax.jvp(lambda x: f(x, kernel), (x,), (tangent,))[1]
        both = jax.vmap(f, in_axes=(None, 0))(x, kernels)
        remade = jax.checkpoint(f)
        grad = jax.grad(lambda k: jnp.vdot(remade(x, k), tangent))(kernel)
        return y_dot, both, grad

    y_dot, both, grad = transformed(x, kernel, kernels, tangent)
    assert distance(y_dot, direct(tangent, kernel)) < 5e-6
    assert distance(both[1], 2 * direct(x, kernel)) < 5e-6
    assert distance(grad, direct_gradients(x, kernel, tangent)[1]) < 5e-6


def test_bfloat16_accumulates_in_fp32():
    x, kernel, _ = example(9, 3, 13, 48, 48)
    rounded = tuple(jnp.asarray(a, jnp.bfloat16) for a in (x, kernel))
    y = jax.jit(convolve, static_argnames="method")(*rounded, method="winograd")
    assert y.dtype == jnp.bfloat16
    exact = direct(*(np.asarray(a, np.float32) for a in rounded))
    assert distance(np.asarray(y, np.float32), exact) < 2**-8


def test_mistakes_are_named():
    x, kernel = jnp.zeros((5, 5, 1, 2)), jnp.zeros((3, 3, 2, 4))
    with pytest.raises(ValueError, match="choose from"):
        convolve(x, kernel, method="fft")
    with pytest.raises(ValueError, match="square board"):
        convolve(jnp.zeros((5, 4, 1, 2)), kernel)
    with pytest.raises(ValueError, match=r"expected a kernel \[K, K, 2, O\]"):
        convolve(x, jnp.zeros((3, 3, 3, 4)))
    with pytest.raises(ValueError, match="K odd"):
        convolve(x, jnp.zeros((2, 2, 2, 4)))
    with pytest.raises(ValueError, match="up to 5×5"):
        convolve(x, jnp.zeros((7, 7, 2, 4)), method="winograd")
