"""Tools that users would pick instead, each with its usual settings: `fit(train, dev, scheme, seed) -> predict`."""
