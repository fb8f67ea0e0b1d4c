"""Navigation data is read as Doxygen writes it, never run, and no content of it takes more than its share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.parse.page import navigation
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.digester import digest
from sumi.parse.page.navigation import Navigation, read_navigation
from sumi.policy import Preset

MENU = """/*
 @licstart  var menudata = {children:[{url:"never.html"}]}
*/
var menudata={children:[
{text:"Main Page",url:"index.html"},
{text:"Classes",url:"annotated.html",children:[
{text:"url",url:"classes.html"},
{text:"All",url:"functions.html",children:[
{text:"c",url:"functions.html#index_c"}]}]},
{text:'It\\'s \\u00e9',url:'user\\/page.html'}]}
"""
TREE = """
var NAVTREE =
[
  [ "Demo", "index.html", [
    [ "A \\"tutorial\\"", "tut.html", "tut" ],
    [ "Without a page", null, [
      [ "Class List", "annotated.html", "annotated_dup" ]
    ] ]
  ] ]
];

var NAVTREEINDEX =
[
"a_8h.html",
"m3_8h.html"
];

var SYNCONMSG = 'click to disable panel synchronisation';
"""
INDEX = """var NAVTREEINDEX0 =
{
"a_8h.html":[4,0,0,1],
"a_8h.html#a89db":[4,0,0,1,4],
"pages.html":[],
"d0/d1d/classM55.html":[3,0,52]
};
"""
# Of 1.7: data and program in one file.
OLD = """var NAVTREE =
[
  [ "Old", "index.html", [
    [ "Class List", "annotated.html", [
      [ "A", "class_a.html", null ]
    ] ],
    [ "Class Index", "classes.html", null ]
  ] ]
];

function createIndent(o,domNode,node,level)
{
  if (node.parentNode && node.parentNode.parentNode)
  {
    var a = [ "no", "page" ]; x = { url: "no.html" };
  }
}
"""


def test_a_menu() -> None:
    read = read_navigation(MENU.partition("*/")[2], "menudata")
    assert read.addresses == [
        *("index.html", "annotated.html", "classes.html", "functions.html", "functions.html#index_c"),
        "user/page.html",
    ]
    assert (read.files, read.found, read.cut) == ([], True, False)


def test_a_tree_with_an_index_names_the_files_of_that() -> None:
    read = read_navigation(TREE, "navtreedata")
    assert read.addresses == ["index.html", "tut.html", "annotated.html"]
    assert read.files == ["navtreeindex0.js", "navtreeindex1.js"]
    indexed = read_navigation(INDEX, "navtreeindex0")
    assert indexed.addresses == ["a_8h.html", "a_8h.html#a89db", "d0/d1d/classM55.html"]


def test_a_tree_without_an_index_names_the_files_of_its_branches() -> None:
    alone = TREE.partition("var NAVTREEINDEX")[0]
    assert read_navigation(alone, "navtreedata").files == ["tut.js", "annotated_dup.js"]
    branch = (
        'var annotated_dup =\n[\n    [ "C", "classC.html", "classC" ],\n    [ "M", "classM.html", null ]\n];'
    )
    read = read_navigation(branch, "annotated_dup")
    assert (read.addresses, read.files) == (["classC.html", "classM.html"], ["classC.js"])


def test_data_and_program_in_one_file() -> None:
    read = read_navigation(OLD, "navtree")
    assert read.addresses == ["index.html", "annotated.html", "class_a.html", "classes.html"]
    assert not read.cut


@pytest.mark.parametrize("text", [MENU, TREE, INDEX, OLD])
def test_what_is_cut_says_so_and_gives_what_came_before(text: str) -> None:
    whole = read_navigation(text, "x")
    half = read_navigation(text[: len(text) // 2], "x")
    assert set(half.addresses) <= set(whole.addresses)
    assert half.cut or not half.found or half.addresses == whole.addresses


@given(st.text(alphabet="[]{},:\"'\\ \n/*x1=varNAVTREE", max_size=200))
def test_nothing_that_a_file_may_hold_is_more_than_data(text: str) -> None:
    assert isinstance(read_navigation(f"var NAVTREE = [{text}", "x"), Navigation)
    assert isinstance(read_navigation(f"menudata={{{text}", "x"), Navigation)


def test_so_much_and_no_more() -> None:
    deep = read_navigation("NAVTREE = " + "[" * 100_000, "x")
    assert (deep.found, deep.cut) == (True, True)
    entries = ",".join(f'"p{number}.html":[1]' for number in range(navigation._MOST_ADDRESSES + 10))
    many = read_navigation("NAVTREEINDEX0 = {" + entries + "}", "x")
    assert (len(many.addresses), many.cut) == (navigation._MOST_ADDRESSES, True)
    assert read_navigation('NAVTREE = [["a", "' + "x" * 10_000 + '"]]', "x").addresses == []
    assert read_navigation(" " * 200_000 + "x" * 200_000 + "/*" * 100_000, "x").found is False


def digested(url: str, body: str, kind: Kind) -> PageDigest | Undigested:
    return digest(DigestRequest(url, body.encode(), "", kind, Preset.MIRROR, navigation=True))


def test_addresses_are_relative_to_the_data_and_pages_name_it() -> None:
    page = '<html><script src="../../navtreedata.js"></script><script src="../../navtree.js"></script>'
    page += '<script src="/x/menudata.js?v=1"></script><script src="../../menu.js"></script><p>Words'
    read = digested("https://a.test/api/d0/d1/c.html", page, Kind.PAGE)
    assert isinstance(read, PageDigest)
    assert read.navigation == ["https://a.test/api/navtreedata.js", "https://a.test/x/menudata.js?v=1"]
    data = digested("https://a.test/api/navtreedata.js", TREE, Kind.NAVIGATION)
    assert isinstance(data, PageDigest)
    assert data.links == [f"https://a.test/api/{name}.html" for name in ("index", "tut", "annotated")]
    assert data.navigation == [f"https://a.test/api/navtreeindex{number}.js" for number in (0, 1)]


def test_a_script_of_the_same_name_that_is_something_else_is_passed_over() -> None:
    read = digested("https://a.test/menudata.js", "export default function () { return 1 }", Kind.NAVIGATION)
    assert isinstance(read, Undigested)
    assert read.verdict.outcome is Outcome.NOT_HTML
