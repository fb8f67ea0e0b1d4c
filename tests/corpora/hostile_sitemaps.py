"""Sitemaps that try to make an XML parser read files, ask servers or grow: Sumi's own collection."""

_LAUGHS = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 10))
_QUADRATIC = f'<!ENTITY long "{"x" * 50_000}">'
_ENTITIES = {
    "billion laughs": (f'<!ENTITY e0 "ha">{_LAUGHS}', "&e9;"),
    "quadratic": (_QUADRATIC, "&long;" * 5000),
    "external file": ('<!ENTITY x SYSTEM "file:///etc/hostname">', "&x;"),
    "external address": ('<!ENTITY x SYSTEM "http://127.0.0.1:9/x">', "&x;"),
    "public identifier": ('<!ENTITY x PUBLIC "-//X//EN" "file:///etc/hostname">', "&x;"),
    "parameter entity": ('<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;', "a"),
    "two parameter entities": ('<!ENTITY % a SYSTEM "http://127.0.0.1:9/a"> %a; %b;', "&c;"),
    "cycle": ('<!ENTITY a "&b;"><!ENTITY b "&a;">', "&a;"),
    "notation": (
        '<!NOTATION n SYSTEM "file:///bin/sh"><!ENTITY x SYSTEM "file:///etc/hostname" NDATA n>',
        "&x;",
    ),
}
_OTHERS = {
    "external subset": '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/sitemap.dtd"><urlset/>',
    "local subset": '<!DOCTYPE urlset SYSTEM "file:///etc/hostname"><urlset/>',
    "inclusion": (
        '<urlset><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/hostname"/></urlset>'
    ),
    "stylesheet": '<?xml-stylesheet href="http://127.0.0.1:9/x.xsl"?><urlset/>',
    "schema": '<urlset xsi:schemaLocation="http://127.0.0.1:9/ http://127.0.0.1:9/x.xsd"/>',
    "doctype only": "<!DOCTYPE urlset [",
}
ALL = {
    name: f"<!DOCTYPE urlset [{doctype}]><urlset><url><loc>/{text}</loc></url></urlset>"
    for name, (doctype, text) in _ENTITIES.items()
} | _OTHERS
