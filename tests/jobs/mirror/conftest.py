from pathlib import Path

import pytest

from tests.jobs.mirror.stored_mirror import StoredMirror


@pytest.fixture
def mirror(tmp_path: Path) -> StoredMirror:
    return StoredMirror(tmp_path / "output")
