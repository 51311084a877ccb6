"""Programs that show npcompat at work; each runs on its own."""
