"""Which URLs a job covers, and the rule that says so."""

from sumi.scope.hosts import canonical_host_pattern
from sumi.scope.scope import Scope, build_scope, default_hosts_for

__all__ = [
    "Scope",
    "build_scope",
    "canonical_host_pattern",
    "default_hosts_for",
]
