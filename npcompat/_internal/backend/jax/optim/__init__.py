"""Update rules of optimisers, over optax."""
