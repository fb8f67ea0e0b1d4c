"""YAML front matter: every value is a quoted string, so that none becomes a key, a tag or the end."""

from sumi.files.plain_text import one_line, quoted


def front_matter(**fields: str | None) -> str:
    """The block between the ``---`` lines, these included; fields without a value are left out."""
    lines = [f"{key}: {quoted(one_line(value))}\n" for key, value in fields.items() if value is not None]
    return "".join(("---\n", *lines, "---\n"))
