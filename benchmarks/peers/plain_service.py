"""The same bundle behind FastAPI and uvicorn in the plainest way: `BUNDLE=folder uvicorn plain_service:app --workers 2`."""

import os
from typing import Any

from fastapi import FastAPI

import batag

app = FastAPI()
tagger = batag.load(os.environ["BUNDLE"], device="cpu", threads=1)


@app.get("/readyz")
def ready() -> dict[str, bool]:
    """Whether it answers."""
    return {"ready": True}


@app.post("/v1/tag")
async def tag(body: dict[str, Any]) -> dict[str, Any]:
    """The tags of one page or several; in threads (`def`) it is many times slower."""
    pages = body["pages"] if "pages" in body else [body["page"]]
    return {"pages": [{"tags": [each.to_dict() for each in tags]} for tags in tagger.tag_many(pages)]}
