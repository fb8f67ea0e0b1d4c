"""A page's file is whole only if it is as recorded: not if it is short, zeroed or changed."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from sumi.files.plain_text import front_matter
from sumi.jobs.mirror.markdown_page import is_whole
from sumi.model import PageFacts

BODIES = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).map(lambda t: t.encode())


def composed(body: bytes) -> tuple[bytes, PageFacts]:
    digest = sha256(body).hexdigest()
    head = front_matter(
        title="A: title", url="http://h/", fetched_at="now", sha256=digest, description=None, language=None
    )
    data = f"{head}\n".encode() + body
    return data, PageFacts(size=len(data), sha256=digest)


@given(BODIES)
def test_an_unchanged_file_is_whole(body: bytes) -> None:
    data, facts = composed(body)
    assert is_whole(data, facts)


@given(BODIES, st.data())
def test_a_short_or_zeroed_file_is_not(body: bytes, data: st.DataObject) -> None:
    whole, facts = composed(body)
    kept = data.draw(st.integers(0, len(whole) - 1))
    assert not is_whole(whole[:kept], facts)
    zeroed = whole[:kept] + bytes(len(whole) - kept)
    assert zeroed == whole or not is_whole(zeroed, facts)


@given(BODIES, st.data())
def test_a_changed_body_is_not(body: bytes, data: st.DataObject) -> None:
    whole, facts = composed(body)
    place = data.draw(st.integers(len(whole) - len(body), len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= 1
    assert not is_whole(bytes(changed), facts)
