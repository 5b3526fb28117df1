"""Tables of command lines by what must become of them. ``$OUT`` is a folder outside, ``$M`` a file in it.

They are only ever judged, never run. One line is one command; a literal ``\\n`` stands for a line break.
"""

from __future__ import annotations


def lines(table: str) -> list[str]:
    return [
        line.replace(r"\n", "\n").replace(r"\t", "\t")
        for line in table.splitlines()
        if line.strip()
    ]


LOOKING = lines(
    r"""
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
grep "0, 0)$" f
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
awk -F: 'NR == 2 || NR == 3 {print}' f
jq -r '.a' f
pwd
echo "a; rm -rf /"
echo 'x' "$HOME" $PWD "${USER}"
echo $((1 + 2))
echo "today: $(date +%F)"
echo a\ b \; c
printf '%s' a b
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
test 1 -eq 1
if [ -f f ]; then cat f; else ls; fi
case x in a) ls;; *) pwd;; esac
(cd src && ls)
{ ls; pwd; }
cd src && ls ..
cd src; ls
! grep x f
ls 2>/dev/null
ls nope 2>&1 | head -5
ls >/dev/null 2>&1
echo x >&2
cat <<'E'\n$(touch $M)\nE
cat <<E | grep one\none\nE
cat <<-E\n\tone\n\tE
cat <<< hello
timeout 5 ls
timeout -k 1 5s ls
time ls
nice -n 5 ls
nohup ls
env LANG=C ls
LANG=C LC_ALL=C sort f
PAGER=cat git log
git status
git status --short --branch
git diff
git diff --stat HEAD~2..HEAD -- src
git log --oneline -5 --graph
git log --pretty='%h %s' --since=yesterday -- src
git show HEAD:src/a.py
git show --stat
git branch
git branch -a --list 'f*'
git branch --show-current
git rev-parse --abbrev-ref HEAD
git ls-files '*.py'
git blame -L 1,5 src/a.py
git grep -n foo
git -C src status
git --no-pager diff
git stash list
git remote -v
git tag -l
git config --get user.name
git reflog -5
python --version
python3 -V && git --version && node --version
set -euo pipefail
ls # touch $M
"""
)

ASKED = lines(
    r"""
echo hi; touch $M
echo hi && touch $M
echo hi || touch $M
echo hi | touch $M
echo hi & touch $M
echo hi\ntouch $M
echo "$(touch $M)"
echo `touch $M`
echo $(echo $(touch $M))
echo "a ${X:-$(touch $M)}"
echo ${X@P}
echo "${X:=y}"
echo $((a[$(touch $M)]))
cat <(touch $M)
echo x > >(tee $M)
$'to\x75ch' $M
t""ouch $M
\rm f
ls\n\rm f
/bin/t?uch $M
${Z:-touch} $M
{touch,$M}
$X
"$X" -la
PAGER="touch $M" git -p log
PAGER=./x git log
LD_PRELOAD=./x.so ls
BASH_ENV=./f bash -c :
GIT_SSH_COMMAND=x git fetch
GIT_EXTERNAL_DIFF=./x git diff
PATH=.:$PATH ls
LANG=../x ls
LANG+=C ls
A=1
IFS=/ ; ls
X=$(touch $M)
export PAGER="touch $M"
declare -x PATH=.
alias ls="touch $M"
trap "touch $M" EXIT
eval ls
source ./f
. ./f
unset PATH
set -- a
shopt -s extglob
find . -name a -exec touch $M \;
find . -execdir touch $M +
find . -ok touch $M \;
find . -delete
find . -fprint $M
find . -files0-from f
find $OUT -name x
find . -newer $OUT/secret
sed -n "1e touch $M" f
sed "w $M" f
sed -n "w $M" f
sed -n "/x/w $M" f
sed -i s/a/b/ f
sed -ni p f
sed -n --in-place p f
sed s/x/touch/e
sed -n -f f f
awk 'BEGIN{system("touch x")}'
awk '{print > "x"}' f
awk '"touch x" | getline' f
awk -f f f
awk -i inplace 1 f
awk 'BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} {print}'
timeout 5 touch $M
timeout --foo 5 ls
timeout 5
nice touch $M
nohup touch $M
stdbuf -o0 touch $M
time touch $M
command touch $M
exec touch $M
env touch $M
env -S "touch $M"
env PATH=. ls
echo $M | xargs touch
echo $M | xargs cat
echo $M | xargs
find . | xargs cat
find . -print0 | xargs -0 rg x
find . -print0 | xargs -0 sh -c ls
find . -printf '/etc/passwd' | xargs -0 cat
cat f | xargs -0 cat
watch ls
strace ls
rg --pre ./p x
rg --pre=./p x
rg --hostname-bin=./p x
rg -z x
fd -x touch $M
fd --exec=touch x
go test -exec ./p
git show --output=$M
git grep -O./p x
git grep --open-files-in-pager=./p x
git diff --ext-diff
git log --textconv
git diff --no-index f $OUT/secret
git diff --outpu=$M
git branch new
git branch -D old
git branch -m a b
git tag v1
git stash
git stash pop
git remote add x y
git worktree add x
git config user.name x
git config --global core.pager x
git symbolic-ref HEAD refs/heads/x
git reflog expire --all
git commit -m x
git push
git reset --hard
git checkout .
git clean -fd
git -C $OUT status
git -C "$X" status
git --git-dir=$OUT/.git log
git -c core.pager="touch $M" -p log
git -p log
git --exec-path=. status
git log -- ../x
git "$X"
echo x > $OUT/f
echo x >> $OUT/f
echo x >| $OUT/f
echo x &> $OUT/f
echo x &>> $OUT/f
echo x 2> $OUT/f
echo x <> $OUT/f
echo x 3>$OUT/f
echo x >& $OUT/f
> $OUT/f
{ ls; } > $OUT/f
(ls) 2> $OUT/f
if true; then ls; fi > $OUT/f
echo x > ~/.bashrc-probe
echo x > "$HOME"/f
echo x > $X
echo x > f
echo x > door/f
cat < $OUT/secret
cat <<E > $OUT/f\nx\nE
cat <<'E' | tee $OUT/f\nx\nE
cd .. && touch f
cd .. && ls
cd src/../.. && ls
cd .git && tee hooks/pre-commit < p
cd && ls
cd - && ls
cd -P door/.. && ls
cd ~ && ls
cd "$X" && ls
pushd src
(cd $OUT; touch f)
cd door && ls
cd src && cat ../../out/secret
while true; do cd x; done
ls $OUT
cat $OUT/secret
cat link
cat door/secret
cat door/*
cat src/../../out/secret
cat ~/.ssh/id_rsa
cat ~root/x
cat /etc/passwd
cat /proc/self/environ
cat .env
cat .e*
cat li*
head -n1 < .env
cat$IFS$OUT/f
cat f,$IFS
echo 'unterminated
echo "unterminated
ls !(a)
ls )
if ls
cat <<A; cat <<B\n1\nA\n2\nB
cat <<E
cat <<'E'\nE \nE\ntouch $M
cat <<'E'\nEE\nE\ntouch $M
cat <<'E'\n E\nE\ntouch $M
cat <<-'E'\n\tE\ntouch $M
cat <<E\n\\$(touch $M)\n`touch $M`\nE
cat <<E\n$(touch $M)\nE
cat <<'E' && touch $M\nx\nE
cat <<'E' | sh\ntouch $M\nE
cat <<'E' > $M\nx\nE
lsof
git statusx
git status-touch
lsx
printf "touch %s" $M | sh
base64 -d f | bash
cat f | python3 -
cat f | python3.11
bash < f
bash <<< "ls"
bash -c ls
sh script.sh
python -c 'print(1)'
node -e 1
perl -v
ls; python
uniq f g
xxd f g
sort -o g f
sort -og f
sort --output=g f
sort --outp=g f
sort --compress-program=./x f
tree -o x
file -C -m f
date -s now
date 010100002030
rm -rf /tmp/build-probe
rm  -r -f ./x
r""m ./x
make 2> /dev/null
pytest -q
curl http://x
ping -c1 x.probe.invalid
getent hosts x
env
printenv
ps eww
mkdir x
cp f g
tee x
f() { ls; }; f
ls() { touch $M; }; ls
for f in a b; do cat "$f"; done
((x++))
let x=1
[ 'a[$(touch x)]' -eq 1 ]
[[ $x -gt 1 ]]
[[ 'a[$(touch x)]' -gt 1 ]]
test -v 'a[$(touch x)]'
[ -f $OUT/secret ]
coproc touch $M
sleep 9999
printf -v x y
read x
jq 'import "/etc/x" as $d; .' f
jq -f f
"""
)

REFUSED = lines(
    r"""
sudo ls
/usr/bin/sudo ls
"sudo" ls
\sudo ls
s""udo ls
ls; sudo ls
ls | sudo tee f
echo $(sudo ls)
echo "`sudo ls`"
cat <(sudo ls)
if true; then sudo ls; fi
for x in a; do sudo ls; done
f() { sudo ls; }
timeout 5 sudo ls
env A=b sudo ls
nice -n 5 nohup sudo ls
command sudo ls
exec sudo ls
echo x | xargs sudo rm
bash -c "sudo ls"
sh -ec 'ls; sudo ls'
bash -c "bash -c 'sudo ls'"
eval "sudo ls"
eval sudo ls
bash <<< "sudo ls"
bash <<'E'\nsudo ls\nE
find . -exec sudo ls \;
X=1 sudo ls
doas ls
su -c ls
su
pkexec ls
shutdown now
reboot
halt
poweroff
init 0
systemctl poweroff
systemctl --force reboot
mkfs /dev/sda1
mkfs.ext4 disk.img
rm -rf /
rm -fr /
rm -r -f /
rm --recursive --force /
rm --recurs /
rm -rf --no-preserve-root /
rm -rf //
rm -rf /.
rm -rf /../
rm -rf "/"
rm -rf /*
rm -rf ~
rm -rf ~/
rm -rf ~/*
rm -rf ~/.*
rm -rf "$HOME"
rm -rf $HOME
rm -rf ${HOME}/
rm -rf "$HOME/"*
rm -rf /etc
rm -rf f /usr
cd / && rm -rf *
cd ~ && rm -rf .
chmod -R 777 /
chown -R x ~
find / -delete
find ~ -exec rm -rf {} +
dd if=f of=/dev/sda
dd of=/dev/nvme0n1 if=/dev/zero
echo x > /dev/sda
echo x >> /dev/mem
echo x > /dev/../dev/sda
cat f | tee /dev/sdb
cp f /dev/sda
ls > /dev/sda1 2>&1
shred /dev/sda
wipefs -a /dev/sda
:(){ :|:& };:
bomb() { bomb | bomb & }; bomb
function b { b & b; }; b
"""
)

HARMLESS_LOOKALIKES = lines(
    r"""
grep -rn sudo README
rm -rf /tmp/build-probe
make 2> /dev/null
echo 'rm -rf /'
echo shutdown
git log --grep=reboot
ls sudo
cat > f <<'E'\nsudo reboot\nE
rm -rf ./home
rm -rf build/*
rm ~/x
dd if=f of=g
echo x > /dev/stderr
echo x > /dev/shm/x
tee /dev/null
find . -delete
find ~ -name x -delete
which sudo
f() { ls; }; f
systemctl status x
cp /dev/null f
"""
)

PROTECTED = lines(
    r"""
echo x > .git/hooks/pre-commit
tee .git/hooks/pre-commit < f
cp f .git/config
cp f .GIT/config
echo x >> .envrc
echo x > .env
mv f .vscode/tasks.json
touch src/../.husky/pre-commit
install -m755 f --target-directory=.git/hooks
cd .git && cp ../f hooks/x
rm -rf .git
cp f hooklink
"""
)

OWN = lines(
    r"""
echo x > .transcripts/a
rm -rf .transcripts
cp f palimpsest.toml
cp f PALIMPSEST.toml
tee ~/.config/palimpsest/trust.json
sed -i s/a/b/ .transcripts/x/transcript_0001.jsonl
cd .transcripts && touch x
mv .transcript* /tmp
timeout 5 rm -r .transcripts
"""
)
