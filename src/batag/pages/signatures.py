"""Recognise files that cannot contain pages (a PDF, an image) by their first bytes, with advice for each."""

import re
from collections.abc import Collection

Kind = tuple[str, str]
"""What a file is, and what to do with it."""

_TABLE = "Save it as .xlsx, CSV or JSON lines"
_UNPACK = "Unpack it first"
_TEXT = "Export the pages as CSV, .xlsx or JSON lines"

_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    (rb"%PDF-", ("a PDF", _TEXT)),
    (rb"\x89PNG\r\n\x1a\n", ("a picture (PNG)", _TEXT)),
    (rb"\xff\xd8\xff", ("a picture (JPEG)", _TEXT)),
    (rb"GIF8[79]a", ("a picture (GIF)", _TEXT)),
    (rb"RIFF....WEBP", ("a picture (WEBP)", _TEXT)),
    (rb"II\*\0|MM\0\*", ("a picture (TIFF)", _TEXT)),
    (rb"BM....\0\0\0\0", ("a picture (BMP)", _TEXT)),
    (rb"\0\0\0.ftyp(?:heic|heix|mif1|avif)", ("a picture (HEIC or AVIF)", _TEXT)),
    (rb"\0\0\0.ftyp|\x1aE\xdf\xa3|RIFF....AVI ", ("a video", _TEXT)),
    (rb"ID3[\2-\4]\0|OggS\0|fLaC\0|RIFF....WAVE", ("a sound file", _TEXT)),
    (rb"SQLite format 3\0", ("an SQLite database", _TEXT)),
    (rb"\{\\rtf", ("a document (RTF)", _TABLE)),
    (rb"7z\xbc\xaf\x27\x1c", ("a 7z archive", _UNPACK)),
    (rb"Rar!\x1a\x07", ("a RAR archive", _UNPACK)),
    (rb"BZh[1-9]1AY&SY", ("compressed with bzip2", f"{_UNPACK}, or compress it as .gz or .zst")),
    (rb"\xfd7zXZ\0", ("compressed with xz", f"{_UNPACK}, or compress it as .gz or .zst")),
    (rb"\x04\x22\x4d\x18", ("compressed with lz4", f"{_UNPACK}, or compress it as .gz or .zst")),
    (rb".{257}ustar(?:\0|  \0)", ("a tar archive", _UNPACK)),
    (rb"Obj\x01", ("an Avro file", "Save it as Parquet, CSV or JSON lines")),
    (rb"ARROW1\0\0", ("an Arrow (Feather) file", "Save it as Parquet, CSV or JSON lines")),
    (rb"ORC[\0-\x08]", ("an ORC file", "Save it as Parquet, CSV or JSON lines")),
    (rb"\x89HDF\r\n", ("an HDF5 file", "Save it as Parquet, CSV or JSON lines")),
    (rb"\x7fELF|MZ.\0", ("a program", _TEXT)),
)
_BINARY = [(re.compile(signature, re.DOTALL), kind) for signature, kind in _SIGNATURES]
_OLE = b"\xd0\xcf\x11\xe0"
_INSIDE_OLE: dict[str, Kind] = {
    "EncryptedPackage": ("an Office file with a password", "Save it without one"),
    "WordDocument": ("an old Word document (.doc)", _TABLE),
    "PowerPoint Document": ("an old PowerPoint file (.ppt)", _TABLE),
    "__substg1.0_": ("an Outlook message (.msg)", _TABLE),
}
_HTML = re.compile(rb"\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE | re.DOTALL)
_XML = re.compile(rb"\s*<\?xml\s", re.IGNORECASE)
_INSIDE_ZIP: tuple[tuple[str, Kind], ...] = (
    ("xl/workbook.bin", ("a binary Excel workbook (.xlsb)", "Save it as .xlsx")),
    ("word/", ("a Word document (.docx)", _TABLE)),
    ("ppt/", ("a PowerPoint file (.pptx)", _TABLE)),
    ("META-INF/manifest.xml", ("an OpenDocument file (.ods, .odt)", _TABLE)),
    ("META-INF/container.xml", ("an e-book (EPUB)", _TEXT)),
    ("Index/", ("a Numbers or Pages file of Apple's", _TABLE)),
)


def binary_kind(head: bytes) -> Kind | None:
    """The kind of a binary file that people mistake for pages, or None."""
    if head.startswith(_OLE):
        inside = (kind for name, kind in _INSIDE_OLE.items() if name.encode("utf-16-le") in head)
        return next(inside, ("an old Excel workbook (.xls)", "Save it as .xlsx or CSV"))
    return next((kind for signature, kind in _BINARY if signature.match(head)), None)


def text_kind(head: bytes) -> Kind | None:
    """The kind of a text file that has no readable pages, or None."""
    if _HTML.match(head):
        return "an HTML page", _TEXT
    return ("XML", _TEXT) if _XML.match(head) else None


def zip_kind(names: Collection[str]) -> Kind:
    """The kind of a ZIP archive that is not an Excel workbook, by the names in it."""
    for start, kind in _INSIDE_ZIP:
        if any(name.startswith(start) for name in names):
            return kind
    inside = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
    return f"a ZIP archive ({inside or 'empty'}), not an Excel workbook", "Unpack it and name the file that has the pages"
