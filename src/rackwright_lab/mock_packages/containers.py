"""Stand-ins of enroot and pyxis, which Debian does not have.

The plugin is a real one of Slurm, compiled here: it knows pyxis' main option and hands the image to
the task in a variable instead of making a container.
"""

from __future__ import annotations

from rackwright_lab.mock_packages.package import MockPackage

ENROOT, PYXIS, OTHER_PYXIS = "3.5.0-1", "0.20.0-1", "0.19.0-1"
FOLDER = "usr/lib/x86_64-linux-gnu/slurm"
OTHER_SLURM = "#undef SLURM_VERSION_NUMBER\n#define SLURM_VERSION_NUMBER 0x170b00\n"
"""Has a plugin claim to be built against Slurm 23.11.0."""

PLUGIN = r"""
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
#include <string.h>
OTHER
SPANK_PLUGIN(pyxis, 1)
static char image[4096];
static int take(int value, const char *text, int remote)
{
    strncpy(image, text, sizeof(image) - 1);
    return 0;
}
static struct spank_option option = {
    "container-image", "IMAGE", "[pyxis] image (stand-in of a lab)", 1, 0, take
};
int slurm_spank_init(spank_t spank, int count, char **words)
{
    return spank_option_register(spank, &option);
}
int slurm_spank_task_init(spank_t spank, int count, char **words)
{
    return image[0] ? spank_setenv(spank, "LAB_CONTAINER_IMAGE", image, 1) : 0;
}
"""

ENROOT_PROGRAM = """\
#!/bin/sh
# Stand-in of a lab: says its version and reads its configuration.
case "$1" in
  version) echo VERSION ;;
  *) cat /etc/enroot/enroot.conf ;;
esac
"""


def _plugin(version: str, claim: str) -> MockPackage:
    return MockPackage(
        "nvslurm-plugin-pyxis",
        version,
        "SPANK plugin for containers (stand-in of a lab)",
        plugins={f"{FOLDER}/spank_pyxis.so": PLUGIN.replace("OTHER", claim)},
    )


MOCK_PACKAGES = (
    MockPackage(
        "enroot",
        ENROOT,
        "Containers without root (stand-in of a lab)",
        files={
            "usr/bin/enroot": ENROOT_PROGRAM.replace("VERSION", ENROOT.partition("-")[0]),
            "etc/enroot/hooks.d/10-localtime.sh": "#!/bin/sh\n",
            "usr/share/enroot/hooks.d/50-slurm-pmi.sh": "#!/bin/sh\n",
            "etc/enroot/hooks.d/98-nvidia.sh": "#!/bin/sh\n",
            "etc/enroot/hooks.d/99-mellanox.sh": "#!/bin/sh\n",
        },
    ),
    MockPackage(
        "enroot+caps",
        ENROOT,
        "Capabilities of enroot (stand-in of a lab)",
        (f"enroot (= {ENROOT})",),
    ),
    _plugin(PYXIS, ""),
    _plugin(OTHER_PYXIS, OTHER_SLURM),
)
