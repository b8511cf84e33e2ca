"""A client of the service `batag serve`: `Client` for threads, `AsyncClient` for asyncio."""

from batag.client.answer import ServiceError, Tagged
from batag.client.asynchronous import AsyncClient
from batag.client.synchronous import Client

__all__ = ["AsyncClient", "Client", "ServiceError", "Tagged"]
