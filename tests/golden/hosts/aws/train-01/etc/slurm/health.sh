#!/bin/sh
#
# Ansible managed
#
exec /usr/local/lib/rackwright/node_health.py --settings /etc/rackwright/node-health.json
