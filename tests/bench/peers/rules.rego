# Twenty of Rackwright's rules over the expanded plan (see export.py), for Open Policy Agent.
# A number that is null is unknown: a comparison with it finds nothing here.
package rackwright

# The rounding of floating point: a value at its limit passes, as in Rackwright.
over(value, limit) if {
	is_number(value)
	is_number(limit)
	value > limit
	value - limit > 1e-9 * max([abs(value), abs(limit)])
}

rack_subject(rack) := sprintf("%s rack %s", [rack.site, rack.rack])

feed_subject(rack, feed) := sprintf("%s rack %s feed %s", [rack.site, rack.rack, feed.feed])

circuit_subject(rack, feed, circuit) := sprintf(
	"%s rack %s feed %s PDU %d",
	[rack.site, rack.rack, feed.feed, circuit.pdu + 1],
)

source_subject(source) := sprintf("%s source %s", [source.site, source.source])

hall_subject(hall) := sprintf("%s hall %s", [hall.site, hall.hall])

device_subject(rack, device) := sprintf("%s rack %s %s", [rack.site, rack.rack, device.entry])

# PWR-001: rack circuits carry their load continuously.
deny contains {"policy": "PWR-001", "subject": feed_subject(rack, feed)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	over(circuit.implied_w, circuit.usable_w)
}

# PWR-002: the other circuits carry a rack after one feed or PDU is lost.
deny contains {"policy": "PWR-002", "subject": feed_subject(rack, feed)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	some loss in circuit.losses
	over(loss.implied_w, loss.usable_w)
}

# PWR-003: devices keep enough power supplies after one feed or PDU is lost.
deny contains {"policy": "PWR-003", "subject": subject} if {
	some rack in input.racks
	some device in rack.nodes
	not device.psu_inlet in {"hardwired", "busbar"}
	some loss in device.losses
	over(loss.needed_full, loss.alive)
	subject := sprintf("%s rack %s %s %s", [rack.site, rack.rack, device.entry, device.group])
}

# PWR-004: breakers, branches and outlets fit what is plugged in.
deny contains {"policy": "PWR-004", "subject": feed_subject(rack, feed)} if {
	some rack in input.racks
	some feed in rack.feeds
	over(feed.circuit_current_a, feed.current_a)
}

deny contains {"policy": "PWR-004", "subject": circuit_subject(rack, feed, circuit)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	overloaded(rack, circuit)
}

overloaded(rack, circuit) if {
	circuit.c13_used > 0
	over(circuit.c13_worst_a, circuit.c13_rating_a * rack.derate)
}

overloaded(rack, circuit) if {
	circuit.c19_used > 0
	over(circuit.c19_worst_a, circuit.c19_rating_a * rack.derate)
}

overloaded(rack, circuit) if {
	is_number(circuit.branches)
	over(circuit.branch_worst_a, circuit.branch_rating_a * rack.derate)
}

# PWR-005: three-phase sources are loaded evenly; from 10 % on it warns.
deny contains {"policy": "PWR-005", "subject": source_subject(source)} if {
	some source in input.sources
	source.load_w != 0
	over(source.load_w, 0.25 * source.capacity_w)
	over((300 * source.deviation_w) / source.capacity_w, 10)
}

# PWR-006: sources, rows, halls and the contract stay inside their power budgets.
deny contains {"policy": "PWR-006", "subject": source_subject(source)} if {
	some source in input.sources
	source.redundancy == "N-1"
	over(source.worst_w, source.capacity_w)
}

deny contains {"policy": "PWR-006", "subject": source_subject(source)} if {
	some source in input.sources
	source.redundancy != "N-1"
	over(source.load_w, source.capacity_w)
}

deny contains {"policy": "PWR-006", "subject": sprintf("%s row %s", [row.site, row.row])} if {
	some row in input.rows
	over(row.power_w, row.power_limit_w)
}

deny contains {"policy": "PWR-006", "subject": hall_subject(hall)} if {
	some hall in input.halls
	over(hall.power_w, hall.power_limit_w)
}

deny contains {"policy": "PWR-006", "subject": sprintf("%s contract", [site.site])} if {
	some site in input.sites
	over(site.it_power_w, site.contract_w)
}

# PWR-008: PDUs have the outlets that racks need.
deny contains {"policy": "PWR-008", "subject": circuit_subject(rack, feed, circuit)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	over(circuit.c13_used, circuit.c13_available)
}

deny contains {"policy": "PWR-008", "subject": circuit_subject(rack, feed, circuit)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	over(circuit.c19_used, circuit.c19_available)
}

# PWR-009: circuits keep a tenth of their capacity free, also after a loss.
deny contains {"policy": "PWR-009", "subject": feed_subject(rack, feed)} if {
	some rack in input.racks
	some feed in rack.feeds
	some circuit in feed.circuits
	some state in array.concat([circuit], circuit.losses)
	over((100 * state.implied_w) / state.usable_w, 90)
}

deny contains {"policy": "PWR-009", "subject": sprintf("%s power", [site.site])} if {
	some site in input.sites
	site.oversubscription > 1
	not site.capping
}

# PWR-010: the voltage of a circuit suits its PDU, and that at the outlets suits the devices.
deny contains {"policy": "PWR-010", "subject": feed_subject(rack, feed)} if {
	some rack in input.racks
	some feed in rack.feeds
	over(feed.voltage_v, feed.pdu_voltage_v)
}

deny contains {"policy": "PWR-010", "subject": device_subject(rack, device)} if {
	some rack in input.racks
	some device in rack.nodes
	not device.psu_inlet in {"hardwired", "busbar"}
	some feed in rack.feeds
	is_string(feed.pdu_entry)
	unsuited(feed.outlet_voltage_v, device)
}

unsuited(volts, device) if over(volts, device.voltage_max_v)

unsuited(volts, device) if over(device.voltage_min_v, volts)

# RACK-001: every device has a place in its rack.
deny contains {"policy": "RACK-001", "subject": rack_subject(rack)} if {
	some rack in input.racks
	over(rack.used_u, rack.height_u)
}

deny contains {"policy": "RACK-001", "subject": device_subject(rack, device)} if {
	some rack in input.racks
	some device in rack.nodes
	not device.fits
	device.height_u > 0
}

# RACK-002: a rack draws no more than its place in the hall allows.
deny contains {"policy": "RACK-002", "subject": rack_subject(rack)} if {
	some rack in input.racks
	over(rack.power_w, rack.power_limit_w)
}

# RACK-003: a rack carries the weight of its content.
deny contains {"policy": "RACK-003", "subject": rack_subject(rack)} if {
	some rack in input.racks
	some rating in [rack.static_rating_kg, rack.dynamic_rating_kg]
	over(rack.content_kg, rating)
}

# RACK-004: the floor carries the racks.
deny contains {"policy": "RACK-004", "subject": rack_subject(rack)} if {
	some rack in input.racks
	some limit in [rack.floor_concentrated, rack.floor_rolling]
	over(rack.weight_kg / rack.casters, limit)
}

deny contains {"policy": "RACK-004", "subject": rack_subject(rack)} if {
	some rack in input.racks
	over(rack.weight_kg / rack.footprint_m2, rack.floor_uniform)
}

# RACK-005: the centre of mass of a rack is in its lower half.
deny contains {"policy": "RACK-005", "subject": rack_subject(rack)} if {
	some rack in input.racks
	over(rack.center_of_mass_u, 0.5 * rack.height_u)
}

# RACK-006: a rack is deep enough for devices and cables.
deny contains {"policy": "RACK-006", "subject": rack_subject(rack)} if {
	some rack in input.racks
	not rack.whole_rack
	some device in rack.nodes
	device.height_u != 0
	over(rack.deepest_m + rack.cable_allowance_m, rack.rack_depth_m)
}

# RACK-007: all devices of a rack move air the same way.
deny contains {"policy": "RACK-007", "subject": subject} if {
	some rack in input.racks
	some device in rack.nodes
	device.heat_air_w != 0
	is_string(device.air_direction)
	not device.air_direction in {rack.air_direction, "passive"}
	subject := sprintf("%s rack %s %s", [rack.site, rack.rack, device.group])
}

# RACK-008: racks above 15 kW have blanking panels and a contained aisle.
deny contains {"policy": "RACK-008", "subject": rack_subject(rack)} if {
	some rack in input.racks
	is_number(rack.power_w)
	rack.power_w > 15000
	false in [rack.blanking, rack.contained]
}

# COOL-001: air handlers carry the heat of a hall with one of them lost.
deny contains {"policy": "COOL-001", "subject": hall_subject(hall)} if {
	some hall in input.halls
	over(hall.heat_air_w, hall.air_capacity_n1_w)
}

# COOL-002: air handlers move enough air with one of them lost, at the density of the air.
deny contains {"policy": "COOL-002", "subject": hall_subject(hall)} if {
	some hall in input.halls
	is_string(hall.handler)
	over(hall.supply_cfm / hall.density_ratio, hall.air_supply_n1_cfm)
}

# COOL-006: the inlet temperature suits the ASHRAE class and every device.
deny contains {"policy": "COOL-006", "subject": hall_subject(hall)} if {
	some hall in input.halls
	some range in [hall.allowable_c, hall.recommended_c]
	outside(hall.inlet_c, range[0], range[1])
}

deny contains {"policy": "COOL-006", "subject": subject} if {
	some rack in input.racks
	some device in rack.nodes
	device.heat_air_w != 0
	outside(rack.inlet_c, device.inlet_min_c, device.inlet_max_c)
	subject := sprintf("%s hall %s %s", [rack.site, rack.hall, device.entry])
}

outside(value, _, high) if over(value, high)

outside(value, low, _) if over(low, value)
