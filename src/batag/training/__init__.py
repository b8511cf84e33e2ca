"""Labelled pages to a run: recipe, schedule, batches, loop, checkpoints, selection."""
