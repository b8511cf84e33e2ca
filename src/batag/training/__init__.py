"""Train on labelled pages: recipe, schedule, batches, loop, checkpoints, selection of the best epoch."""
