"""Reading of YAML documents into models, with positions on every error."""
