"""The resource provider that the Pulumi engine drives, and the wire between them."""
