"""Commands that make and use the folder of a shop."""
