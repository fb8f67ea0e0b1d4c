"""Ports that may be dialled: the web's two and the unprivileged ones, less those of other protocols."""

# The "bad ports" of the Fetch standard: their services might take an HTTP request for a command of their own.
BAD_PORTS: frozenset[int] = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587),
        *(601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061),
        *(6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)
_WEB_PORTS = frozenset({80, 443})
_FIRST_UNPRIVILEGED = 1024


def port_refusal(port: int, *, named: bool) -> str | None:
    """Why a port is refused; None if it may be dialled.

    ``named``: the user wrote down this very host and port, which opens a privileged port, never a bad one.
    """
    if port in BAD_PORTS:
        return f"port {port} belongs to another protocol"
    if named or port in _WEB_PORTS or port >= _FIRST_UNPRIVILEGED:
        return None
    return f"port {port} is not one that websites use"
