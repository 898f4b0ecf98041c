"""A user's own tables: what their columns mean, the features they become, and what is written back."""

from redisc.tables.columns import TableColumns
from redisc.tables.plan import TablePlan
from redisc.tables.reading import read_heads, read_tables

__all__ = ["TableColumns", "TablePlan", "read_heads", "read_tables"]
