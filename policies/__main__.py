"""The policies as a CrossGuard pack: ``pulumi up --policy-pack policies``."""

from rackwright.crossguard.server import serve

serve()
