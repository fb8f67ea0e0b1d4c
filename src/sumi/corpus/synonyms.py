"""Words of everyday speech and of manuals that mean the same to those who look something up. Pure.

English, and general: nothing of one program's own words is here.
"""

from typing import Final

from sumi.corpus.words import stem

# What is left of a colon is related to each word on its right, and they to it, but not to one another.
_RELATED: Final = """
accent: unicode diacritic
access: permission privilege
addon: extension plugin module
address: url location
admin: administrator administration
advice: recommendation tip
alias: shortcut abbreviation name
allow: permit grant enable
append: add
application: app
archive: tar zip compressed
arg: argument
argument: parameter
asynchronous: async
attack: exploit malicious injection
attr: attribute
auth: authentication authorization
authenticate: authentication
author: committer
auto: automatic
automatically: automatic auto
average: mean avg
background: daemon
backup: dump
big: large huge
bigger: grow enlarge expand
binary: blob bytes
branch: head
broken: corrupt damaged
bug: defect debug
busy: lock
button: widget
cache: buffer
change: modify alter edit update
character: char
check: verify validate validation
checksum: digest
children: foreign cascade
choose: select pick
class: type object
clean: remove purge
cleanup: clean purge
clock: time
close: shutdown
cmd: command
color: colour
column: field attribute
command: subcommand
compare: difference diff comparison
compile: build
concurrent: concurrency
config: configuration
conflict: merge
connected: activity
connection: session
constraint: check rule
constructor: init
contents: text
contributor: author
conversion: cast
convert: conversion cast transform
copy: clone duplicate
cost: free
count: total
crash: failure abort
create: make build generate
csv: comma
date: time timestamp datetime calendar
day: date interval
db: database
debug: breakpoint
decimal: numeric precision
default: fallback
define: definition declare
delay: lag latency
delete: remove erase drop discard unlink
describe: description
dictionary: mapping dict hash
difference: versus
dir: directory
disable: deactivate
disk: storage filesystem
display: show print view output
distance: spatial near
doc: documentation
download: fetch retrieve
empty: blank null truncate
enable: activate turn
encode: codec
encoding: charset unicode
encrypt: ssl tls cipher
environment: env
error: failure exception fault problem
event: loop
exact: precise
example: sample tutorial
excel: csv
exclude: skip omit
exec: execute
explain: plan explanation
ext: extension
external: foreign
fake: mock stub
fast: quick speed performance efficient optimize
fetch: retrieve obtain receive
filter: select condition
find: search locate lookup
finish: complete end
flag: option switch argument
fmt: format
folder: directory dir
forbid: deny prevent disallow disable reject
free: release deallocate
func: function
function: procedure routine method
graph: plot chart
group: aggregate
guid: uuid
hash: digest checksum
hidden: implicit internal
hide: ignore invisible
hierarchy: tree recursive
hint: annotation
history: log revision
hook: callback
hour: time interval
id: identifier key sequence
identifier: key uuid
ignore: exclude skip
image: picture photo graphic
impl: implementation
import: load include
increment: sequence counter serial
indent: whitespace
info: information
inform: notify
inherit: inheritance
init: initialize
insert: add
install: setup
int: integer
invalid: bad illegal
isolated: virtual separate
item: element entry
iter: iterate
iterate: iterator
join: merge combine concatenate union
keyboard: input key
label: name
language: locale
later: deferred
leak: allocation
lib: library
licence: license copyright
limit: maximum restrict bound quota
list: array sequence enumerate
lock: mutex deadlock
log: record
login: authentication sign
machine: server host computer
mail: email smtp
map: geographic spatial
match: pattern regex
max: maximum
meaning: semantics definition
measure: benchmark timing
mem: memory
memory: ram heap allocation cache
menu: widget
message: text
migrate: migration
min: minimum
missing: null absent empty none
misspelled: spelling fuzzy similarity trigram
mistake: error typo
mod: module
module: package library
money: currency decimal
monitor: statistics status
month: date interval
move: rename
msg: message
nearby: near distance spatial
nested: recursive
network: remote socket
new: latest recent newest
nothing: none null
notify: notification listen signal event
num: number
number: integer numeric count
obj: object
offline: network
old: previous earlier past obsolete stale
open: connect
outside: external
pack: archive bundle
page: document
parallel: concurrent simultaneous concurrency
param: parameter
parent: foreign referenced
password: credential secret authentication
patch: diff
pattern: regex
people: user author
percent: ratio
permit: permission
persist: persistence
person: author user
pick: select
picture: blob
pid: process
pkg: package
plugin: extension module
point: coordinate
pretty: format print
prev: previous
price: cost fee
process: program subprocess
program: application
prop: property
protect: security secure guard
query: select statement
quote: escape literal
random: seed
range: between interval constraint
read: load input
readonly: read
reason: rationale
recursive: recursion
ref: reference
regex: regular
repair: recover restore fix salvage
repeat: retry loop iterate iteration
replace: substitute
replica: replication
replicate: replication replica
repository: repo project
reverse: backward
right: privilege permission
round: truncate
row: record tuple line
run: execute invoke call
running: cumulative
safe: secure security
safely: secure security
save: store persist keep write
schedule: timer cron
screen: terminal display
send: transmit submit
serialize: pickle marshal
server: remote host
set: collection
setting: option configuration parameter preference config
several: multiple
shell: command terminal console
shorter: abbreviation alias
signature: sign verify
similar: similarity fuzzy
simple: basic
size: length large
slow: performance optimize bottleneck
small: tiny little compact
smaller: shrink compress reduce
sort: order ordering
space: blank size disk
spec: specification
spelling: fuzzy soundex levenshtein
split: separate divide partition
spreadsheet: csv excel
src: source
standby: replica replication slave
start: begin launch boot
stats: statistics
stop: cancel abort interrupt terminate kill end quit
str: string
subclass: inherit extend derive
sum: total aggregate
switch: option toggle
sync: synchronize
table: relation
tag: label name
tell: notify inform
template: placeholder
temporary: temp tmp
tests: unittest
text: string
thread: lock gil
timezone: zone time
trace: debug
translate: translation localization gettext
translation: internationalization localization
tree: recursive
trigger: event hook callback
tune: optimize performance configuration
undo: revert rollback reset back
unique: distinct duplicate
unpack: extract decompress unzip
untrusted: malicious hostile attack
unused: obsolete dead
upgrade: migrate update
upload: push send
user: role account
val: value
validate: validation validator
value: element item
var: variable
variable: name binding
version: release
wait: block timeout
watch: monitor observe
web: http html
website: web site url
whitespace: space blank
window: gui dialog frame
wrap: fill
write: output
wrong: invalid incorrect error
year: date interval
"""


def _related() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _RELATED.strip().split("\n"):
        head, _, others = line.partition(":")
        one = stem(head)
        for other in map(stem, others.split()):
            found.setdefault(one, {})[other] = None
            found.setdefault(other, {})[one] = None
    return {one: tuple(others) for one, others in found.items()}


RELATED: Final = _related()  # stems by stem
