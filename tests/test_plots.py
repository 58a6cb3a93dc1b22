"""Pictures hold what they are made from: the artists are read back."""

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.patches import Circle, Rectangle

from alphago_jax import plots


def circles(axes, radius):
    """Centres (row, column) and face colours of the circles of a radius."""
    return {
        (round(patch.center[1]), round(patch.center[0])): matplotlib.colors.to_hex(
            patch.get_facecolor()
        )
        for patch in axes.patches
        if isinstance(patch, Circle) and patch.radius == radius
    }


def board(size, **stones):
    array = np.zeros((size, size), np.int8)
    for name, colour in (("black", 1), ("white", -1)):
        for point in stones.get(name, ()):
            array[point] = colour
    return array


@pytest.mark.parametrize(
    ("size", "stars"), [(5, 0), (7, 5), (8, 4), (9, 5), (13, 5), (15, 9), (19, 9)]
)
def test_star_points(size, stars):
    (axes,) = plots.board_figure(board(size)).axes
    points = circles(axes, 0.08)
    assert len(points) == stars
    if size == 19:
        assert set(points) == {(r, c) for r in (3, 9, 15) for c in (3, 9, 15)}


def test_stones_stand_where_they_are_and_coordinates_skip_i():
    stones = board(9, black=[(0, 8), (4, 4)], white=[(8, 0)])
    (axes,) = plots.board_figure(stones, last_move=4 * 9 + 4, title="a game").axes
    assert circles(axes, 0.47) == {
        (0, 8): "#111111",
        (4, 4): "#111111",
        (8, 0): "#fafafa",
    }
    assert set(circles(axes, 0.22)) == {(4, 4)}
    assert axes.get_title() == "a game"
    assert [t.get_text() for t in axes.get_xticklabels()] == list("ABCDEFGHJ")
    assert [t.get_text() for t in axes.get_yticklabels()] == list("987654321")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # row 0 is on top


def test_a_pass_is_not_marked():
    (axes,) = plots.board_figure(board(5), last_move=25).axes
    assert circles(axes, 0.22) == {}


def test_heat_shades_and_labels_points():
    heat = np.zeros(26)
    heat[[0, 7, 24]] = 0.6, 0.005, 0.001
    heat[25] = 0.394  # the pass has no point to shade
    (axes,) = plots.board_figure(board(5), heat=heat).axes
    squares = {
        (round(p.get_y() + 0.46), round(p.get_x() + 0.46)): p.get_alpha()
        for p in axes.patches
        if isinstance(p, Rectangle)
    }
    assert set(squares) == {(0, 0), (1, 2)}
    assert squares[0, 0] == pytest.approx(0.9)
    assert squares[1, 2] == pytest.approx(0.15 + 0.75 * 0.005 / 0.6)
    assert [(t.get_text(), t.get_position()) for t in axes.texts] == [("60", (0, 0))]


def test_boards_side_by_side():
    first, second = board(5, black=[(0, 0)]), board(5, white=[(4, 4)])
    figure = plots.board_row([(first, {"title": "one"}), (second, {})], "both")
    assert [list(circles(axes, 0.47)) for axes in figure.axes] == [[(0, 0)], [(4, 4)]]
    assert figure.axes[0].get_title() == "one"
    assert figure.get_suptitle() == "both"


def test_learning_curve_draws_every_figure_against_positions():
    metrics = [
        {"step": 10, "train/top_1": 0.1},
        {"step": 20, "train/top_1": 0.2, "validation/top_1": 0.15},
    ]
    figure = plots.learning_curve(
        metrics,
        ["train/top_1", "validation/top_1", "nothing"],
        examples_per_step=4,
        levels={"random": 0.01},
        ylabel="accuracy",
    )
    (axes,) = figure.axes
    train, validation, level = axes.lines
    np.testing.assert_allclose(train.get_xydata(), [[40, 0.1], [80, 0.2]])
    np.testing.assert_allclose(validation.get_xydata(), [[80, 0.15]])
    assert list(level.get_ydata()) == [0.01, 0.01]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == [
        "train/top_1",
        "validation/top_1",
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("positions seen", "accuracy")


def test_a_curve_without_figures_is_empty():
    (axes,) = plots.learning_curve([], ["train/loss"], levels={"zero": 0.0}).axes
    assert len(axes.lines) == 1
    assert axes.get_legend() is None


@pytest.mark.parametrize(("name", "head"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_pictures_are_written_in_new_folders(tmp_path, name, head):
    path = plots.save(plots.board_figure(board(5)), tmp_path / "new" / name)
    assert path == tmp_path / "new" / name
    assert path.read_bytes().startswith(head)
