"""Three workers, between whom hosts go to and fro, end every URL as the executable specification does."""

from pathlib import Path

import pytest

from tests.cluster.same_outcomes import differences
from tests.postgres import Postgres


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_three_workers_end_every_url_as_the_specification_does(
    postgres: Postgres, tmp_path: Path, seed: int
) -> None:
    assert differences(postgres, tmp_path.name, seed) == []
