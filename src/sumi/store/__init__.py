"""Backends of the ports in ``sumi.ports``. Only ``sumi.assembly`` chooses among them."""
