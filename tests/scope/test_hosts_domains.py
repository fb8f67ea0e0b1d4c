"""A host is what the first list with a match says: blacklist, stub, quality; else it is discovered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.scope.hosts import DomainClass, DomainClasses, canonical_domain_pattern

NAMES = st.lists(st.sampled_from(["a", "b", "com", "org", "aa"]), min_size=1, max_size=4).map(".".join)
PATTERNS = st.lists(st.one_of(NAMES, NAMES.map("*.{}".format)), max_size=5)


def matches(pattern: str, host: str) -> bool:
    base = pattern.removeprefix("*.")
    return host == base or (base != pattern and host.endswith(f".{base}"))


@given(PATTERNS, PATTERNS, PATTERNS, NAMES)
def test_the_order_of_the_lists_decides(
    quality: list[str], blacklist: list[str], stub: list[str], host: str
) -> None:
    classes = DomainClasses(quality, blacklist, stub)
    lists = (
        (blacklist, DomainClass.BLACKLISTED),
        (stub, DomainClass.STUBBED),
        (quality, DomainClass.QUALITY),
    )
    expected = next(
        (kind for patterns, kind in lists if any(matches(one, host) for one in patterns)),
        DomainClass.DISCOVERED,
    )
    assert classes.classify(host) is expected
    origin = classes.origin_of(host)
    assert (origin is not None) == (expected is DomainClass.QUALITY)
    assert origin is None or (origin in quality and matches(origin, host))


def test_a_wildcard_takes_the_bare_domain_and_all_below_at_a_dot_only() -> None:
    classes = DomainClasses(["*.example.com"])
    taken = {
        host
        for host in (
            "example.com",
            "blog.example.com",
            "api.v2.example.com",
            "notexample.com",
            "example.com.evil",
        )
        if classes.classify(host) is DomainClass.QUALITY
    }
    assert taken == {"example.com", "blog.example.com", "api.v2.example.com"}


def test_the_closest_pattern_is_the_origin() -> None:
    classes = DomainClasses(["*.example.com", "*.docs.example.com", "docs.example.com"])
    assert classes.origin_of("a.docs.example.com") == "*.docs.example.com"
    assert classes.origin_of("docs.example.com") == "docs.example.com"
    assert classes.origin_of("blog.example.com") == "*.example.com"


def test_a_name_of_many_labels_costs_no_more_than_its_labels() -> None:
    # Would take hours if every pattern were tried on every label.
    classes = DomainClasses([f"*.site{number}.org" for number in range(20_000)])
    host = ".".join(["a"] * 126)
    assert all(classes.classify(host) is DomainClass.DISCOVERED for _ in range(200))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Example.COM", "example.com"),
        ("www.example.com", "example.com"),
        ("*.www.example.com", "*.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("example.com.", "example.com"),
    ],
)
def test_patterns_are_read_as_hosts_are_written_in_a_map(written: str, meant: str) -> None:
    assert canonical_domain_pattern(written) == meant


def test_a_port_is_not_part_of_a_domain() -> None:
    with pytest.raises(UsageError, match="has a port"):
        canonical_domain_pattern("example.com:8080")
