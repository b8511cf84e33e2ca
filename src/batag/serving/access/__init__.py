"""Who may ask: keys, sessions of browsers, rates, and where a request comes from."""
