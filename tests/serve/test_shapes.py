"""The answers of the window keep their shape: what another program reads of them is not renamed by accident.

To accept a change, run this file with ``SUMI_WRITE_SHAPES=1`` and look at the difference.
"""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.serve.conftest import Library
from tests.serve.windows import OpenWindow

PARTS = ("overview", "activity", "hosts", "failures", "log", "exports", "again")
SHAPES = Path(__file__).with_name("shapes.json")


def _shape(value: Any) -> Any:
    """Keys and types. Of a list that of its first element; facts of a page are described elsewhere."""
    if isinstance(value, dict):
        return {name: _shape(inner) for name, inner in sorted(value.items()) if name != "facts"}
    if isinstance(value, list):
        return [_shape(value[0])] if value else []
    return (
        "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__
    )


def test_answers_have_the_shape_that_is_written_down(window: OpenWindow, library: Library) -> None:
    job, url = window.jobs()[0]["id"], quote(f"{library.site.url}part/page-7.html", safe="")
    base = "/api/jobs/{id}"
    addresses = [
        "/api/session",
        "/api/jobs",
        base,
        *(
            f"{base}/{part}"
            for part in ("overview", "activity", "hosts", "failures", "log", "exports", "again")
        ),
        f"{base}/urls?outcome=not_found",
        f"{base}/pages",
        f"{base}/tree",
        "/api/page?job={id}&url={url}",
        "/api/versions?job={id}&url={url}",
        "/api/diff?job={id}&url={url}",
        "/api/explain?job={id}&url={url}",
        "/api/changes",
        "/api/search?q=words",
    ]
    found = {}
    for address in addresses:
        answer = window.get(address.format(id=job, url=url))
        assert answer.status == 200, address
        found[address] = _shape(answer.json)
    if os.environ.get("SUMI_WRITE_SHAPES"):
        SHAPES.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(SHAPES.read_text())
