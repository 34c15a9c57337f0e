"""Configuring hosts from several machines, which Receptor connects."""
