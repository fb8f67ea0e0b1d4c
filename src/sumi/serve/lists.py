"""The lists of a job, page by page. A page begins after a key: the last one costs what the first did."""

# ruff: noqa: S608 - statements are made of constants of this module; what users type is bound

from typing import Any, Final

from sumi.outcomes import MEANINGS, Outcome
from sumi.serve.views import View

ROWS: Final = 200
_COLUMNS: Final = (
    "id, url, outcome, rule, referrer, at, attempts, depth, title, fidelity, size, changed_at, is_page"
)
_NAMES: Final = tuple(_COLUMNS.split(", "))
_FILTER: Final = "(url LIKE ?2 ESCAPE '\\' OR title LIKE ?2 ESCAPE '\\')"


def urls_of_group(view: View, outcome: str, rule: str | None, after: int, most: int = ROWS) -> dict[str, Any]:
    """URLs with one outcome, and if a rule is given by that rule."""
    where = "outcome = ?1 AND id > ?2" + ("" if rule is None else " AND rule = ?3")
    bindings = (outcome, after) if rule is None else (outcome, after, rule)
    rows = view.rows(f"SELECT {_COLUMNS} FROM url WHERE {where} ORDER BY id LIMIT {most}", bindings)
    return _page(rows, rows[-1][0] if rows else None, most)


def groups(view: View, ending: str | None = None) -> list[dict[str, Any]]:
    """By outcome and rule, the most frequent first."""
    rows = view.rows(
        "SELECT ending, outcome, rule, count FROM grouped WHERE ?1 IS NULL OR ending = ?1 "
        "ORDER BY count DESC, outcome, rule LIMIT 1000",
        (ending,),
    )
    return [
        {
            "ending": row[0],
            "outcome": row[1],
            "rule": row[2],
            "count": row[3],
            "meaning": MEANINGS[Outcome(row[1])].meaning,
            "advice": MEANINGS[Outcome(row[1])].advice,
        }
        for row in rows
    ]


def meanings() -> list[dict[str, Any]]:
    """Of every outcome, whether it occurs or not: the counts are those of the job's summary."""
    return [
        {"outcome": outcome, "ending": meaning.ending, "meaning": meaning.meaning}
        for outcome, meaning in MEANINGS.items()
    ]


def pages(view: View, after: str, contains: str, *, below: bool = False) -> dict[str, Any]:
    """Pages by URL; ``contains``: in the URL or the title; ``below``: those under a fidelity of 0.9."""
    which = "is_page AND fidelity < 0.9" if below else "is_page"
    rows = view.rows(
        f"SELECT {_COLUMNS} FROM url WHERE {which} AND url > ?1 AND (?2 = '%%' OR {_FILTER}) "
        f"ORDER BY url LIMIT {ROWS}",
        (after, like(contains)),
    )
    return _page(rows, rows[-1][1] if rows else None)


def tree(view: View, under: str, after: str) -> dict[str, Any]:
    """The folders and pages of one folder of URLs, the folders first."""
    folders = view.rows(
        f"SELECT path, name, pages FROM folder WHERE parent = ?1 ORDER BY name LIMIT {ROWS * 5}", (under,)
    )
    rows = view.rows(
        f"SELECT {_COLUMNS} FROM url WHERE is_page AND folder = ?1 AND url > ?2 ORDER BY url LIMIT {ROWS}",
        (under, after),
    )
    return {
        **_page(rows, rows[-1][1] if rows else None),
        "folders": [{"path": path, "name": name, "pages": count} for path, name, count in folders],
    }


def fidelity(view: View) -> dict[str, Any]:
    """How many pages have which share of their content, in twentieths."""
    buckets = [0] * 20
    for bucket, count in view.rows("SELECT bucket, pages FROM fidelity"):
        buckets[bucket] = count
    below = view.rows("SELECT count(*) FROM url WHERE is_page AND fidelity < 0.9")[0][0]
    return {"buckets": buckets, "below": below, "pages": sum(buckets)}


def hosts(view: View) -> list[dict[str, Any]]:
    """Those with work, as the status has them."""
    found: list[dict[str, Any]] = view.status()["hosts"]
    return found


def answers_of_hosts(view: View) -> list[dict[str, Any]]:
    """The hosts with the most URLs: what each answered last."""
    rows = view.rows(
        f"SELECT name, urls, at, outcome, robots FROM host ORDER BY urls DESC, name LIMIT {ROWS}"
    )
    return [dict(zip(("host", "urls", "at", "outcome", "robots"), row, strict=True)) for row in rows]


def like(text: str) -> str:
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


def _page(rows: list[tuple[Any, ...]], last: object, most: int = ROWS) -> dict[str, Any]:
    return {
        "rows": [dict(zip(_NAMES, row, strict=True)) for row in rows],
        "next": last if len(rows) == most else None,
    }
