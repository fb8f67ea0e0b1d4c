"""Pages that send their reader back to themselves with a cookie: worth another look, but only so many."""

from sumi.model import Lease, Response

# One that sets the cookie and one that shows the page. A wall that wants a second cookie gets a third.
MOST_LOOKS = 3


class CookieWalls:
    def __init__(self) -> None:
        self._looks: dict[str, int] = {}

    def opens(self, lease: Lease, response: Response) -> bool:
        """Whether to ask again, now with a cookie. To who keeps none it is a circle in the end."""
        looks = self._looks.get(lease.url, 0) + 1
        if response.header("set-cookie") is None or looks >= MOST_LOOKS:
            return False
        self._looks[lease.url] = looks
        return True

    def settled(self, url: str) -> None:
        self._looks.pop(url, None)
