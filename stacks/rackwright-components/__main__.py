"""Component package ``rackwright-components``."""

import importlib.metadata

from pulumi.provider.experimental import component_provider_host

from rackwright.provision.package.components import COMPONENTS

if __name__ == "__main__":
    component_provider_host(
        COMPONENTS, "rackwright-components", version=importlib.metadata.version("rackwright")
    )
