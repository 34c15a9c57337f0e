"""Component package for programs of Pulumi in other languages."""
