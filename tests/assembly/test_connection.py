"""A run begins with notes on everything that makes it less careful than usual."""

from sumi.assembly.connection import notes_of
from sumi.jobs.mirror.settings import given_settings


def test_the_usual_settings_need_no_note() -> None:
    assert notes_of(given_settings("https://a.test/", {})) == ()


def test_each_setting_that_lowers_the_guard_is_named() -> None:
    settings = given_settings(
        "https://a.test/",
        {
            "respect_robots": False,
            "robots_on_error": "allow",
            "allow_private": True,
            "proxy": ("http://proxy.test:3128",),
            "trust_proxy_dns": True,
        },
    )
    named = ("--no-respect-robots", "allow", "--allow-private", "--trust-proxy-dns")
    assert all(name in note for name, note in zip(named, notes_of(settings), strict=True))
