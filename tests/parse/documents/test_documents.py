"""PDF, DOCX, ODT and EPUB become Markdown with their structure; what cannot be read is named."""

import zipfile
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.digester import digest
from sumi.policy import Preset
from tests.parse.documents.made import CODE, HEAD, TEXT, W, docx, epub, odt, package, paragraph, pdf

pytest.importorskip("pypdfium2")


def read(body: bytes, *, documents: bool = True) -> PageDigest | Undigested:
    url = "https://a.test/manual"
    request = DigestRequest(url, body, "application/octet-stream", Kind.PAGE, Preset.MIRROR, True)
    return digest(
        DigestRequest(
            **{name: getattr(request, name) for name in request.__struct_fields__} | {"documents": documents}
        )
    )


def page_of(body: bytes) -> PageDigest:
    page = read(body)
    assert isinstance(page, PageDigest), page
    return page


def markdown_of(body: bytes) -> str:
    return page_of(body).markdown or ""


def refusal_of(body: bytes) -> str:
    refused = read(body)
    assert isinstance(refused, Undigested), refused
    assert refused.verdict.outcome is Outcome.PARSE_FAILED
    return refused.verdict.rule


def test_a_pdf_has_headings_paragraphs_lists_code_and_places_of_its_pages() -> None:
    first = [
        (HEAD, 60, 760, "On ink"),
        *paragraph(["Ink is made of soot, which is every-", "where. See https://soot.test/a."], 720),
        (TEXT, 60, 650, "- soot"),
        (TEXT, 60, 638, "- water"),
        (CODE, 60, 600, "def stir(ink):"),
        (CODE, 84, 588, "return ink * 2"),
    ]
    page = page_of(pdf([first, paragraph(["The second page says more."])], "Inks"))
    assert page.markdown is not None
    assert page.title == "Inks"
    assert "# On ink" in page.markdown
    assert "which is everywhere. See <https://soot.test/a>." in page.markdown
    assert "- soot\n- water" in page.markdown
    assert "```\ndef stir(ink):\n    return ink * 2\n```" in page.markdown
    assert page.markdown.index('<a id="page=2"></a>') < page.markdown.index("The second page")
    assert page.links == ["https://soot.test/a"]
    assert page.fidelity == 1.0


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            (TEXT, 60, 780, "The Manual of Ink"),
            *paragraph([f"Text {word} of it."]),
            (TEXT, 300, 20, f"{number}"),
        ]
        for number, word in enumerate(("one", "two", "three", "four", "five"), 1)
    ]
    text = markdown_of(pdf(pages))
    assert "Manual of Ink" not in text
    assert [line for line in text.splitlines() if line.isdigit()] == []
    assert text.count("Text") == 5


def test_pages_without_text_lower_the_score_and_are_counted() -> None:
    page = page_of(pdf([paragraph(["One page has words on it."]), [], [], []]))
    assert page.fidelity == 0.25
    assert page.shortfalls == ["pages: 3 of 4 have no text"]
    assert "pictures" in refusal_of(pdf([[], []]))


def test_a_pdf_with_a_password_or_cut_in_two_is_named() -> None:
    whole = pdf([paragraph(["Some words."])])
    assert refusal_of(whole[:60]) == "PDF: it is no PDF, or damaged"
    encrypted = whole.replace(
        b"/Info 5 0 R",
        b"/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<"
        + b"41" * 32
        + b">/U<"
        + b"42" * 32
        + b">>>",
    )
    assert refusal_of(encrypted) == "PDF: it is encrypted"


def test_documents_are_no_pages_unless_they_are_wanted() -> None:
    refused = read(pdf([paragraph(["Some words."])]), documents=False)
    assert isinstance(refused, Undigested)
    assert refused.verdict.outcome is Outcome.NOT_HTML


def words(text: str, properties: str = "") -> str:
    return f"<w:r>{properties}<w:t>{text}</w:t></w:r>"


def styled(style: str, text: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{words(text)}</w:p>'


def listed(number: int, text: str) -> str:
    return f'<w:p><w:pPr><w:numPr><w:numId w:val="{number}"/></w:numPr></w:pPr>{words(text)}</w:p>'


def test_a_docx_has_headings_lists_tables_links_notes_and_emphasis() -> None:
    bold = "<w:rPr><w:b/></w:rPr>"
    row = "<w:tr><w:tc><w:p>{}</w:p></w:tc><w:tc><w:p>{}</w:p></w:tc></w:tr>"
    body = (
        styled("H1", "On ink") + styled("H2", "Making it") + f"<w:p>{words('Grind it ')}{words('well', bold)}"
        "<w:del><w:r><w:delText>badly</w:delText></w:r></w:del>"
        f'<w:hyperlink r:id="L1">{words(" as told")}</w:hyperlink>'
        '<w:r><w:footnoteReference w:id="7"/></w:r></w:p>'
        + listed(1, "soot")
        + listed(1, "glue")
        + listed(2, "first")
        + "<w:tbl>"
        + row.format(words("Pigment"), words("Share"))
        + row.format(words("soot"), words("4 &lt; 5"))
        + "</w:tbl>"
    )
    made = docx(
        body,
        footnotes=f'<w:footnotes {W}><w:footnote w:id="7">'
        f"<w:p>{words('By a master.')}</w:p></w:footnote></w:footnotes>",
        numbering=f'<w:numbering {W}><w:abstractNum w:abstractNumId="9"><w:lvl>'
        '<w:numFmt w:val="decimal"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="2"><w:abstractNumId w:val="9"/></w:num></w:numbering>',
        rels='<Relationships><Relationship Id="L1" TargetMode="External" Target="https://soot.test/"/>'
        "</Relationships>",
    )
    text = markdown_of(made)
    assert "# On ink\n\n## Making it\n\nGrind it **well**" in text
    assert "badly" not in text
    assert "(https://soot.test/)" in text
    assert "- soot\n- glue" in text
    assert "1. first" in text
    assert "| Pigment | Share |" in text
    assert "| soot | 4 < 5 |" in text
    assert "By a master." in text


@pytest.mark.parametrize("value", ["0", "false"])
def test_emphasis_that_a_docx_switches_off_is_none(value: str) -> None:
    switched_off = f'<w:rPr><w:b w:val="{value}"/></w:rPr>'
    made = docx(f"<w:p>{words('Plain', switched_off)}</w:p>")
    assert "Plain" in markdown_of(made)
    assert "**" not in markdown_of(made)


def test_an_odt_has_headings_lists_tables_and_links() -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    text = markdown_of(
        odt(
            '<text:h text:outline-level="2">Making it</text:h>'
            '<text:p>Grind<text:s/>it <text:a xlink:href="https://soot.test/">well</text:a>, '
            "<text:span>twice</text:span>.</text:p>"
            "<text:list><text:list-item><text:p>soot</text:p></text:list-item></text:list>"
            f"<table:table><table:table-row>{cell.format('Pigment')}{cell.format('Share')}</table:table-row>"
            f"<table:table-row>{cell.format('soot')}{cell.format('4')}</table:table-row></table:table>"
        )
    )
    assert "## Making it\n\nGrind it [well](https://soot.test/), twice." in text
    assert "- soot" in text
    assert "| soot | 4 |" in text


def test_notes_of_an_odt_stand_at_its_end() -> None:
    body = "<text:note-body><text:p>By a master.</text:p></text:note-body>"
    text = markdown_of(
        odt(
            f"<text:p>Grind it<text:note><text:note-citation>1</text:note-citation>{body}</text:note> well, "
            "and again<text:note><text:note-citation>2</text:note-citation></text:note>.</text:p>"
        )
    )
    assert text.index("Grind it") < text.index("well, and again.") < text.index("By a master.")


def test_a_book_is_its_chapters_in_order_and_a_missing_one_is_told() -> None:
    page = page_of(
        epub(
            {
                "z.xhtml": "<h1>First</h1><p><img src='x.png' alt='A stone'/>It begins.</p>",
                "a.xhtml": "<h1>Second</h1>",
            },
            "Inks",
        )
    )
    assert (page.title, page.language, page.fidelity) == ("Inks", "en", 1.0)
    assert page.markdown is not None
    assert (
        page.markdown.index("# First") < page.markdown.index("It begins.") < page.markdown.index("# Second")
    )
    assert "A stone" in page.markdown
    half = page_of(epub({"a.xhtml": "<p>It begins here.</p>", "b.xhtml": ""}))
    assert half.fidelity == 0.5
    assert half.shortfalls[-1] == "chapters: 1 of 2 cannot be read"


def test_a_bomb_of_zeros_entities_or_nesting_is_refused() -> None:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (30 * 1024 * 1024))
    assert refusal_of(held.getvalue()) == "DOCX: it is too large when unpacked"
    entities = f'<!DOCTYPE a [<!ENTITY b "bbbb">]><w:document {W}>&b;</w:document>'
    assert "entities" in refusal_of(package({"word/document.xml": entities}))
    deep = f"<w:document {W}>{'<w:body>' * 5000}{'</w:body>' * 5000}</w:document>"
    assert isinstance(read(package({"word/document.xml": deep})), PageDigest | Undigested)
    sections = "<text:section>" * 5000 + "</text:section>" * 5000
    assert "nested" in refusal_of(odt(sections))


@settings(max_examples=60)
@given(data=st.data())
def test_a_document_damaged_anywhere_never_costs_more_than_itself(data: st.DataObject) -> None:
    whole = data.draw(
        st.sampled_from(
            [
                pdf([paragraph(["Some words."])]),
                docx(styled("H1", "x")),
                odt("<text:p>x</text:p>"),
                epub({"a": "x"}),
            ]
        )
    )
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    found = read(bytes(damaged[: data.draw(st.integers(1, len(damaged)))]))
    if isinstance(found, Undigested):
        assert found.verdict.rule.split(":")[0] in {
            "PDF",
            "DOCX",
            "ODT",
            "EPUB",
            "content type application/octet-stream",
        }
