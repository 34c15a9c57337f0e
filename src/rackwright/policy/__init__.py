"""Policies: what must hold before anything is deployed."""
