"""Commands about words and phrases: keywords, and their scores."""
