"""Commands about the service: starting it, its keys, tagging through it."""
