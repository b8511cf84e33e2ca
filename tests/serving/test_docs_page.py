"""The page of the API at /docs: served whole from here, under a policy that loads nothing from elsewhere."""

from __future__ import annotations

import re

from tests.serving.service import Service


def test_the_docs_page_comes_from_here_alone(service: Service) -> None:
    answer = service.client.get("/docs")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    links = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert len(links) == 3
    for link in links:
        found = service.client.get(link)
        assert found.status_code == 200, link
        assert "://" not in found.text.replace("http://www.w3.org", "") or link == "/openapi.json"
    assert "<script>" not in answer.text
    assert "style=" not in answer.text


def test_files_are_zipped_and_kept_by_browsers(service: Service) -> None:
    first = service.client.get("/docs/docs.js")
    assert first.headers["content-encoding"] == "gzip"
    again = service.client.get("/docs/docs.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for path in ("/docs/", "/docs/..%2fapp.py", "/docs/../app.py", "/app.py", "/docs/docs.js/x"):
        assert service.client.get(path).status_code == 404
