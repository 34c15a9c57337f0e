"""The records of a site plan: what stands on a site, what it draws, gives off and weighs.

Equal racks share a ``RackKind`` with the records of one of them; a ``RackClass`` adds names, places and
sources. ``SitePlan.power`` and ``SitePlan.cooling`` hold tuples of the other records. The ending of a field
is its unit: ``_w`` watts, ``_a`` amperes, ``_v`` volts, ``_kg`` kilograms, ``_m`` metres,
``_m2`` square metres, ``_kgm2`` kilograms per square metre, ``_c`` degrees Celsius, ``_k`` kelvins,
``_kpa`` kilopascals, ``_cfm`` cubic feet per minute, ``_lpm`` litres per minute, ``_u`` rack units,
``_s`` seconds, ``_percent`` %, ``_gbps`` Gbps, ``_gib`` GiB. None is unknown, or absent where the field says so; it
is never a default and never taken for zero.

Those of ``names`` are of the whole plan: ``rackwright.plan.model.Plan.names``.
"""
