"""A text is shown whole up to a limit, and what was cut off is admitted."""

from sumi.serve.page_view import MOST_BYTES, Text, shown_text


def test_a_text_is_cut_only_beyond_the_limit() -> None:
    whole, longer = b"x" * MOST_BYTES, b"x" * (MOST_BYTES + 1)
    assert shown_text(whole) == Text(whole.decode())
    assert shown_text(longer) == Text(whole.decode(), cut=True)


def test_an_unknown_character_set_is_read_as_utf8() -> None:
    assert shown_text("Grüße".encode(), "x-unheard-of") == Text("Grüße")
