"""Tools for those who test what plugs into npcompat."""
