"""What Prometheus reads: all of it is counted in the front, so that engine processes may come and go."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_TOKENS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.requests = Counter("batag_requests", "Answers by path and status", ["path", "status"], registry=own)
        self.seconds = Histogram("batag_request_seconds", "Seconds to an answer", ["path"], buckets=_SECONDS, registry=own)
        self.errors = Counter("batag_errors", "Refused requests by kind", ["kind"], registry=own)
        self.dropped = Counter("batag_dropped", "Requests whose client left before the answer", registry=own)
        self.pages = Counter("batag_pages", "Pages tagged", registry=own)
        self.tags = Counter("batag_tags", "Tags by label", ["label"], registry=own)
        self.cache_hits = Counter("batag_cache_hits", "Pages whose probabilities were remembered", registry=own)
        self.batch_tokens = Histogram("batag_batch_tokens", "Tokens of a batch", buckets=_TOKENS, registry=own)
        self.batch_requests = Histogram(
            "batag_batch_requests", "Requests of a batch", buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256), registry=own
        )
        self.batch_seconds = Histogram("batag_batch_seconds", "Seconds of a batch", buckets=_SECONDS, registry=own)
        self.engine_deaths = Counter("batag_engine_deaths", "Engine processes that died", registry=own)
        self.queue_tokens = Gauge("batag_queue_tokens", "Tokens that wait for an engine", registry=own)
        self.queue_fill = Gauge("batag_queue_fill", "Share of the queue that is full, 0 to 1", registry=own)
        self.engines = Gauge("batag_engines", "Engine processes that are ready", registry=own)
        self.in_flight = Gauge("batag_in_flight", "Requests without an answer yet", registry=own)
        self.lost_log_lines = Gauge("batag_lost_log_lines", "Lines of the log that could not be written", registry=own)
        self._answers: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        own = self._answers.get((path, status))
        if own is None:
            own = self._answers[path, status] = self.requests.labels(path, str(status)), self.seconds.labels(path)
        own[0].inc()
        own[1].observe(seconds)

    def batch(self, tokens: int, requests: int, seconds: float, stats: dict[str, int]) -> None:
        """Count a batch that an engine has answered."""
        self.batch_tokens.observe(tokens)
        self.batch_requests.observe(requests)
        self.batch_seconds.observe(seconds)
        for name, number in stats.items():
            if name.startswith("label:"):
                self.tags.labels(name[6:]).inc(number)
            elif name == "cache_hits":
                self.cache_hits.inc(number)

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self._registry)
