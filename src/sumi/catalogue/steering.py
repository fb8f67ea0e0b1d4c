"""Steering a run from outside, by the flag files in its home folder that it looks for every second."""

import os
from pathlib import Path


def pause(home: Path, role: str) -> None:
    put_flag(home / f"pause.{role}")


def resume(home: Path, role: str) -> bool:
    """Whether it was paused."""
    try:
        os.unlink(home / f"pause.{role}")
    except FileNotFoundError:
        return False
    return True


def stop(home: Path, role: str) -> None:
    """Like one Ctrl-C: pages in flight finish."""
    put_flag(home / f"stop.{role}")
    resume(home, role)


def put_flag(path: Path, content: bytes = b"") -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
