"""Documents as tests need them, written byte by byte: no library of another's decides what is in them."""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_ODF = "urn:oasis:names:tc:opendocument:xmlns"

HEAD, TEXT, CODE = ("F1", 20), ("F1", 10), ("F2", 10)


def pdf(pages: Sequence[Sequence[tuple[tuple[str, int], int, int, str]]], title: str = "") -> bytes:
    """Each page: lines of ((font, size), x, y, text)."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>",
        f"<</Title({title})>>".encode("latin-1"),
    ]
    kids = []
    for lines in pages:
        drawn = "".join(
            f"BT /{font} {size} Tf {x} {y} Td ({_escaped(text)}) Tj ET\n"
            for (font, size), x, y, text in lines
        ).encode("latin-1")
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
        kids.append(len(objects) + 1)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>" % len(objects)
        )
    references = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{references}]>>".encode()
    return _pdf_file(objects)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _pdf_file(objects: Sequence[bytes], trailer: bytes = b"/Info 5 0 R") -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, data in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, data)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        out += b"%010d 00000 n \n" % place
    out += b"trailer<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def paragraph(lines: Sequence[str], top: int = 700) -> list[tuple[tuple[str, int], int, int, str]]:
    return [(TEXT, 60, top - 12 * number, line) for number, line in enumerate(lines)]


def package(parts: Mapping[str, str | bytes], first: tuple[str, str] | None = None) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        if first is not None:
            archive.writestr(zipfile.ZipInfo(first[0]), first[1])
        for name, data in parts.items():
            archive.writestr(name, data)
    return held.getvalue()


def docx(body: str, **parts: str) -> bytes:
    styles = (
        f'<w:styles {W}><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="H2"><w:name w:val="Chapter"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        "</w:styles>"
    )
    return package(
        {
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": styles,
            **{
                f"word/{name.replace('__', '/')}.xml": text
                for name, text in parts.items()
                if "rels" not in name
            },
            "word/_rels/document.xml.rels": parts.get("rels", "<Relationships/>"),
        }
    )


def odt(body: str) -> bytes:
    names = " ".join(
        f'xmlns:{short}="{_ODF}:{short}:1.0"'
        for short in ("office", "text", "table", "drawing", "svg-compatible")
    )
    content = (
        f'<office:document-content {names} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return package({"content.xml": content}, ("mimetype", "application/vnd.oasis.opendocument.text"))


def epub(chapters: Mapping[str, str], title: str = "") -> bytes:
    items = "".join(
        f'<item id="{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="{n}"/>' for n in range(len(chapters)))
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="in/book.opf"/></rootfiles></container>'
    )
    pages = {
        f"in/{name}": f"<html><head/><body>{html}</body></html>" for name, html in chapters.items() if html
    }
    return package(
        {"META-INF/container.xml": container, "in/book.opf": opf, **pages},
        ("mimetype", "application/epub+zip"),
    )
