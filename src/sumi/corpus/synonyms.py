"""Words of everyday speech and of manuals that mean the same to those who look something up. Pure.

English, and general: nothing of one program's own words is here.
"""

from typing import Final

from sumi.corpus.words import stem

_GROUPS: Final = """
folder directory
remove delete erase drop
picture image
stop cancel abort interrupt terminate kill
start begin launch
run execute
show display
make create
change modify alter
save store persist
copy clone duplicate
move rename
join merge combine concatenate
split separate
fast quick speed performance
slow performance
error failure
mail email
password credential
repeat retry loop iterate
text string
limit maximum
size length
smaller shrink compact compress reduce
broken corrupt damaged
repair recover restore
undo revert rollback
allow permit grant
check verify validate
find search locate
compare difference
setting option configuration parameter
user role
machine server host
parallel concurrent simultaneous
temporary temp
unique distinct
average mean
row record
column field
old previous earlier
new latest recent
licence license
encrypt ssl tls
backup dump
"""


def _related() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _GROUPS.split("\n"):
        stems = [stem(word) for word in line.split()]
        for each in stems:
            found[each] = (*found.get(each, ()), *(other for other in stems if other != each))
    return found


RELATED: Final = _related()  # stems by stem
