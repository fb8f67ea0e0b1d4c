"""A URL template is cut once it brings nothing new, and never while it does."""

import random
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.novelty import (
    SessionWatch,
    TemplateWatch,
    near_duplicates,
    nearly_same,
    session_of,
    template_of,
)
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.page.fingerprint import simhash, vocabulary, words_of
from sumi.policy import Preset
from tests.site.truth import site

LIMIT = 150


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/cal/2024/01/31", "/cal/2031/12/1"),
        ("/cal/2024/jan/", "/cal/2025/December/"),
        ("/item/6ba7b810-9dad-11d1-80b4-00c04fd430c8", "/item/00000000-0000-0000-0000-000000000000"),
        ("/commit/9f8e7d6c5b", "/commit/0123456789abcdef"),
        ("/view?id=1", "/view?id=abc"),
        ("/list?color=red&size=xl", "/list?sort=price&color=blue&page=3"),
    ],
)
def test_urls_of_one_template(one: str, other: str) -> None:
    assert template_of(f"https://e.org{one}") == template_of(f"https://e.org{other}") is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://e.org/2024/02/", "https://f.org/2024/02/"),
        ("https://e.org/2024/02/", "https://e.org/post/2024/02/"),
        ("https://e.org/view?id=1", "https://e.org/view?user=1"),
    ],
)
def test_urls_of_different_templates(one: str, other: str) -> None:
    assert template_of(one) != template_of(other)


@pytest.mark.parametrize(
    "path",
    ["/", "/docs/library/os.html", "/marches/of/time", "/facade", "/deadbeef", "/page/2", "/post-7.html"],
)
def test_a_url_without_anything_that_varies_stands_for_itself(path: str) -> None:
    assert template_of(f"https://e.org{path}") is None


def observed(watch: TemplateWatch, url: str, text: str, *, known: bool = False) -> int:
    return watch.observe(url, vocabulary(words_of(text)), known_content=known)


def month(number: int) -> str:
    return f"https://e.org/cal/{2000 + number // 12 % 100}/{number % 12 + 1}"


def calendar(number: int) -> str:
    months = "january february march april may june july august september october november december"
    name = months.split()[number % 12]
    days = " ".join(str(day) for day in range(1, 31))
    return f"# {name} {2000 + number // 12}\nmon tue wed thu fri sat sun {days} No events. next previous"


def test_a_calendar_is_cut_before_its_two_hundredth_page() -> None:
    watch = TemplateWatch(LIMIT)
    fetched = 0
    while watch.cut(month(fetched)) is None:
        observed(watch, month(fetched), calendar(fetched))
        fetched += 1
        assert fetched <= 200
    assert watch.cut(month(9999)) == "e.org/cal/{n}/{n}"
    assert watch.cut("https://e.org/docs/1") is None


def test_filters_over_the_same_things_are_cut() -> None:
    rng = random.Random(1)
    things = [f"thing{''.join(rng.choices('abcdefgh', k=6))}" for _ in range(60)]
    watch = TemplateWatch(LIMIT)
    for number in range(200):
        url = f"https://e.org/shop?sort={number % 7}&colour={number}"
        if watch.cut(url):
            return
        observed(watch, url, " ".join(rng.sample(things, 12)))
    pytest.fail("never cut")


def word(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=8))


def test_a_blog_of_a_thousand_pages_is_never_cut() -> None:
    rng = random.Random(2)
    watch = TemplateWatch(LIMIT)
    for number in range(1000):
        post = " ".join(["older posts newer posts about contact", *(word(rng) for _ in range(40))])
        assert observed(watch, f"https://e.org/list?page={number}", post) == 0
    assert watch.cut("https://e.org/list?page=1001") is None


def test_tables_of_measurements_are_content() -> None:
    rng = random.Random(3)
    watch = TemplateWatch(LIMIT)
    for number in range(400):
        rates = " ".join(f"rate {rng.random():.5f}" for _ in range(20))
        observed(watch, f"https://e.org/rates/2024-01-{number}", f"Rates of the day {rates}")
    assert watch.cut("https://e.org/rates/2024-02-01") is None


def test_one_page_in_ten_with_something_to_say_keeps_a_template_alive() -> None:
    rng = random.Random(4)
    watch = TemplateWatch(LIMIT)
    for number in range(2000):
        news = " ".join(word(rng) for _ in range(10)) if number % 10 == 0 else ""
        observed(watch, f"https://e.org/event?id={number}", f"nothing happened today {news}")
    assert watch.cut("https://e.org/event?id=3000") is None


def test_the_same_content_again_is_never_news() -> None:
    watch = TemplateWatch(LIMIT)
    counts = [observed(watch, f"https://e.org/p?n={n}", "", known=True) for n in range(LIMIT)]
    assert counts == list(range(1, LIMIT + 1))
    assert watch.cut("https://e.org/p?n=0") is not None


def test_counts_survive_a_restart_and_cost_a_few_pages_of_relearning() -> None:
    before = TemplateWatch(LIMIT)
    recorded = [(n, observed(before, month(n), calendar(n))) for n in range(100)]
    after = TemplateWatch(LIMIT)
    for number, fruitless in reversed(recorded):  # in whatever order the ledger tells of them
        after.load(month(number), float(number), fruitless)
    fetched = 100
    while after.cut(month(fetched)) is None:
        observed(after, month(fetched), calendar(fetched))
        fetched += 1
    assert 160 <= fetched <= 200


def test_what_was_forgotten_by_a_restart_does_not_count_as_news() -> None:
    watch = TemplateWatch(LIMIT)
    watch.load(month(0), 1.0, LIMIT - 1)
    counts = [observed(watch, month(number), calendar(number)) for number in range(1, 6)]
    assert counts == [LIMIT - 1] * 5


def test_a_limit_of_zero_never_cuts() -> None:
    watch = TemplateWatch(0)
    for number in range(1000):
        observed(watch, f"https://e.org/p?n={number}", "same", known=True)
    assert watch.cut("https://e.org/p?n=1") is None
    assert not watch.watches("https://e.org/p?n=1")


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://e.org/a;jsessionid=1A2B3C4D5E?x=1", "https://e.org/a?x=1"),
        ("https://e.org/a?PHPSESSID=abcdef123456&x=1", "https://e.org/a?x=1"),
        ("https://e.org/a?x=1&sid=0123456789abcdef", "https://e.org/a?x=1"),
        ("https://e.org/a?osCsid=0123456789abcdef", "https://e.org/a"),
        ("https://e.org/(S(abc123def456))/a", "https://e.org/a"),
    ],
)
def test_a_session_is_separated_from_its_page(url: str, page: str) -> None:
    session = session_of(url)
    assert session is not None
    assert session.page == page


@pytest.mark.parametrize(
    "url",
    [
        "https://e.org/a?sid=12",
        "https://e.org/a?s=search+words",
        "https://e.org/a?session=keynote",
        "https://e.org/a?resid=0123456789abcdef",
        "https://e.org/sid/0123456789abcdef",
    ],
)
def test_what_is_no_session(url: str) -> None:
    assert session_of(url) is None


def test_a_token_is_ignored_once_it_is_proven_to_change_nothing() -> None:
    watch = SessionWatch()
    text = simhash(words_of("the front page of a shop that greets everybody alike"))

    def url(token: int, page: str = "a") -> str:
        return f"https://e.org/{page}?sid={token:016x}"

    for token in range(10, 14):
        assert watch.repeated(url(token)) is None
        watch.observe(url(token), text)
    assert watch.repeated(url(99)) == "sid on e.org"
    assert watch.repeated(url(99, "never-seen")) is None
    assert watch.repeated("https://f.org/a?sid=0123456789abcdef") is None


def test_a_token_that_selects_the_page_is_never_ignored() -> None:
    watch = SessionWatch()
    rng = random.Random(5)
    for number in range(50):
        url = f"https://e.org/talk?session={number:016x}"
        assert watch.repeated(url) is None
        watch.observe(url, simhash(words_of(" ".join(word(rng) for _ in range(50)))))


@given(st.text(max_size=200))
def test_any_text_has_a_fingerprint_and_the_same_one_again(text: str) -> None:
    words = words_of(text)
    assert simhash(words) == simhash(words_of(text))
    assert vocabulary(words) == vocabulary(words_of(text))


def test_small_changes_move_few_bits_and_other_texts_many() -> None:
    rng = random.Random(6)
    vocabulary_of_site = [word(rng) for _ in range(3000)]
    text = rng.choices(vocabulary_of_site, k=400)
    changed = [*text[:-2], "another", "ending"]
    one, near, far = (
        simhash(words_of(" ".join(words)))
        for words in (text, changed, rng.choices(vocabulary_of_site, k=400))
    )
    assert nearly_same(one or 0, near or 0)
    assert not nearly_same(one or 0, far or 0)


def test_dates_ids_and_numbers_do_not_make_another_text() -> None:
    old = "Report of 2023-05-01, 10:15, request 9f8e7d6c: all systems are fine"
    new = "Report of 2024-12-24, 23:59, request 0a1b2c3d: all systems are fine"
    assert simhash(words_of(old)) == simhash(words_of(new))


def test_text_without_blanks_is_compared_too() -> None:
    chinese = "网页抓取器从种子网址开始逐页访问并保存内容" * 20
    other = "今天天气很好我们去公园散步看见许多花和树木" * 20
    assert simhash(words_of(chinese)) is not None
    assert simhash(words_of(chinese)) != simhash(words_of(other))


def test_no_words_no_fingerprint() -> None:
    assert simhash(words_of("12 34 -- 2024-01-01")) is None


def test_no_template_of_a_generated_site_is_cut() -> None:
    truth = site(7, 600, body_size=1024)
    watch = TemplateWatch(20)
    for path in truth.pages:
        request = DigestRequest(
            f"https://e.org{path}",
            truth.body(path),
            "text/html",
            Kind.PAGE,
            Preset.MIRROR,
            True,
            vocabulary=True,
        )
        result = digest(request)
        assert isinstance(result, PageDigest)
        watch.observe(request.url, result.vocabulary, known_content=False)
    assert [path for path in truth.pages if watch.cut(f"https://e.org{path}")] == []


def test_versions_of_one_manual_are_cut_page_by_page_at_most() -> None:
    rng = random.Random(8)
    pages = {name: " ".join(word(rng) for _ in range(50)) for name in ("os", "re", "json", "socket", "ssl")}
    watch = TemplateWatch(LIMIT)
    for version in range(40):
        for name, text in pages.items():
            observed(watch, f"https://e.org/3.{version}/library/{name}.html", text, known=version > 0)
    assert watch.cut("https://e.org/3.99/library/os.html") is None


def test_near_duplicates_are_found_in_groups() -> None:
    lone = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0xFFFF0000FFFF0000]
    assert near_duplicates(array("Q", lone)) == []
    twins = [lone[0], lone[0] ^ 0b101, lone[0] ^ (1 << 63), lone[1], lone[1]]
    assert near_duplicates(array("Q", twins)) == [[0, 1, 2], [3, 4]]
    assert near_duplicates(array("Q", [5] * 1000)) == [list(range(1000))]
    assert near_duplicates(array("Q")) == []
