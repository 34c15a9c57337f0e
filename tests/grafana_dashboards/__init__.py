"""The dashboards of the role ``grafana``, as descriptions of which its files are made."""
