"""spaCy's NER behind FastAPI and uvicorn, the plainest way: an English pipeline of its default size with random weights, which
costs what a trained one does: `uvicorn spacy_service:app --workers 2`."""

from typing import Any

import spacy
from fastapi import FastAPI

app = FastAPI()
nlp = spacy.blank("en")
ner = nlp.add_pipe("ner")
for label in ("brand", "goods", "feature"):
    ner.add_label(label)  # type: ignore[attr-defined]
nlp.initialize()


@app.get("/readyz")
def ready() -> dict[str, bool]:
    """Whether it answers."""
    return {"ready": True}


@app.post("/v1/tag")
async def tag(body: dict[str, Any]) -> dict[str, Any]:
    """The entities of one page or several, its fields joined."""
    pages = body["pages"] if "pages" in body else [body["page"]]
    docs = nlp.pipe(" ".join(page.values()) for page in pages)
    return {
        "pages": [{"tags": [[each.text, each.label_, each.start_char, each.end_char] for each in doc.ents]} for doc in docs]
    }
