"""The paper's tables and figures: definitions of tables, cells that are trained once, and reports of the results."""
