"""Views, a[key] and a[key] = new."""
