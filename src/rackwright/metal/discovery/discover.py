"""Parallel discovery of management controllers in ranges of addresses, each with a named state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from rackwright.metal.discovery.inventory import read_machine
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.nodelife.redfish import (
    BmcError,
    BmcState,
    Credentials,
    Manners,
    Redfish,
    restart_manager,
)

READ_TOGETHER = 64
"""Maximum number of controllers that are read in parallel."""
ASKED_TOGETHER = 512
"""Maximum number of parallel connection attempts."""


@dataclass(frozen=True)
class Discoverer:
    """Reader of the controllers of one site.

    Attributes:
        credentials: function from the address of a controller to its credentials.
        session: function that opens a session with a controller.
        port: TCP port of Redfish.
        manners: timeouts and retries.
    """

    credentials: Callable[[str], Credentials]
    session: Callable[[str, Credentials], Redfish]
    port: int
    manners: Manners

    def discover(
        self,
        addresses: Iterable[str],
        expected: Sequence[str] = (),
        say: Callable[[str], None] = lambda _: None,
    ) -> tuple[DiscoveredMachine, ...]:
        """Return the controllers at ``addresses``, in that order.

        Args:
            addresses: addresses to search.
            expected: addresses of planned controllers, which are unreachable if they do not answer. Other
                addresses without an answer are omitted.
            say: function that reports progress.
        """
        wanted = list(dict.fromkeys([*addresses, *expected]))
        # Reading a controller takes seconds, and most addresses of a range have none: connect first.
        open_ones = set(asyncio.run(self._open(wanted)))
        say(f"{len(open_ones):,} of {len(wanted):,} addresses answer on port {self.port}")
        required = set(expected)
        found = {
            address: DiscoveredMachine(
                address, BmcState.UNREACHABLE, f"nothing answers on port {self.port}"
            )
            for address in wanted
            if address in required and address not in open_ones
        }
        with ThreadPoolExecutor(READ_TOGETHER) as pool:
            reading = {pool.submit(self.read, one): one for one in wanted if one in open_ones}
            for number, done in enumerate(as_completed(reading), 1):
                found[reading[done]] = done.result()
                if number % 100 == 0:
                    say(f"{number:,} of {len(reading):,} controllers read")
        return tuple(found[address] for address in wanted if address in found)

    def read(self, address: str) -> DiscoveredMachine:
        """Return the machine behind one controller, or the reason why it cannot be read."""
        try:
            with self.session(address, self.credentials(address)) as bmc:
                return read_machine(bmc)
        except BmcError as error:
            return DiscoveredMachine(address, error.state, error.reason)

    def restart(self, address: str) -> str | None:
        """Restart a controller and return the error, None on success; its machine keeps running."""
        try:
            with self.session(address, self.credentials(address)) as bmc:
                # Other managers, such as that of an enclosure, are not the controller of this machine.
                managers = list(bmc.members(bmc.get("/redfish/v1/").get("Managers")))
                own = [one for one in managers if one.get("ManagerType", "BMC") == "BMC"]
                if not own:
                    return "it lists no controller"
                restart_manager(bmc, own[0])
        except BmcError as error:
            return error.summary
        return None

    async def _open(self, addresses: Sequence[str]) -> list[str]:
        gate = asyncio.Semaphore(ASKED_TOGETHER)

        async def ask(address: str) -> str | None:
            async with gate:
                with contextlib.suppress(OSError, TimeoutError):
                    async with asyncio.timeout(self.manners.connect_s):
                        _, writer = await asyncio.open_connection(address, self.port)
                    writer.close()
                    return address
            return None

        return [one for one in await asyncio.gather(*map(ask, addresses)) if one is not None]
