"""The sample catalogue: made-up product pages; the same seed gives the same bytes."""

from batag.sample.catalogue import LANGUAGES, SHOPS, STYLES, sample_pages
from batag.sample.export import check_export, write_export
from batag.sample.pool import SPLITS

__all__ = ["LANGUAGES", "SHOPS", "SPLITS", "STYLES", "check_export", "sample_pages", "write_export"]
