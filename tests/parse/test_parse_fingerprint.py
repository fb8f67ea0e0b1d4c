"""The SimHash of a text is what most of its words vote for, bit by bit."""

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.page.fingerprint import simhash, words_of

WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12)


def majority(words: set[bytes]) -> int:
    hashes = [int.from_bytes(blake2b(word, digest_size=8).digest(), "little") for word in words]
    return sum(1 << bit for bit in range(64) if 2 * sum(each >> bit & 1 for each in hashes) > len(hashes))


@given(st.lists(WORDS, min_size=1, max_size=60))
def test_each_bit_is_what_most_words_vote_for(text: list[str]) -> None:
    words = words_of(" ".join(text))
    assert simhash(words) == majority(words)


@given(st.text("ab \u00e9\u4e2d", max_size=400))
def test_no_word_is_longer_than_a_run_of_letters_may_be(text: str) -> None:
    assert max(map(len, words_of(text)), default=0) <= 40
