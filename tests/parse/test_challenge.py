"""Bot checks are recognised for what they are, and pages about them are read like any other."""

import pytest

from sumi.model import Kind
from sumi.parse.page.challenge import challenge_error, challenge_header, challenge_page
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset


def read(html: str) -> PageDigest:
    request = DigestRequest(
        "https://e.org/a", html.encode(), "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
    )
    result = digest(request)
    assert isinstance(result, PageDigest)
    return result


CHECKS = {
    "Cloudflare": (
        "<title>Just a moment...</title><noscript>Enable JavaScript and cookies to continue</noscript>"
        "<script>window._cf_chl_opt={cvId:'3'};</script>"
    ),
    "Cloudflare block": (
        "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>"
        "<div id=cf-error-details>You are unable to access e.org</div>"
    ),
    "PerimeterX": (
        "<title>Access to this page has been denied</title><div id=px-captcha></div>"
        "<script>window._pxAppId='PX1';</script>"
    ),
    "DataDome": (
        "<title>e.org</title><script src='https://geo.captcha-delivery.com/captcha/?x'></script>"
        "<p>Please enable JS and disable any ad blocker</p>"
    ),
    "Akamai": (
        "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access this."
        "<p>Reference #18.1 https://errors.edgesuite.net/18.1"
    ),
    "Imperva": ("<iframe src='/_Incapsula_Resource?SWUDNSAI=31'>No. Incapsula incident ID: 1</iframe>"),
    "AWS WAF": "<title></title><script src='https://x.token.awswaf.com/x/challenge.js'></script><div id=box>",
    "Anubis": (
        "<title>Making sure you&#39;re not a bot!</title>"
        "<script id='anubis_challenge' type='application/json'>{}</script><p>Loading...</p>"
    ),
    "hCaptcha": (
        "<title>Security check</title><p>Please verify you are human</p>"
        "<script src='https://hcaptcha.com/1/api.js'></script><div class=\"h-captcha\"></div>"
    ),
    "reCAPTCHA": (
        "<title>Are you a robot?</title><p>Our systems have detected unusual traffic.</p>"
        "<div class=g-recaptcha></div>"
    ),
    "DDoS-Guard": "<title>DDoS-Guard</title><p>Checking your browser before accessing e.org</p>"
    "<script src='https://check.ddos-guard.net/check.js'></script>",
}


@pytest.mark.parametrize("whose", CHECKS)
def test_a_check_that_answers_200_is_recognised(whose: str) -> None:
    assert read(CHECKS[whose]).challenge


@pytest.mark.parametrize("whose", CHECKS)
def test_a_check_is_recognised_in_any_case_and_among_any_bytes(whose: str) -> None:
    page = CHECKS[whose].encode()
    noise = bytes(range(256))
    expected = challenge_page(page, "")
    assert expected
    assert challenge_page(page.upper().replace(b"&#39;", b"'"), "") == expected
    assert challenge_page(noise + page + noise, "") == expected


@pytest.mark.parametrize("whose", CHECKS)
def test_a_check_that_answers_403_is_recognised(whose: str) -> None:
    assert challenge_error(CHECKS[whose].encode())


@pytest.mark.parametrize(
    ("headers", "whose"),
    [
        ((("server", "cloudflare"), ("cf-mitigated", "challenge")), "Cloudflare"),
        ((("x-amzn-waf-action", "captcha"),), "AWS WAF"),
        ((("x-dd-b", "1"),), "DataDome"),
        ((("server", "cloudflare"), ("cf-ray", "1"), ("x-datadome", "protected")), ""),
    ],
)
def test_some_say_it_themselves(headers: tuple[tuple[str, str], ...], whose: str) -> None:
    assert challenge_header(headers) == whose


ARTICLE = "<p>" + "Cloudflare shows a page titled Just a moment while it verifies you are human. " * 40
PAGES = {
    "an article about Cloudflare": f"<title>Just a moment: how bot checks work</title>{ARTICLE}",
    "an article that quotes the code": (
        f"<title>Bypassing checks</title>{ARTICLE}<pre>window._cf_chl_opt px-captcha</pre>"
    ),
    "a short note on captchas": "<title>Captcha</title><p>We use a captcha to keep spam out.</p>",
    "a page behind Cloudflare": (
        "<title>Hello</title><p>A short page.</p>"
        "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
    ),
    "a contact form": (
        "<title>Contact</title><form><textarea></textarea><div class=g-recaptcha></div></form>"
        "<script src='https://www.google.com/recaptcha/api.js'></script><p>Write to us.</p>"
    ),
    "an application's shell": "<title>App</title><div id=root></div><noscript>Enable JavaScript.</noscript>",
    "a manual's page on HTTP 403": "<title>Access denied</title><p>Error 403 means: access denied.</p>",
    "an empty page": "",
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_not_taken_for_checks(name: str) -> None:
    assert read(PAGES[name]).challenge == ""


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Forbidden</h1><p>You don't have permission to access this resource.</p>",
        "<title>503 Service Unavailable</title><p>No server is available to handle this request.</p>",
        "<title>Log in</title><form></form>",
        "",
    ],
)
def test_plain_errors_are_plain_errors(html: str) -> None:
    assert challenge_error(html.encode()) == ""


def test_a_huge_error_page_is_only_looked_at_so_far() -> None:
    assert challenge_error(b"<title" * 1_000_000 + b"px-captcha") == ""


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404 Not Found", "Oops"),
        ("e.org", "Sorry, we could not find the page you asked for."),
        ("Seite nicht gefunden", "Leider gibt es diese Seite nicht."),
        ("Page introuvable", "Désolé"),
        ("Página no encontrada", "Lo sentimos"),
        ("Страница не найдена", "Ошибка"),
        ("お探しのページは見つかりませんでした", "見つかりません"),
        ("页面不存在", "错误"),
    ],
)
def test_regrets_are_understood_in_many_languages(title: str, text: str) -> None:
    assert read(f"<title>{title}</title><p>{text}</p>").looks_missing


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Hello", "A page like any other."),
        ("HTTP status codes", "404 Not Found means that there is no such page. " * 100),
        ("Lost and found", "Things that were found."),
    ],
)
def test_pages_with_something_to_say_are_not_suspected(title: str, text: str) -> None:
    assert not read(f"<title>{title}</title><p>{text}</p>").looks_missing
