"""The table of programs that change nothing, with the options for which that holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.permission.options import Options, Split, named
from app.permission.text_programs import awk_only_prints, sed_only_edits_the_stream

Check = Callable[[Split], str]
"""Returns why the arguments are not read-only, "" when they are."""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """How one program is used without changing anything."""

    options: Options
    texts: int = 0
    """How many operands from the left are no paths, such as grep's pattern; -1 for all."""
    most: int | None = None
    """Largest number of operands; None for any."""
    path_values: tuple[str, ...] = ()
    """Options whose value is a path."""
    check: Check | None = None
    any_words: bool = False
    """Whether words that are not literal do no harm (echo)."""
    unchosen: bool = False
    """Whether it stays read-only with operands that come from elsewhere (xargs, patterns)."""
    follows: tuple[str, ...] = ()
    """Options with which it goes through links that it meets below a folder."""


def _pattern_given(split: Split) -> bool:
    return split.has("e", "regexp", "f", "file")


def _sed(split: Split) -> str:
    scripts = [value for name, value in split.options if name in ("e", "expression")]
    if not scripts and split.operands:
        scripts = [split.operands[0].text or ""]
    if not scripts or not all(map(sed_only_edits_the_stream, scripts)):
        return "this sed script may write or run something"
    return ""


def _awk(split: Split) -> str:
    if not split.operands or not awk_only_prints(split.operands[0].text or ""):
        return "this awk program may run programs or write files"
    return ""


_SETS_VARIABLE = re.compile(r"%[^%A-Za-z]*[hlLjtz]*n")
_SHELL_OPTIONS = named("pipefail errexit nounset xtrace")
"""Options of the shell that change neither what runs nor what is kept."""


def _printf(split: Split) -> str:
    if not split.operands:
        return "printf has no format"
    sets = _SETS_VARIABLE.search((split.operands[0].text or "").replace("%%", ""))
    return "this printf sets a variable" if sets else ""


def _date(split: Split) -> str:
    texts = [word.text or "" for word in split.operands]
    return "" if all(text.startswith("+") for text in texts) else "date may set the clock"


def _sleep(split: Split) -> str:
    texts = [word.text or "" for word in split.operands]
    short = all(re.fullmatch(r"[0-9]{1,2}(\.[0-9]+)?", text) for text in texts)
    return "" if texts and short else "it waits for long"


def _set(split: Split) -> str:
    texts = [word.text or "" for word in split.operands]
    if not split.options:
        return "set shows or changes the shell"
    named_ones = {value for name, value in split.options if name == "o"} | set(texts)
    return "" if named_ones <= _SHELL_OPTIONS else "set changes the shell"


def _jq(split: Split) -> str:
    program = split.operands[0].text or "" if split.operands else ""
    reads_more = re.search(
        r"\b(import|include|input_filename|modulemeta|env|\$ENV|\$__prog)\b", program
    )
    return "this jq program reads more than its input" if reads_more or "$ENV" in program else ""


_TEST_OPERATORS = named(
    "-a -b -c -d -e -f -g -h -k -L -n -N -O -G -p -r -s -S -t -u -w -x -z "
    "= == != ! ( ) -o -nt -ot -ef && || ]] ]"
)
_NUMBER_OPERATORS = named("-eq -ne -lt -le -gt -ge")


def test_expression(texts: list[str | None]) -> str:
    """Return why a ``test`` or ``[[`` expression may run code, "" when it cannot.

    ``-v`` and the number comparisons evaluate subscripts, and with them commands.
    """
    for at, text in enumerate(texts):
        if text in _NUMBER_OPERATORS:
            around = [*texts[max(0, at - 1) : at], *texts[at + 1 : at + 2]]
            if not all(word and re.fullmatch(r"-?[0-9]+", word) for word in around):
                return "a comparison of numbers evaluates what it compares"
        elif text and text.startswith("-") and text not in _TEST_OPERATORS:
            return f"the test {text} is not known"
    return ""


_GREP = Options(
    "EFGPivwxcLlosqHhnrRTabUzZyI",
    "eABCm",
    named(
        "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case "
        "invert-match word-regexp line-regexp count color=? colour=? files-without-match "
        "files-with-matches max-count= only-matching quiet silent no-messages byte-offset "
        "with-filename no-filename label= line-number initial-tab null after-context= "
        "before-context= context= text binary-files= exclude= exclude-dir= include= recursive "
        "dereference-recursive line-buffered null-data"
    ),
    number=True,
)
_RG = Options(
    "SsiFwxvclnNoqHIpPUu0abh.",
    "eABCmgtTjMrdE",
    named(
        "regexp= after-context= before-context= context= max-count= glob= iglob= type= type-not= "
        "threads= max-columns= replace= max-depth= encoding= smart-case ignore-case case-sensitive "
        "fixed-strings word-regexp line-regexp invert-match count count-matches files "
        "files-with-matches files-without-match line-number no-line-number only-matching quiet "
        "with-filename no-filename pretty pcre2 multiline multiline-dotall unrestricted null hidden "
        "no-ignore no-ignore-vcs no-heading heading color= colors= column json stats sort= sortr= "
        "trim type-list vimgrep text no-messages no-config no-follow passthru version help"
    ),
)
_LS = Options(
    "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
    "ITw",
    named(
        "all almost-all author escape block-size= ignore-backups color=? directory classify=? "
        "file-type format= full-time group-directories-first no-group human-readable si "
        "dereference hide= hyperlink=? indicator-style= inode ignore= literal numeric-uid-gid "
        "quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= "
        "context zero"
    ),
)
_GREPS = ReadOnly(_GREP, texts=1, unchosen=True, follows=("R", "dereference-recursive"))
_SUM = Options("btz", "", named("binary text zero tag"))
_NONE = Options()


def _paths(
    flags: str = "",
    values: str = "",
    names: str = "",
    *,
    number: bool = False,
    texts: int = 0,
    most: int | None = None,
    check: Check | None = None,
    unchosen: bool = False,
    follows: tuple[str, ...] = (),
) -> ReadOnly:
    options = Options(flags, values, named(names), number=number)
    return ReadOnly(options, texts, most, check=check, unchosen=unchosen, follows=follows)


_WORDS = ReadOnly(Options("neE"), texts=-1, any_words=True)
_HASH = ReadOnly(_SUM, unchosen=True)

TABLE: Mapping[str, ReadOnly] = MappingProxyType(
    {
        "ls": ReadOnly(_LS, unchosen=True, follows=("L", "dereference")),
        "cat": _paths(
            "AbeEnstTuv",
            "",
            "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
            unchosen=True,
        ),
        "head": _paths(
            "qvz",
            "nc",
            "lines= bytes= quiet silent verbose zero-terminated",
            number=True,
            unchosen=True,
        ),
        "tail": _paths(
            "qvz",
            "nc",
            "lines= bytes= quiet silent verbose zero-terminated",
            number=True,
            unchosen=True,
        ),
        "wc": _paths("clLmw", "", "bytes chars lines max-line-length words total=", unchosen=True),
        "nl": _paths("p", "abdfhilnsvw", "", unchosen=True),
        "tac": _paths("br", "s", "", unchosen=True),
        "rev": _paths(unchosen=True),
        "grep": _GREPS,
        "egrep": _GREPS,
        "fgrep": _GREPS,
        "rg": ReadOnly(_RG, texts=1),
        "sed": _paths(
            "nErsuz",
            "e",
            "quiet silent regexp-extended expression= separate unbuffered null-data",
            texts=1,
            check=_sed,
        ),
        "awk": _paths("", "Fv", "", texts=1, check=_awk),
        "gawk": _paths("", "Fv", "", texts=1, check=_awk),
        "mawk": _paths("", "Fv", "", texts=1, check=_awk),
        "jq": _paths(
            "rcnesaSCMj",
            "",
            "raw-output compact-output null-input exit-status slurp ascii-output sort-keys "
            "color-output monochrome-output join-output tab",
            texts=1,
            check=_jq,
        ),
        "pwd": ReadOnly(Options("LP"), most=0),
        "echo": _WORDS,
        "printf": ReadOnly(_NONE, texts=-1, check=_printf),
        "true": ReadOnly(_NONE, texts=-1, any_words=True),
        "false": ReadOnly(_NONE, texts=-1, any_words=True),
        ":": ReadOnly(_NONE, texts=-1),
        "exit": ReadOnly(_NONE, texts=-1, most=1),
        "set": ReadOnly(Options("eux", "o"), texts=-1, check=_set),
        "which": ReadOnly(Options("as", "", named("all")), texts=-1),
        "type": ReadOnly(Options("aptPf"), texts=-1),
        "whereis": ReadOnly(Options("bms"), texts=-1),
        "basename": ReadOnly(Options("az", "s", named("multiple suffix= zero")), texts=-1),
        "dirname": ReadOnly(Options("z", "", named("zero")), texts=-1),
        "realpath": _paths("ePmLsqz", "", "canonicalize-existing relative-to= strip no-symlinks"),
        "readlink": _paths("femnqsvz"),
        "file": _paths(
            "bhiLNrsk0",
            "F",
            "brief mime mime-type mime-encoding dereference",
            unchosen=True,
        ),
        "stat": _paths("Lft", "c", "format= printf= dereference terse file-system", unchosen=True),
        "du": _paths(
            "abchHklLmsSxD0",
            "dBt",
            "all apparent-size bytes total human-readable summarize max-depth= exclude= time "
            "si separate-dirs threshold= block-size= one-file-system",
            unchosen=True,
            follows=("L", "dereference"),
        ),
        "df": _paths("ahHiklPT", "Bt", "human-readable total type= inodes", unchosen=True),
        "sort": _paths(
            "bdfghiMnRrVcCmsuz",
            "kt",
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort "
            "human-numeric-sort numeric-sort random-sort reverse version-sort sort= check=? "
            "key= field-separator= merge stable unique zero-terminated",
        ),
        "uniq": _paths("cdDiuz", "fsw", "count repeated unique ignore-case", most=1),
        "cut": _paths(
            "snz",
            "bcdf",
            "bytes= characters= delimiter= fields= complement only-delimited output-delimiter=",
        ),
        "tr": ReadOnly(Options("cCdst", "", named("complement delete squeeze-repeats")), texts=-1),
        "diff": _paths(
            "qsyuwbBEZiaprNtTd",
            "UCWxIF",
            "brief side-by-side unified=? context=? ignore-all-space ignore-space-change "
            "ignore-blank-lines ignore-case text recursive new-file color=? exclude= width= "
            "suppress-common-lines strip-trailing-cr report-identical-files label= minimal",
            number=True,
            follows=("r", "recursive"),
        ),
        "cmp": _paths("bls", "in", "print-bytes verbose silent quiet bytes="),
        "comm": _paths("123z", "", "check-order nocheck-order output-delimiter= total"),
        "join": _paths("i", "12jtoave"),
        "paste": _paths("sz", "d", "serial delimiters="),
        "column": _paths(
            "tnx", "scNo", "table separator= columns= table-columns= output-separator="
        ),
        "fold": _paths("bs", "w", "bytes spaces width="),
        "expand": _paths("i", "t"),
        "unexpand": _paths("a", "t"),
        "seq": ReadOnly(Options("w", "sf", number=True), texts=-1),
        "tree": _paths(
            "adfilCDFghnNpqrstuxAS",
            "LPI",
            "dirsfirst filelimit= noreport prune gitignore charset= du inodes metafirst",
            follows=("l",),
        ),
        "date": ReadOnly(
            Options("uR", "dI", named("utc universal date= iso-8601=? rfc-3339= rfc-email")),
            texts=-1,
            check=_date,
        ),
        "sleep": ReadOnly(_NONE, texts=-1, check=_sleep),
        "whoami": ReadOnly(_NONE, most=0),
        "id": ReadOnly(Options("ugnGr"), texts=-1),
        "uname": ReadOnly(Options("asnrvmpio", "", named("all")), most=0),
        "arch": ReadOnly(_NONE, most=0),
        "nproc": ReadOnly(Options("", "", named("all")), most=0),
        "hostname": ReadOnly(Options("fsid"), most=0),
        "uptime": ReadOnly(Options("ps"), most=0),
        "free": ReadOnly(Options("hmgkbt", "", named("human mega giga")), most=0),
        "locale": ReadOnly(Options("a"), most=0),
        "tty": ReadOnly(_NONE, most=0),
        "md5sum": _HASH,
        "sha1sum": _HASH,
        "sha256sum": _HASH,
        "sha512sum": _HASH,
        "b2sum": _HASH,
        "cksum": ReadOnly(Options("", "a", named("algorithm=")), unchosen=True),
        "shasum": ReadOnly(Options("b", "a"), unchosen=True),
        "od": _paths("bcdofhixsv", "ANjtw", "address-radix= skip-bytes= read-bytes= format="),
        "xxd": _paths("abpu", "lcgs", most=1),
        "hexdump": _paths("bcCdovx", "ns"),
        "strings": _paths("a", "nt", "all bytes= radix=", number=True),
        "fd": ReadOnly(
            Options(
                "HIasigFp0u",
                "tedEc",
                named(
                    "hidden no-ignore case-sensitive ignore-case glob fixed-strings absolute-path "
                    "full-path type= extension= max-depth= min-depth= exclude= color= print0"
                ),
            ),
            texts=1,
        ),
    }
)


def pattern_is_option(split: Split) -> bool:
    """Whether grep's or rg's pattern was given as an option, so that all operands are paths."""
    return _pattern_given(split) or split.has("files", "type-list")
