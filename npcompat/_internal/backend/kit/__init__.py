"""Kit of rules: equations executed by the functions of an array-API namespace, or an engine's own."""
