"""The tables of a site about its racks: records of racks that are alike."""
