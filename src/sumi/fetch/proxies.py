"""Which proxy a host goes through, and which ones rest after failures."""

from collections import OrderedDict

from sumi.policy import Proxy
from sumi.ports import Clock

_FAILURES = 3  # in a row, after which a proxy rests
_FIRST_REST = 60.0  # seconds; doubles with every further failure
_LONGEST_REST = 3600.0
_STICKY_HOSTS = 10_000


class _Health:
    __slots__ = ("failures", "patience", "rest", "rests_until")

    def __init__(self) -> None:
        self.rests_until = 0.0
        self.recover()

    def recover(self) -> None:
        self.failures = 0  # in a row
        self.patience = _FAILURES
        self.rest = _FIRST_REST

    def fail(self, now: float) -> None:
        self.failures += 1
        if self.failures < self.patience:
            return
        self.rests_until = now + self.rest
        self.rest = min(self.rest * 2, _LONGEST_REST)
        self.failures = 0
        self.patience = 1  # after its rest, one more failure is enough


class ProxyRotation:
    """Round robin over the proxies that are not resting; a host stays with a proxy that works."""

    def __init__(self, proxies: tuple[Proxy, ...], clock: Clock) -> None:
        self._clock = clock
        self._health = {proxy: _Health() for proxy in proxies}
        self._turns = list(self._health)  # next one first
        self._sticky: OrderedDict[str, Proxy] = OrderedDict()

    def choose(self, host: str) -> Proxy:
        kept = self._sticky.get(host)
        if kept is None or not self._is_well(kept):
            kept = self._sticky[host] = self._next()
        self._sticky.move_to_end(host)
        if len(self._sticky) > _STICKY_HOSTS:
            self._sticky.popitem(last=False)
        return kept

    def report(self, proxy: Proxy, *, ok: bool) -> None:
        """``ok``: the proxy did its part, whatever the site behind it answered."""
        if ok:
            self._health[proxy].recover()
        else:
            self._health[proxy].fail(self._clock.now())
            self._to_the_end(proxy)

    def _is_well(self, proxy: Proxy) -> bool:
        health = self._health[proxy]
        return not health.failures and health.rests_until <= self._clock.now()

    def _next(self) -> Proxy:
        """The one whose turn it is; if all rest, the one that is back first."""
        now = self._clock.now()
        chosen = min(self._turns, key=lambda proxy: max(0.0, self._health[proxy].rests_until - now))
        self._to_the_end(chosen)
        return chosen

    def _to_the_end(self, proxy: Proxy) -> None:
        self._turns.remove(proxy)
        self._turns.append(proxy)
