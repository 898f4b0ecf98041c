"""A look at figures as they were when they were written."""

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def figures(monkeypatch):
    """A list that every figure is put into when it is saved."""
    found, save = [], Figure.savefig

    def keep(figure, *arguments, **options):
        found.append(figure)
        return save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return found
