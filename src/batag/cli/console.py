"""The one way to the terminal: nothing that is printed is an order to the terminal, markup or the name of an emoji."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from batag.cli.terminal import one_line, visible


class SafeConsole(Console):
    """A console that shows what files and pages hold, and obeys only the command itself (colours, bars)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """A text is a line: a name with a line end in it cannot make up a message of its own."""
        super().print(*(one_line(each) if isinstance(each, str) else each for each in objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of what is printed; those that move the cursor (of bars) are the command's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
