"""Equations of a jaxpr and of those within it, such as bodies of loops."""


def equations(jaxpr, apart=()):
    """Return all equations, outer ones first; calls of functions named in `apart` stay closed."""
    found = []
    for equation in jaxpr.eqns:
        found.append(equation)
        if equation.params.get("name") in apart:
            continue
        for value in equation.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    found += equations(inner, apart)
    return found


def names(jaxpr, apart=()):
    """Return the names of the primitives of all equations."""
    return [e.primitive.name for e in equations(jaxpr, apart)]
