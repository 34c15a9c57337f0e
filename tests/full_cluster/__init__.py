"""Bare-metal sites that say everything that the rules ask of them, of any size.

A hall is the unit: rows of DGX H100, of the switches and servers that serve them, of GB200 NVL72 on
liquid and of tanks, with the sources, the cooling and the fabrics of that hall alone.
"""

from full_cluster.sites import full_cluster

__all__ = ["full_cluster"]
