"""Sparse products, edge softmax, random numbers and random bits: no weights, no knowledge of the model."""
