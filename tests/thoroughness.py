"""How many moments and examples the long tests try: a few in `make test`, all of them in `make torture`."""

import os
from typing import TypeVar

T = TypeVar("T")

LONG = bool(os.environ.get("LONG"))


def usually(few: T, all_of_them: T) -> T:
    return all_of_them if LONG else few
