"""A user's own tables: what their columns mean, the features they become, and what is written back."""

from redisc.tables.columns import TableColumns, default_scaling
from redisc.tables.plan import TablePlan
from redisc.tables.reading import read_heads, read_tables

__all__ = ["TableColumns", "TablePlan", "default_scaling", "read_heads", "read_tables"]
