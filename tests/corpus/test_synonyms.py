"""Everyday words find the words of manuals, behind those that were typed."""

from sumi.corpus.synonyms import RELATED
from sumi.corpus.words import STOP_WORDS, stem, words_of


def test_each_is_a_stem_that_a_question_can_have() -> None:
    for word, others in RELATED.items():
        assert stem(word) == word or words_of(word) == [word]
        assert word not in STOP_WORDS
        assert word not in others


def test_what_is_related_is_related_both_ways() -> None:
    assert all(word in RELATED[other] for word, others in RELATED.items() for other in others)
    assert stem("directories") in RELATED[stem("folder")]
