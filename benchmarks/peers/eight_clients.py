"""Eight clients in a closed loop until SIGINT: `python eight_clients.py PORT BODIES`."""

from __future__ import annotations

import http.client
import json
import signal
import sys
import threading
from collections import Counter
from pathlib import Path


def only_load(port: int, file: Path) -> None:
    """Eight clients until SIGINT; prints the numbers of statuses."""
    asked, counts, ended = file.read_bytes().splitlines(), Counter[str](), threading.Event()
    signal.signal(signal.SIGINT, lambda *_: ended.set())

    def ask(number: int) -> None:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not ended.is_set():
            number = (number + 1) % len(asked)
            try:
                link.request("POST", "/v1/tag", asked[number], {"Content-Type": "application/json"})
                answer = link.getresponse()
                answer.read()
                counts[str(answer.status)] += 1
            except OSError:
                counts["none"] += 1

    threads = [threading.Thread(target=ask, args=(number * 50,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print(json.dumps(counts))


if __name__ == "__main__":
    only_load(int(sys.argv[1]), Path(sys.argv[2]))
