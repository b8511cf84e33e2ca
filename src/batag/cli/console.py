"""The only way to print: text from files and pages can never act as terminal control codes, markup or emoji names."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from batag.cli.terminal import one_line, visible


class SafeConsole(Console):
    """A console on which only the command itself controls the terminal (colours, bars); all other text is printed as it is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text on one line, so that a file name with a line break cannot fake a message."""
        super().print(*(one_line(each) if isinstance(each, str) else each for each in objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render what is printed; segments that move the cursor come from progress bars only."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))
