"""The two reference pages generated from declarations: config and results."""

from __future__ import annotations

from docs.reference_config import config_page
from docs.reference_results import results_page

__all__ = ["config_page", "results_page"]
