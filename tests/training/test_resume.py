"""Kill -9 at random moments: the run must come out the same to the last bit."""

import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
NUM_STEPS = 200
NUM_KILLS = 5


def start(directory: pathlib.Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": str(HERE.parents[1]),
        "JAX_PLATFORMS": "cpu",
        # One program compiles for all.
        "JAX_COMPILATION_CACHE_DIR": str(directory.parent / "compiled"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    return subprocess.Popen(
        [sys.executable, str(HERE / "kill_run.py"), str(directory), str(NUM_STEPS)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-3000:]
    return output


def newest(directory: pathlib.Path) -> int:
    """Step of the newest complete checkpoint; 0 where there is none."""
    entries = (directory / "checkpoints").glob("*")
    return max((int(path.name) for path in entries if path.name.isdigit()), default=0)


def kill_after_progress(directory: pathlib.Path, delay: float) -> int:
    """Starts the run, and kills it `delay` seconds after its first new checkpoint.

    By then it is amid other steps and, as it saves all the time, other saves.

    Returns:
        The step of the newest checkpoint that the kill left.
    """
    before = newest(directory)
    process = start(directory)
    while newest(directory) == before:
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return newest(directory)


@pytest.mark.slow
def test_five_kills_leave_no_trace(tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    reference = start(undisturbed)
    rng = random.Random(time.time_ns())
    reached = [
        kill_after_progress(killed, rng.uniform(0.0, 0.1)) for _ in range(NUM_KILLS)
    ]
    assert 0 < reached[0] and reached[-1] < NUM_STEPS, reached
    assert sorted(set(reached)) == reached  # every start went on from the last kill
    # What a kill in the middle of a save would leave behind.
    half_written = killed / "checkpoints" / "999.orbax-checkpoint-tmp-0"
    half_written.mkdir()
    with (killed / "metrics.jsonl").open("a") as log_file:
        log_file.write('{"step": 29')
    output = finish(start(killed))
    expected = finish(reference)
    assert re.search(f"reached {NUM_STEPS} (.*)", output), output
    assert output.splitlines()[-1] == expected.splitlines()[-1]
    assert not half_written.exists()
    assert_same_arrays(undisturbed / "final.npz", killed / "final.npz")
    log = (undisturbed / "metrics.jsonl").read_bytes()
    assert log.count(b"\n") == NUM_STEPS // 10 + NUM_STEPS // 50
    assert (killed / "metrics.jsonl").read_bytes() == log


def assert_same_arrays(first: pathlib.Path, second: pathlib.Path) -> None:
    with np.load(first) as one, np.load(second) as other:
        assert set(one) == set(other) and any(
            "momentum" in k or "trace" in k for k in one
        )
        for name in one:
            assert one[name].tobytes() == other[name].tobytes(), name
