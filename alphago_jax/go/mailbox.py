"""The board as one flat array with walls, and how it maps to rows and actions.

A board of side N lives in P = (N + 2) · (N + 1) cells: N + 1 columns, of which
the first is wall, and a row of wall above and below. The single wall column
serves both sides, because the cell after a row's last point is the next row's
wall. A neighbour is then a constant offset, so that "shift the board by one"
is a slice of a contiguous array: no index arithmetic, no masks at the edges.
Nine tenths of the engine's speed on a CPU come from this.

    cell = (row + 1) · (N + 1) + column + 1

Boards as bits ("row bitboards") are uint32 [N]: bit c of word r is the point in
row r and column c, both counted from the top-left.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

MAX_SIZE = 25


def num_cells(size: int) -> int:
    """Number of cells P of the walled array for a board of side `size`."""
    return (size + 2) * (size + 1)


def board_side(num_cells: int) -> int:
    """The array side N of a walled array with `num_cells` cells."""
    return math.isqrt(num_cells) - 1


def offsets(size: int) -> np.ndarray:
    """Cell offsets of the four neighbours: up, left, right, down. int32 [4]."""
    width = size + 1
    return np.array([-width, -1, 1, width], np.int32)


@functools.cache
def cells_of_points(size: int) -> np.ndarray:
    """Cell of every point in row-major order. int32 [N·N]."""
    point = np.arange(size * size, dtype=np.int32)
    return (point // size + 1) * (size + 1) + point % size + 1


def cell_of_action(action: jax.Array, size: int) -> jax.Array:
    """Cell of a board action; undefined for a pass. int32 scalar."""
    return (action // size + 1) * (size + 1) + action % size + 1


def interior(cells: jax.Array, size: int) -> jax.Array:
    """The N rows of a walled array, wall column included. [P] -> [N·(N+1)]."""
    width = size + 1
    return cells[width : width + size * width]


def shifts(cells: jax.Array, size: int) -> list[jax.Array]:
    """The four neighbours of every interior cell, as four slices. 4 × [N·(N+1)]."""
    width = size + 1
    length = size * width
    return [cells[width + d : width + d + length] for d in (-width, -1, 1, width)]


def pack_rows(interior_mask: jax.Array, size: int) -> jax.Array:
    """Bits of an interior mask. bool [N·(N+1)] -> uint32 [N]."""
    bits = np.uint32(1) << np.arange(size, dtype=np.uint32)
    grid = interior_mask.reshape(size, size + 1)[:, 1:]  # [N, N]
    return jnp.sum(jnp.where(grid, bits, np.uint32(0)), axis=-1, dtype=jnp.uint32)


def unpack_rows(rows: jax.Array) -> jax.Array:
    """Points of row bitboards. uint32 [..., N] -> bool [..., N, N]."""
    size = rows.shape[-1]
    column = np.arange(size, dtype=np.uint32)
    return ((rows[..., None] >> column) & np.uint32(1)).astype(bool)


def from_points(grid: jax.Array, fill: int | bool) -> jax.Array:
    """Walled array from a board. [N, N] -> [P], walls set to `fill`."""
    return jnp.pad(grid, ((1, 1), (1, 0)), constant_values=fill).reshape(-1)


def to_points(cells: jax.Array, size: int) -> jax.Array:
    """Board from a walled array. [P] -> [N, N]."""
    return cells.reshape(size + 2, size + 1)[1:-1, 1:]
