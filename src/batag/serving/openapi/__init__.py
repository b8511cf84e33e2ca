"""The description of the API as OpenAPI 3.1, with the limits, labels and keys of the service that gives it."""

from batag.serving.openapi.document import document

__all__ = ["document"]
