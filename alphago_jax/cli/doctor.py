"""`alphago-jax doctor`: what runs here, what does not, and how to mend it."""

import contextlib
import dataclasses
import importlib
import os
import pathlib
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata

_PACKAGES = (
    *("alphago_jax", "jax", "jaxlib", "flax", "optax", "orbax-checkpoint", "chex"),
    *("numpy", "scipy", "choix", "tyro", "rich", "tensorboardX", "matplotlib"),
)
_GB = 2**30
_LITTLE_MEMORY = 4 * _GB
_LITTLE_DISK = 2 * _GB


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
      topic: what it is about.
      text: what was found.
      remedy: what to do, or "" if all is well.
      broken: whether nothing works before that is done.
    """

    topic: str
    text: str
    remedy: str = ""
    broken: bool = False


@dataclasses.dataclass(frozen=True)
class Doctor:
    """Reports devices, versions, memory and cache, and how to mend what is wrong.

    The exit status is 1 if something is broken.
    """

    def run(self) -> None:
        """Prints the report."""
        broken = False
        for check in CHECKS:
            for finding in check():
                mark = "!!" if finding.broken else "! " if finding.remedy else "ok"
                print(f"{mark} {finding.topic:<12} {finding.text}")
                if finding.remedy:
                    print(f"   {'':<12} -> {finding.remedy}")
                broken |= finding.broken
        if broken:
            raise SystemExit(1)


def check_python() -> Iterator[Finding]:
    """The interpreter and the machine."""
    old = sys.version_info < (3, 11)
    yield Finding(
        "python",
        f"{platform.python_version()} on {platform.platform()}",
        "Python 3.11 or newer is needed" if old else "",
        broken=old,
    )


def check_packages() -> Iterator[Finding]:
    """Versions of what the package stands on."""
    missing = []
    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    yield Finding("packages", ", ".join(versions))
    # Run from a checkout, the package itself need not be installed.
    missing = [name for name in missing if name != "alphago_jax"]
    if missing:
        remedy = "python -m pip install -e ."
        yield Finding("packages", f"missing: {', '.join(missing)}", remedy, True)


def check_devices() -> Iterator[Finding]:
    """What JAX finds, with a small computation."""
    try:
        jax = importlib.import_module("jax")
        devices = jax.devices()
        started = time.perf_counter()
        jax.jit(lambda x: x @ x)(jax.numpy.ones((64, 64))).block_until_ready()
        seconds = time.perf_counter() - started
    except Exception as error:
        # Whatever goes wrong in a driver is what this command is there to tell.
        text = " ".join(str(error).split())
        remedy = (
            "JAX_PLATFORMS=cpu runs without the accelerator; a TPU belongs to one "
            "process at a time: end the other one"
        )
        yield Finding("devices", f"JAX does not start: {text}", remedy, True)
        return
    kinds = ", ".join(f"{d.id}: {d.device_kind}" for d in devices)
    yield Finding("devices", f"{jax.default_backend()} ({kinds})")
    yield Finding("compile", f"compiled and ran a small program in {seconds:.2f} s")
    if jax.default_backend() == "cpu":
        yield from _unused_accelerators()
    for device in devices:
        stats = device.memory_stats() or {}
        if "bytes_limit" in stats:
            used, limit = stats["bytes_in_use"], stats["bytes_limit"]
            text = (
                f"device {device.id}: {used / _GB:.1f} of {limit / _GB:.1f} GB in use"
            )
            yield Finding("memory", text)


def _unused_accelerators() -> Iterator[Finding]:
    forced = os.environ.get("JAX_PLATFORMS", "")
    why = f"JAX_PLATFORMS={forced} hides it" if forced else "JAX does not see it"
    if pathlib.Path("/dev/nvidia0").exists():
        remedy = "unset JAX_PLATFORMS; python -m pip install -e '.[cuda]'"
        yield Finding("devices", f"there is an NVIDIA GPU, but {why}", remedy)
    if pathlib.Path("/dev/accel0").exists() or pathlib.Path("/dev/vfio/0").exists():
        remedy = "unset JAX_PLATFORMS; python -m pip install -e '.[tpu]'"
        yield Finding("devices", f"there may be a TPU, but {why}", remedy)


def check_memory() -> Iterator[Finding]:
    """Main memory, cores and disk."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        little = total < _LITTLE_MEMORY
        yield Finding(
            "memory",
            f"{total / _GB:.1f} GB, {os.cpu_count()} cores",
            "smaller boards, batches and networks will do" if little else "",
        )
    free = shutil.disk_usage(".").free
    yield Finding(
        "disk",
        f"{free / _GB:.1f} GB free here",
        "training runs need some: make room" if free < _LITTLE_DISK else "",
    )


def check_cache() -> Iterator[Finding]:
    """JAX's cache of compiled programs."""
    folder = os.environ.get("JAX_COMPILATION_CACHE_DIR")
    if folder is None:
        yield Finding(
            "cache",
            "no cache of compiled programs: every start compiles anew; set "
            "JAX_COMPILATION_CACHE_DIR to a folder to keep them",
        )
        return
    if "://" in folder:
        yield Finding("cache", folder)
        return
    path = pathlib.Path(folder)
    there = path if path.exists() else path.parent
    writable = os.access(there, os.W_OK)
    size = sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    remedy = "" if writable else "let JAX_COMPILATION_CACHE_DIR be a folder to write to"
    yield Finding("cache", f"{folder}, {size / 2**20:.0f} MB", remedy)


def check_gnugo() -> Iterator[Finding]:
    """The reference opponent."""
    from alphago_jax.play.external import find_gnugo

    program = find_gnugo()
    if program is None:
        remedy = "apt-get install gnugo (only for matches against it, and its tests)"
        yield Finding("gnugo", "not installed", remedy)
    else:
        yield Finding("gnugo", program)


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_python,
    check_packages,
    check_devices,
    check_memory,
    check_cache,
    check_gnugo,
)
