"""Programs of other libraries on npcompat's arrays; they run where the library is installed."""
