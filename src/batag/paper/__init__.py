"""The paper's tables and figures: small definitions, cells that are trained once, and what follows from them."""
