"""Order statistics, histograms, differences and interpolation."""

__all__: list[str] = []
