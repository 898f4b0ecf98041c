"""A column of words as TF-IDF features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from redisc.errors import FeatureError

MOST_TERMS = 2000
"""Terms of one column at the most: those that are used most."""

_WORDS: dict[str, Any] = {"token_pattern": r"(?u)\b\w+\b", "dtype": np.float32}


@dataclass(frozen=True)
class TextColumn:
    """A column, the terms that count, and their inverse document frequencies.

    Terms are lower-case words that two rows or more share. A row is divided by its length, so that long texts weigh
    no more than short ones; a missing text has no words.
    """

    column: str
    terms: tuple[str, ...]
    idf: tuple[float, ...]

    @classmethod
    def fit(cls, column: str, values: Any) -> TextColumn:
        """Choose the terms of a pandas column."""
        vectorizer = TfidfVectorizer(**_WORDS, max_features=MOST_TERMS, min_df=2)
        try:
            vectorizer.fit(_documents(values))
        except ValueError:
            raise FeatureError(
                f"nodes, column {column!r}: no word stands in two rows, so it makes no features: leave it out of --text"
            ) from None
        terms = vectorizer.get_feature_names_out().tolist()
        return cls(column, tuple(terms), tuple(vectorizer.idf_.tolist()))

    def features(self, values: Any) -> Any:
        """The features (N, terms) of a pandas column, sparse."""
        vectorizer = TfidfVectorizer(**_WORDS, vocabulary=list(self.terms))
        vectorizer.idf_ = np.array(self.idf, dtype=np.float32)
        return vectorizer.transform(_documents(values))


def _documents(values: Any) -> list[str]:
    return ["" if absent else str(value) for value, absent in zip(values.tolist(), values.isna(), strict=True)]
