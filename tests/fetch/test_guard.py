"""The crawler contacts only public web servers, unless the user names another."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.fetch.guard import AddressGuard, open_host_for, special_purpose
from sumi.fetch.target import parse_target
from sumi.policy import NetworkPolicy


def _words(text: str) -> list[str]:
    return text.split()


def refusal_of(guard: AddressGuard, url: str) -> str | None:
    target = parse_target(url)
    return "not an http(s) URL" if target is None else guard.check_target(target)


STRICT = AddressGuard(NetworkPolicy())
PRIVATE_OPEN = AddressGuard(NetworkPolicy(allow_private=True))

PRIVATE = _words(
    """
    10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.16.0.1 172.20.1.1 172.31.255.255 192.168.0.0
    192.168.0.1 192.168.1.254 192.168.255.255 127.0.0.0 127.0.0.1 127.0.0.2 127.1.2.3
    127.255.255.255 ::1 fc00:: fc00::1 fcff:ffff::1 fd00::1 fd12:3456:789a::1
    fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:192.168.1.1
    ::ffff:172.16.0.1
    """
)
NEVER = _words(
    """
    0.0.0.0 0.0.0.1 0.255.255.255 100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255 169.254.0.0
    169.254.0.1 169.254.169.254 169.254.170.2 169.254.169.123 169.254.255.255 192.0.0.0 192.0.0.1
    192.0.0.8 192.0.0.170 192.0.0.192 192.0.0.255 192.0.2.0 192.0.2.1 192.0.2.255 192.31.196.1
    192.52.193.1 192.88.99.1 192.88.99.255 192.175.48.1 198.18.0.0 198.18.0.1 198.19.255.255
    198.51.100.0 198.51.100.7 198.51.100.255 203.0.113.0 203.0.113.9 203.0.113.255 224.0.0.0
    224.0.0.1 224.0.0.251 232.1.1.1 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1 250.1.1.1
    255.255.255.254 255.255.255.255 168.63.129.16 :: ::2 ::7f00:1 ::127.0.0.1 ::10.0.0.1
    ::169.254.169.254 ::ffff:0.0.0.0 ::ffff:169.254.169.254 ::ffff:100.64.0.1 ::ffff:168.63.129.16
    ::ffff:224.0.0.1 ::ffff:255.255.255.255 ::ffff:0:7f00:1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1
    64:ff9b::169.254.169.254 64:ff9b::192.168.0.1 64:ff9b::168.63.129.16 64:ff9b:1::127.0.0.1
    64:ff9b:1::8.8.8.8 64:ff9b:1:ffff::1 100::1 100::ffff 100:0:0:1::1 2001::1 2001:0:7f00:1::
    2001:0:a00:1::f5ff:fffe 2001:0:4136:e378:8000:63bf:80ff:fffe 2001:1::1 2001:2::1 2001:3::1
    2001:4:112::1 2001:5::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8:: 2001:db8::1
    2001:db8:ffff:ffff::1 2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::1 2002:c0a8:101::1
    2002:ac10:1::1 2002:e000:1::1 2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1 4000::1 8000::1
    a000::1 e000::1 f000::1 fd00:ec2::254 fd00:ec2::1 fd00:ec2:ffff::1 fe80:: fe80::1 fe80::1%eth0
    fe80::a9fe:a9fe febf:ffff::1 fec0::1 feff::1 ff00::1 ff01::1 ff02::1 ff02::fb ff05::2 ff0e::1
    """
)
PUBLIC = _words(
    """
    1.1.1.1 8.8.8.8 9.9.9.9 11.0.0.1 93.184.215.14 100.63.255.255 100.128.0.1 126.255.255.255
    128.0.0.1 168.63.129.17 169.253.255.255 172.15.255.255 172.32.0.1 192.0.1.1 192.167.255.255
    192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888
    2a00:1450:4001:80b::200e 2001:200::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
    """
)


@pytest.mark.parametrize("address", PRIVATE + NEVER)
def test_a_special_address_is_refused_as_a_literal_and_behind_a_name(address: str) -> None:
    assert STRICT.check("example.com", 443, address) is not None
    if "%" not in address:
        assert refusal_of(STRICT, _url(address)) is not None


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert STRICT.check("example.com", 443, address) is None
    assert refusal_of(STRICT, _url(address)) is None


@pytest.mark.parametrize("address", PRIVATE)
def test_allowing_private_addresses_opens_private_ones_and_loopback(address: str) -> None:
    assert PRIVATE_OPEN.check("intranet.example", 8080, address) is None
    assert refusal_of(PRIVATE_OPEN, _url(address)) is None


@pytest.mark.parametrize("address", NEVER)
def test_allowing_private_addresses_opens_nothing_else(address: str) -> None:
    assert PRIVATE_OPEN.check("intranet.example", 8080, address) is not None


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("127.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("①②⑦.0.0.1", "127.0.0.1"),
        ("127。0。0。1", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("10.1", "10.0.0.1"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("169.254.43518", "169.254.169.254"),
        ("[0:0:0:0:0:0:0:1]", "[::1]"),
        ("[::FFFF:7F00:1]", "[::ffff:127.0.0.1]"),
        ("[0:0:0:0:0:ffff:169.254.169.254]", "[::ffff:169.254.169.254]"),
        ("134744072", "8.8.8.8"),
        ("0x08.8.2056", "8.8.8.8"),
    ],
)
def test_every_spelling_has_the_verdict_of_the_canonical_address(spelling: str, canonical: str) -> None:
    assert refusal_of(STRICT, f"http://{spelling}/") == refusal_of(STRICT, f"http://{canonical}/")
    assert refusal_of(PRIVATE_OPEN, f"http://{spelling}/") == refusal_of(PRIVATE_OPEN, f"http://{canonical}/")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:6666\\@1.1.1.1/",
        "http://1.1.1.1@127.0.0.1/",
        "http://1.1.1.1:80@127.0.0.1:8000/",
        "http:/\\127.0.0.1/",
        "http:127.0.0.1",
        "http://localhost/",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://a.b.localhost/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./",
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "data:text/html,hello",
        "javascript:alert(1)",
        "http://",
        "http://example.com:99999/",
        "//example.com/",
        "",
        "\x00",
        "http://exam\x00ple.com/",
        "http://\ud800/",
    ],
)
def test_what_is_no_public_web_url_is_refused_before_any_resolution(url: str) -> None:
    assert refusal_of(STRICT, url) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://example.com/",
        "http://example.com:8080/a?b#c",
        "http://1.1.1.1#@127.0.0.1/",
        "http://user:secret@example.com/",
        "http://notlocalhost/",
        "http://localhost.example.com/",
        "http://bücher.example/",
    ],
)
def test_an_ordinary_url_passes(url: str) -> None:
    assert refusal_of(STRICT, url) is None


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 8000, 8080, 8443, 65535])
def test_web_ports_are_open(port: int) -> None:
    assert STRICT.check("example.com", port, "8.8.8.8") is None
    assert refusal_of(STRICT, f"http://example.com:{port}/") is None


@pytest.mark.parametrize(
    "port", [0, 1, 21, 22, 25, 53, 81, 110, 465, 1023, 2049, 5060, 6000, 6667, 6697, 10080]
)
def test_other_ports_are_not(port: int) -> None:
    assert STRICT.check("example.com", port, "8.8.8.8") is not None
    assert refusal_of(STRICT, f"https://example.com:{port}/") is not None


def test_a_literal_private_seed_opens_its_host_and_port_only() -> None:
    opened = open_host_for("http://127.0.0.1:8000/docs/")
    assert opened == ("127.0.0.1", 8000)
    guard = AddressGuard(NetworkPolicy(open_hosts=frozenset({opened})))
    assert refusal_of(guard, "http://127.0.0.1:8000/other") is None
    assert guard.check("127.0.0.1", 8000, "127.0.0.1") is None
    for url in (
        "http://127.0.0.1:22/",
        "http://127.0.0.1:8001/",
        "http://127.0.0.2:8000/",
        "http://[::1]:8000/",
        "http://localhost:8000/",
        "http://10.0.0.1:8000/",
        "http://169.254.169.254:8000/",
    ):
        assert refusal_of(guard, url) is not None, url
    assert guard.check("example.com", 8000, "127.0.0.1") is not None
    assert guard.check("127.0.0.1", 8000, "10.0.0.1") is not None


def test_localhost_as_a_seed_opens_this_machine_under_that_name_only() -> None:
    opened = open_host_for("http://LocalHost:8000/")
    assert opened == ("localhost", 8000)
    guard = AddressGuard(NetworkPolicy(open_hosts=frozenset({opened})))
    assert refusal_of(guard, "http://localhost:8000/") is None
    assert guard.check("localhost", 8000, "127.0.0.1") is None
    assert guard.check("localhost", 8000, "::1") is None
    assert guard.check("localhost", 8000, "10.0.0.1") is not None
    assert guard.check("localhost", 8001, "127.0.0.1") is not None
    assert guard.check("a.localhost", 8000, "127.0.0.1") is not None
    assert refusal_of(guard, "http://127.0.0.1:8000/") is not None


def test_a_named_port_below_1024_is_opened_unless_another_protocol_lives_there() -> None:
    guard = AddressGuard(NetworkPolicy(open_hosts=frozenset({("127.0.0.1", 81), ("127.0.0.1", 22)})))
    assert refusal_of(guard, "http://127.0.0.1:81/") is None
    assert refusal_of(guard, "http://127.0.0.1:22/") is not None


@pytest.mark.parametrize(
    ("seed", "opened"),
    [
        ("http://10.1.2.3/", ("10.1.2.3", 80)),
        ("https://192.168.1.1/", ("192.168.1.1", 443)),
        ("http://[::1]:8080/", ("::1", 8080)),
        ("http://[fd12::1]/", ("fd12::1", 80)),
        ("http://127.1:9000/", ("127.0.0.1", 9000)),
        ("http://example.com/", None),
        ("http://8.8.8.8/", None),
        ("http://169.254.169.254/", None),
        ("http://[fd00:ec2::254]/", None),
        ("http://[fe80::1]/", None),
        ("http://0.0.0.0:8000/", None),
        ("http://a.localhost/", None),
        ("ftp://127.0.0.1/", None),
        ("nonsense", None),
    ],
)
def test_which_seeds_open_something(seed: str, opened: tuple[str, int] | None) -> None:
    assert open_host_for(seed) == opened


def test_an_ipv6_literal_opens_itself_in_any_spelling() -> None:
    guard = AddressGuard(NetworkPolicy(open_hosts=frozenset({("[::1]", 8000)})))
    assert refusal_of(guard, "http://[0::1]:8000/") is None
    assert guard.check("[::1]", 8000, "::1") is None


def test_a_pinned_address_is_allowed_for_its_host_and_port() -> None:
    guard = AddressGuard(
        NetworkPolicy(resolve=(("Intranet.example", 8443, "10.0.0.7"), ("v6.example", 80, "[::1]")))
    )
    assert guard.check("intranet.example", 8443, "10.0.0.7") is None
    assert guard.check("v6.example", 80, "::1") is None
    assert guard.check("intranet.example", 8443, "10.0.0.8") is not None
    assert guard.check("intranet.example", 8444, "10.0.0.7") is not None
    assert guard.check("other.example", 8443, "10.0.0.7") is not None
    assert refusal_of(guard, "https://10.0.0.7:8443/") is not None


def test_a_pin_that_is_no_address_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="not an IP address"):
        AddressGuard(NetworkPolicy(resolve=(("example.com", 80, "elsewhere"),)))


def test_a_refusal_names_what_stood_in_the_url_and_never_the_address_behind_a_name() -> None:
    assert STRICT.check("example.com", 80, "10.0.0.1") == "example.com resolves to a private address"
    for address in PRIVATE + NEVER:
        assert address not in (STRICT.check("example.com", 443, address) or "")
    assert refusal_of(STRICT, "http://127.0.0.1/") == "127.0.0.1 is a loopback address"


@given(st.ip_addresses(v=4))
def test_wrapping_an_ipv4_address_never_makes_a_refused_one_acceptable(inner: IPv4Address) -> None:
    refused = special_purpose(inner) is not None
    bits = int(inner)
    forms = (
        0xFFFF << 32 | bits,
        0x64FF9B << 96 | bits,
        0x2002 << 112 | bits << 80,
        0x20010000 << 96 | bits << 64,
    )
    for form in forms:
        if refused:
            assert special_purpose(IPv6Address(form)) is not None
    assert (special_purpose(IPv6Address(forms[0])) is not None) == refused


@given(st.ip_addresses())
def test_nothing_that_is_allowed_is_known_to_python_as_private_or_local(
    address: IPv4Address | IPv6Address,
) -> None:
    if STRICT.check("example.com", 443, str(address)) is not None:
        return
    assert not address.is_loopback
    assert not address.is_link_local
    assert not address.is_multicast
    assert not address.is_unspecified
    if not str(address).startswith(("2001:", "64:ff9b:", "2002:", "::")):
        assert not address.is_private


@given(st.text(max_size=60), st.integers(-5, 70000), st.text(max_size=60))
def test_any_input_is_answered_with_a_value(host: str, port: int, address: str) -> None:
    STRICT.check(host, port, address)
    refusal_of(STRICT, f"http://{host}:{port}/{address}")
    open_host_for(f"http://{host}:{port}/")


def _url(address: str) -> str:
    version = ip_address(address).version
    return f"https://[{address}]/" if version == 6 else f"https://{address}/"
