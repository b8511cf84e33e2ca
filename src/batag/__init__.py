"""batag tags product pages; what stands here is the whole public surface."""

from batag.pages.page import Page, Tag

__version__ = "0.1.0"
__all__ = ["Page", "Tag", "__version__"]
