"""A 'same' convolution over the board that is fast to train on a CPU too.

XLA has excellent convolutions for GPUs and TPUs; on CPUs its weight gradient runs at
a fraction of the speed of a matrix product. There the convolution is done by the
minimal filtering algorithm instead (Winograd 1980; Lavin and Gray 2016,
arXiv:1509.09308, equation 8): the board is cut into overlapping tiles, tiles and
kernel are evaluated at six points per axis, multiplied point by point, and the
products are interpolated back,

    y = Aᵀ [(G w Gᵀ) ⊙ (Bᵀ x B)] A.

Three things make it quick in XLA:

* Everything is a matrix product. Padding, tiling and evaluation along one axis are one
  matrix `[6·tiles, N]`, and with the batch *behind* the board in memory
  (`[N, N, B, C]`) the rest of the array is its long second dimension.
* The products at the 36 points are matrix products over (tiles × batch) of C by C, with
  3.6 times fewer multiplications than the direct form (19×19 board, 3×3 kernel).
* The function is bilinear and made of matrix products only, so that its derivatives,
  which JAX finds by itself (forward and reverse mode), are as fast as it is.

The points 0, ±5/8, ±3/2, ∞ lose less precision than the customary 0, ±1, ±2, ∞: at 192
channels the result is within 1e-6 of the exact one (relative, in norm), twice the
error of the direct form.
"""

import fractions
import functools
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

ConvolutionMethod = Literal["auto", "plain", "winograd"]
"""How to convolve; `auto` is `winograd` on CPUs where it pays, else `plain`."""

CONVOLUTION_METHODS: tuple[ConvolutionMethod, ...] = ("auto", "plain", "winograd")

_POINTS = tuple(
    fractions.Fraction(*point) for point in ((0, 1), (5, 8), (-5, 8), (3, 2), (-3, 2))
)
_NUM_POINTS = len(_POINTS) + 1  # the last is the point at infinity
# Below these the transforms cost what the fewer multiplications save (measured on a
# two-core CPU with AVX2; docs/performance.md).
_MIN_CHANNELS = 48
_MIN_BOARD_SIZE = 9
_MIN_POINTS_IN_BATCH = 1024


class _Transforms(NamedTuple):
    """The three linear maps of the algorithm for one board and kernel size."""

    evaluate: np.ndarray  # [P·T, N]   padding, tiling and Bᵀ along one axis
    kernel: np.ndarray  # [P², K²]     G ⊗ G
    interpolate: np.ndarray  # [N, P·T]   Aᵀ along one axis, tiles put together


def convolve(
    x: jax.Array, kernel: jax.Array, *, method: ConvolutionMethod = "auto"
) -> jax.Array:
    """Convolves a batch of boards with zero padding and stride 1.

    As usual in neural networks this is a correlation: the kernel is not flipped. It
    can be differentiated in both modes and any number of times, vmapped, and lowered
    for any platform; `auto` is decided when the program is compiled for a platform,
    not when it is traced.

    Args:
      x: [N, N, B, C] activations, batch behind the board (see the module).
      kernel: [K, K, C, O] with K odd, and K ≤ 5 for `winograd`.
      method: `plain` uses XLA's convolution, `winograd` matrix products, `auto` the
        faster of the two for the platform and the shape.

    Returns:
      [N, N, B, O] in the dtype of `x`.

    Raises:
      ValueError: for an unknown method, a board that is not square, an even kernel or
        a kernel too large for `winograd`.
    """
    _check(x, kernel, method)
    if method == "plain":
        return _plain(x, kernel)
    if method == "winograd":
        return _winograd(x, kernel)
    if not _winograd_pays(x.shape, kernel.shape):
        return _plain(x, kernel)
    return lax.platform_dependent(x, kernel, cpu=_winograd, default=_plain)


def _check(x: jax.Array, kernel: jax.Array, method: str) -> None:
    if method not in CONVOLUTION_METHODS:
        raise ValueError(
            f"unknown convolution {method!r}: choose from {CONVOLUTION_METHODS}"
        )
    if x.ndim != 4 or x.shape[0] != x.shape[1]:
        raise ValueError(f"expected x [N, N, B, C] on a square board, got {x.shape}")
    size = kernel.shape[0]
    if kernel.shape[:3] != (size, size, x.shape[3]) or size % 2 == 0:
        raise ValueError(
            f"expected a kernel [K, K, {x.shape[3]}, O] with K odd, got {kernel.shape}"
        )
    if method == "winograd" and size >= _NUM_POINTS:
        raise ValueError(
            f"winograd convolves with kernels up to 5×5, got {size}×{size}"
        )


def _winograd_pays(x_shape: tuple[int, ...], kernel_shape: tuple[int, ...]) -> bool:
    """Whether the saved multiplications outweigh the transforms (measured)."""
    n, _, batch, _ = x_shape
    size, _, channels, features = kernel_shape
    return (
        1 < size < _NUM_POINTS
        and min(channels, features) >= _MIN_CHANNELS
        and n >= _MIN_BOARD_SIZE
        and n * n * batch >= _MIN_POINTS_IN_BATCH
    )


def _plain(x: jax.Array, kernel: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(
        x,
        kernel,
        window_strides=(1, 1),
        padding="SAME",
        dimension_numbers=("HWNC", "HWIO", "HWNC"),
    )


def _winograd(x: jax.Array, kernel: jax.Array) -> jax.Array:
    n, _, batch, channels = x.shape
    features = kernel.shape[-1]
    # Sums in half precision would lose what the transforms magnify.
    dtype = jnp.promote_types(x.dtype, jnp.float32)
    transforms = _transforms(n, kernel.shape[0])
    evaluate = jnp.asarray(transforms.evaluate, dtype)  # [P·T, N]
    interpolate = jnp.asarray(transforms.interpolate, dtype)  # [N, P·T]
    tiles = evaluate.shape[0] // _NUM_POINTS

    weights = jnp.asarray(transforms.kernel, dtype) @ kernel.astype(dtype).reshape(
        -1, channels * features
    )
    weights = weights.reshape(_NUM_POINTS, _NUM_POINTS, channels, features)
    rows = evaluate @ x.astype(dtype).reshape(n, n * batch * channels)
    rows = rows.reshape(_NUM_POINTS, tiles, n, batch * channels)

    # One point of the vertical axis at a time: batched products with a constant matrix
    # would take a slower way through XLA, and this keeps the working set in the cache.
    outputs = []
    for row, row_weights in zip(
        lax.split(rows, (1,) * _NUM_POINTS), weights, strict=True
    ):
        row = row[0].swapaxes(0, 1).reshape(n, tiles * batch * channels)
        points = (evaluate @ row).reshape(_NUM_POINTS, tiles**2 * batch, channels)
        products = jnp.einsum("pmc,pco->pmo", points, row_weights)
        products = products.reshape(_NUM_POINTS * tiles, tiles * batch * features)
        output = (interpolate @ products).reshape(n, tiles, batch * features)
        outputs.append(output.swapaxes(0, 1))  # [T, N, B·O]
    columns = jnp.concatenate(outputs).reshape(-1, n * batch * features)
    y = (interpolate @ columns).reshape(n, n, batch, features)
    return y.astype(x.dtype)


@functools.lru_cache(maxsize=64)
def _transforms(board_size: int, kernel_size: int) -> _Transforms:
    """Builds the matrices for tiles of `7 − kernel_size` outputs per axis."""
    step = _NUM_POINTS + 1 - kernel_size
    tiles = -(-board_size // step)
    # Evaluating a polynomial of k coefficients at the points is a Vandermonde matrix.
    # Multiplying polynomials = evaluate, multiply, solve; filtering is the transpose.
    solve = np.linalg.inv(_vandermonde(_NUM_POINTS)).T
    scale = 2.0 ** np.round(np.log2(np.abs(solve).max(axis=1)))
    tile_evaluate = solve / scale[:, None]  # [P, P], rows near 1 to balance the sizes
    tile_kernel = _vandermonde(kernel_size) * scale[:, None]  # [P, K]
    tile_interpolate = _vandermonde(step).T  # [step, P]

    evaluate = np.zeros((_NUM_POINTS, tiles, board_size))
    interpolate = np.zeros((board_size, _NUM_POINTS, tiles))
    for tile in range(tiles):
        first_output = tile * step
        first_input = first_output - kernel_size // 2
        for offset in range(_NUM_POINTS):
            if 0 <= first_input + offset < board_size:
                evaluate[:, tile, first_input + offset] = tile_evaluate[:, offset]
        for offset in range(min(step, board_size - first_output)):
            interpolate[first_output + offset, :, tile] = tile_interpolate[offset]
    return _Transforms(
        evaluate=evaluate.reshape(-1, board_size),
        kernel=np.kron(tile_kernel, tile_kernel),
        interpolate=interpolate.reshape(board_size, -1),
    )


def _vandermonde(num_coefficients: int) -> np.ndarray:
    """Powers of the points, and the leading coefficient for the point at infinity."""
    powers = [[float(p**k) for k in range(num_coefficients)] for p in _POINTS]
    at_infinity = [float(k == num_coefficients - 1) for k in range(num_coefficients)]
    return np.array([*powers, at_infinity])  # [P, num_coefficients]
