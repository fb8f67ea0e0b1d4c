"""A host is reached by the address that answers, without waiting for those that drop packets."""

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.site import RunningSite

HOST = "two-ways.test"
# Longer than a test may take, so that waiting for it is noticed.
NEVER = ("--connect-timeout", "3600", "--timeout", "3600")
ONCE = ("--rate-limit", "0", "--max-pages", "1", "--retries", "0", "--json")


@contextmanager
def black_hole(address: str, port: int) -> Iterator[None]:
    """A listener with a full backlog: the system drops new connections, as a dead route does."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with ExitStack() as open_sockets:
        listener = open_sockets.enter_context(socket.socket(family))
        try:
            listener.bind((address, port))
        except OSError as error:
            pytest.skip(f"{address} cannot be listened on here: {error.strerror}")
        listener.listen(0)
        while _gets_in(open_sockets.enter_context(socket.socket(family)), address, port):
            pass
        yield


def _gets_in(asking: socket.socket, address: str, port: int) -> bool:
    asking.settimeout(0.2)
    try:
        asking.connect((address, port))
    except TimeoutError:
        return False
    except OSError as error:
        pytest.skip(f"a full listener answers here: {errno.errorcode.get(error.errno or 0)}")
    return True


def mirror(run_sumi: RunSumi, port: int, addresses: list[str], *flags: str) -> FinishedSumi:
    pins = [part for address in addresses for part in ("--resolve", f"{HOST}:{port}:{address}")]
    return run_sumi("mirror", f"http://{HOST}:{port}/", *pins, *ONCE, *flags)


def test_an_ipv6_address_that_drops_packets_causes_no_delay(
    small_site: RunningSite, run_sumi: RunSumi
) -> None:
    with black_hole("::1", small_site.port):
        both = mirror(run_sumi, small_site.port, ["[::1]", "127.0.0.1"], *NEVER)
        assert both.events[-1]["outcomes"]["captured"] == 1
        alone = mirror(run_sumi, small_site.port, ["[::1]"], "--connect-timeout", "0.3", "-o", "alone")
        assert "no connection within 0.3 s" in alone.stderr


@pytest.mark.parametrize("order", [["[::1]", "127.0.0.1"], ["127.0.0.1", "[::1]"]])
def test_an_address_without_a_listener_is_skipped(
    small_site: RunningSite, run_sumi: RunSumi, order: list[str]
) -> None:
    run = mirror(run_sumi, small_site.port, order, *NEVER)
    assert run.events[-1]["outcomes"]["captured"] == 1
