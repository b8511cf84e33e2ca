"""What comes in: pages, the readers that make them, cleaning, stop words and splitting."""
