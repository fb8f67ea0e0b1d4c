"""Workers of a job, opened as a contract test opens any other store."""

from collections.abc import Callable

from sumi.policy import FrontierPolicy
from sumi.state.cluster.jobs import change_limit, make_job
from sumi.state.cluster.schema import set_up
from sumi.state.cluster.session import connect
from sumi.state.cluster.store import ClusterStore
from sumi.state.cluster.timing import Timing

# A test may stand still for long, and time in it is its own.
PATIENT = Timing(commit=0.0, no_lease=3600.0, cut=3600.0, session=3600.0, inherit=0.0)
_prepared: set[str] = set()


async def open_alone(
    address: str,
    name: str,
    policy: FrontierPolicy,
    now: float,
    make: Callable[..., ClusterStore] = ClusterStore,
) -> ClusterStore:
    """The only worker of a job, by a clock that is the server's."""
    connection = await connect(address, PATIENT)
    try:
        if address not in _prepared:
            await set_up(connection)
            _prepared.add(address)
        job = await make_job(connection, name, "mirror", "{}", "", (), policy.max_pages)
        await change_limit(connection, job, policy.max_pages)
    finally:
        await connection.close()
    store = make(address, job.id, policy, now, timing=PATIENT)
    await store.open()
    return store
