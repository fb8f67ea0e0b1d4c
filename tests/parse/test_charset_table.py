"""In whatever encoding a page comes and whatever is said about it, its text is the one its author wrote."""

from typing import NamedTuple

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset


class Case(NamedTuple):
    name: str
    text: str
    encoding: str  # of the bytes
    header: str = ""  # charset parameter as sent
    meta: str = ""  # <meta charset>
    equiv: str = ""  # <meta http-equiv=content-type>
    mark: bytes = b""


GERMAN = "Grüße aus Köln, schöne Straße – naïve Fußgänger"
RUSSIAN = "Привет, мир: как дела сегодня, что нового"
GREEK = "Καλημέρα κόσμε, τι κάνεις σήμερα"
POLISH = "Zażółć gęślą jaźń, proszę bardzo"
TURKISH = "Şiir ve çağdaş İstanbul ığdır"
HEBREW = "שלום עולם מה שלומך היום"
ARABIC = "مرحبا بالعالم كيف حالك اليوم"
JAPANESE = "こんにちは世界、今日はいい天気ですね"
CHINESE = "你好世界，今天天气很好"
TAIWANESE = "你好世界，今天天氣很好"
KOREAN = "안녕하세요 세계 오늘 날씨가 좋네요"
THAI = "สวัสดีชาวโลก"
EMOJI = "Ink 墨 and 🖋️ and 𝒻𝒶𝓃𝒸𝓎"

CASES = [
    Case("header utf-8", GERMAN, "utf-8", header="utf-8"),
    Case("header in capitals", GERMAN, "utf-8", header="UTF-8"),
    Case("header utf8 without dash", GERMAN, "utf-8", header="utf8"),
    Case("header quoted", GERMAN, "cp1252", header='"windows-1252"'),
    Case("header in single quotes", GERMAN, "utf-8", header="'utf-8'"),
    Case("latin1 means windows-1252", GERMAN, "cp1252", header="iso-8859-1"),
    Case("ascii means windows-1252", GERMAN, "cp1252", header="us-ascii"),
    Case("latin9", "100 € für Œuvre", "iso8859-15", header="iso-8859-15"),
    Case("koi8-r", RUSSIAN, "koi8-r", header="koi8-r"),
    Case("windows-1251", RUSSIAN, "cp1251", header="windows-1251"),
    Case("cp1251 is a name for it", RUSSIAN, "cp1251", header="cp1251"),
    Case("ibm866", RUSSIAN, "cp866", header="ibm866"),
    Case("iso-8859-5", RUSSIAN, "iso8859-5", header="iso-8859-5"),
    Case("mac cyrillic", RUSSIAN, "mac_cyrillic", header="x-mac-cyrillic"),
    Case("iso-8859-2", POLISH, "iso8859-2", header="iso-8859-2"),
    Case("windows-1250", POLISH, "cp1250", header="windows-1250"),
    Case("iso-8859-7", GREEK, "iso8859-7", header="iso-8859-7"),
    Case("windows-1254", TURKISH, "cp1254", header="iso-8859-9"),
    Case("windows-1255", HEBREW, "cp1255", header="windows-1255"),
    Case("windows-1256", ARABIC, "cp1256", header="windows-1256"),
    Case("shift_jis", JAPANESE, "shift_jis", header="Shift_JIS"),
    Case("sjis by another name", JAPANESE, "shift_jis", header="x-sjis"),
    Case("euc-jp", JAPANESE, "euc_jp", header="euc-jp"),
    Case("iso-2022-jp", JAPANESE, "iso2022_jp", header="iso-2022-jp"),
    Case("gbk", CHINESE, "gbk", header="gbk"),
    Case("gb2312 means gbk", CHINESE, "gb2312", header="gb2312"),
    Case("gb18030", EMOJI, "gb18030", header="gb18030"),
    Case("big5", TAIWANESE, "big5", header="big5"),
    Case("euc-kr", KOREAN, "euc_kr", header="euc-kr"),
    Case("ks_c_5601-1987", KOREAN, "euc_kr", header="ks_c_5601-1987"),
    Case("windows-874", THAI, "cp874", header="tis-620"),
    Case("meta alone", RUSSIAN, "cp1251", meta="windows-1251"),
    Case("meta by http-equiv", JAPANESE, "euc_jp", equiv="text/html; charset=euc-jp"),
    Case("header wins over meta", RUSSIAN, "cp1251", header="windows-1251", meta="utf-8"),
    Case("mark wins over header", GERMAN, "utf-8", header="koi8-r", mark=b"\xef\xbb\xbf"),
    Case("mark of utf-16le wins", GERMAN, "utf-16-le", header="utf-8", mark=b"\xff\xfe"),
    Case("mark of utf-16be wins", GERMAN, "utf-16-be", header="utf-8", mark=b"\xfe\xff"),
    Case("utf-16 without a mark", GERMAN, "utf-16-le"),
    Case("big-endian utf-16 without a mark", GERMAN, "utf-16-be"),
    Case("a meta that says utf-16 means utf-8", GERMAN, "utf-8", meta="utf-16"),
    Case("an unknown name counts as none", GERMAN, "utf-8", header="foo"),
    Case("an unknown name, then meta", RUSSIAN, "koi8-r", header="klingon-8", meta="koi8-r"),
    Case("an empty name", GERMAN, "utf-8", header='""', meta="utf-8"),
    Case("nothing is said: utf-8", JAPANESE, "utf-8"),
    Case("beyond the basic plane", EMOJI, "utf-8", header="utf-8"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_text_is_the_authors(case: Case) -> None:
    head = f"<meta charset={case.meta}>" if case.meta else ""
    head += f'<meta http-equiv=content-type content="{case.equiv}">' if case.equiv else ""
    body = case.mark + f"<html><head>{head}<title>{case.text}</title><body><p>{case.text}".encode(
        case.encoding
    )
    content_type = f"text/html; charset={case.header}" if case.header else "text/html"
    result = digest(
        DigestRequest("https://e.org/", body, content_type, Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(result, PageDigest)
    assert result.title == case.text
    assert case.text in (result.markdown or "").replace("\\", "")


@pytest.mark.parametrize(
    "body",
    [
        b"cut \xe2\x82",
        b"\xc3\x28 and \xff\xfe\xfd",
        b"overlong \xc0\xaf",
        b"half a pair \xed\xa0\x80",
        b"beyond \xf4\x90\x80\x80",
        "mixed: ü and ".encode() + "ü".encode("latin-1"),
        b"nul \x00 and &#0; and &#xD800;",
    ],
)
@pytest.mark.parametrize("label", ["utf-8", "shift_jis", "gb18030", "iso-2022-jp", "utf-16le", "replacement"])
def test_broken_bytes_still_come_out_as_valid_text(body: bytes, label: str) -> None:
    request = DigestRequest(
        "https://e.org/",
        b"<p>" + body,
        f"text/html; charset={label}",
        Kind.PAGE,
        Preset.MIRROR,
        markdown=True,
    )
    result = digest(request)
    assert isinstance(result, PageDigest)
    assert "\x00" not in (result.markdown or "")
    (result.markdown or "").encode()
