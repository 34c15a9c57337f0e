"""The policies as a native CrossGuard pack: an analyzer that decodes each resource once."""
