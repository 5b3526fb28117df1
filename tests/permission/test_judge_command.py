"""Command lines by class: what runs at once, what is asked, what is refused."""

from __future__ import annotations

import pytest

from app.core.permission import Mode, Verdict
from tests.permission.conftest import Bench, rule

LOOKING = """
ls
ls -la src
ls src/*.py
ls -lah --color=never
cat f src/a.py
cat < f
head -n 5 f
head -5 f
tail -20 f
wc -l f
grep -rn sudo README
grep -n "foo$" f
grep -E 'a|b' -A3 src
grep -e one f
rg -n --glob '*.py' foo src
find . -name '*.py' -not -path './x/*' | head -20
find src -type f -maxdepth 2 | sort | uniq -c
find . -name '*.py' -print0 | xargs -0 grep -n foo
git ls-files -z | xargs -0 wc -l
sed -n 1,5p f
sed -n '/one/,$p' f
sed -n -e 1p -e '$p' f
awk '{print $1}' f
awk -F: 'NR > 1 || NR == 2 {print}' f
jq -r '.a' f
pwd
echo "a; rm -rf /"
echo 'x' "$HOME" $PWD "${USER}"
echo $((1 + 2))
echo "today: $(date +%F)"
printf '%s\\n' a b
which python3
command -v git
file f
stat f
du -sh src
df -h
sort -u f
cut -d: -f1 f
tr a-z A-Z < f
diff -u f src/a.py
diff <(ls) <(ls src)
tree -L 2
date -u
sleep 1
basename /a/b
true && false || echo no
[ -f f ] && cat f
[[ -d src && ! -e x ]] || echo none
test -n x
if [ -f f ]; then cat f; else ls; fi
(cd src && ls)
{ ls; pwd; }
cd src && ls ..
! grep x f
ls 2>/dev/null
ls nope 2>&1 | head -5
ls >/dev/null 2>&1
echo x >&2
cat <<'E'
$(touch $M)
