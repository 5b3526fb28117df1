"""Made-up keys and tokens in the forms of real ones, put together at run time so that no file holds one whole."""

from __future__ import annotations

import base64
import json
import random
import string

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def sample(alphabet: str, size: int, seed: int = 0) -> str:
    """Random characters, the same for the same arguments; at least one letter and one digit."""
    chance = random.Random(f"{alphabet}{size}{seed}")
    text = "".join(chance.choice(alphabet) for _ in range(size))
    return (
        text
        if any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
        else sample(alphabet, size, seed + 1)
    )


def alnum(size: int, seed: int = 0) -> str:
    return sample(_ALNUM, size, seed)


def hexes(size: int, seed: int = 0) -> str:
    return sample(_HEX, size, seed)


def _url64(value: object) -> str:
    data = json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def web_token(seed: int = 0) -> str:
    head = _url64({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{_url64({'sub': f'user{seed}', 'iat': 1_516_239_022})}.{alnum(43, seed)}"


def pem(kind: str = "RSA ", lines: int = 12, seed: int = 0) -> str:
    body = "\n".join(sample(_ALNUM + "+/", 64, seed + at) for at in range(lines))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


UPPER = string.ascii_uppercase + "234567"

# Name, the text as a tool would print it, and the part that must be gone.
SAMPLES: dict[str, tuple[str, str]] = {}


def _add(name: str, secret: str, around: str = "{}") -> None:
    SAMPLES[name] = (around.format(secret), secret)


_add("aws key id", "AK" + "IA" + sample(UPPER, 16), "aws_access_key_id = {}")
_add("aws temporary key id", "AS" + "IA" + sample(UPPER, 16), 'AccessKeyId: "{}"')
_add("aws secret key", sample(_ALNUM + "/+", 40), "aws_secret_access_key = {}")
_add("aws secret key in json", sample(_ALNUM + "/+", 40, 1), '{{"SecretAccessKey": "{}"}}')
_add("github personal", "gh" + "p_" + alnum(36))
_add("github oauth", "gh" + "o_" + alnum(36), "token: {}")
_add("github server", "gh" + "s_" + alnum(36), "https://x-access-token:{}@github.com/a/b.git")
_add("github fine grained", "github" + "_pat_" + alnum(22) + "_" + alnum(59))
_add("gitlab personal", "gl" + "pat-" + alnum(20), "PRIVATE-TOKEN: {}")
_add("gitlab runner", "gl" + "rt-" + alnum(20), "'{}'")
_add("slack bot", "xo" + "xb-" + "123456789012-1234567890123-" + alnum(24))
_add("slack user", "xo" + "xp-" + "123456789012-123456789012-123456789012-" + hexes(32))
_add("slack app", "xa" + "pp-1-A012345-1234567890-" + hexes(64))
_add(
    "slack webhook", "hooks.slack.com/serv" + "ices/T0123ABCD/B0123ABCD/" + alnum(24), "https://{}"
)
_add("stripe live", "sk" + "_live_" + alnum(24), "stripe.api_key = '{}'")
_add("stripe restricted", "rk" + "_test_" + alnum(99))
_add("stripe webhook", "wh" + "sec_" + alnum(32))
_add("google api", "AI" + "za" + alnum(35), '"apiKey": "{}"')
_add("google oauth secret", "GOC" + "SPX-" + alnum(28))
_add("google access token", "ya" + "29." + alnum(120), "Authorization: Bearer {}")
_add("openai project", "sk-" + "proj-" + alnum(60) + "_" + alnum(40), "OPENAI_API_KEY={}")
_add("openai old", "sk-" + alnum(48), "key={}")
_add("anthropic", "sk-" + "ant-api03-" + alnum(90) + "-" + alnum(4), "export K={}")
_add("openrouter", "sk-" + "or-v1-" + hexes(64))
_add("groq", "gs" + "k_" + alnum(52))
_add("hugging face", "h" + "f_" + sample(string.ascii_letters + "1", 34))
_add("npm", "np" + "m_" + alnum(36), "//registry.example/:_authToken={}")
_add("pypi", "pypi-" + "AgEIcHlwaS5vcmc" + alnum(120), "password = {}")
_add("docker", "dckr" + "_pat_" + alnum(27))
_add("sendgrid", "S" + "G." + alnum(22) + "." + alnum(43))
_add("twilio", "S" + "K" + hexes(32))
_add("telegram", "123456789:A" + "A" + alnum(33))
_add("digitalocean", "do" + "p_v1_" + hexes(64))
_add("databricks", "da" + "pi" + hexes(32))
_add("vault", "hv" + "s." + alnum(90))
_add("shopify", "shp" + "at_" + hexes(32))
_add("mailchimp", hexes(32) + "-us" + "12")
_add("age", "AGE-SECRET-" + "KEY-1" + sample("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))
_add("azure storage", sample(_ALNUM + "+/", 86) + "==", "AccountName=a;AccountKey={};Suffix=b")
_add("web token", web_token())
_add("web token in a cookie", web_token(2), "Set-Cookie: session={}; Path=/")
_add("pem rsa", pem().split("\n")[3], pem())
_add("pem openssh", pem("OPENSSH ", 6, 50).split("\n")[2], pem("OPENSSH ", 6, 50))
_add(
    "pem plain in json",
    pem("", 3, 90).split("\n")[2],
    json.dumps(pem("", 3, 90)).replace("{", "{{"),
)
_add("pem cut off", pem("EC ", 4, 20).split("\n")[2], pem("EC ", 4, 20).rsplit("\n", 1)[0])
_add("password in an address", "pa55w.rd-" + alnum(6), "postgres://app:{}@db.example:5432/app")
_add("redis address", alnum(18), "REDIS_URL=redis://:{}@cache:6379/0")
_add("env password", "hunter22", "DB_PASSWORD={}")
_add("env secret", alnum(32), 'export SESSION_SECRET="{}"')
_add("yaml api key", hexes(40), "  api_key: {}")
_add("code token", alnum(24), 'access_token = "{}"')
_add("camel case", alnum(32), 'clientSecret: "{}",')
_add("bearer header", alnum(40), "curl -H 'Authorization: Bearer {}' https://x.example")
_add(
    "basic header",
    base64.b64encode(b"user:" + alnum(20).encode()).decode(),
    "authorization: basic {}",
)

PLAIN: tuple[str, ...] = (
    hexes(40),
    f"commit {hexes(40, 3)}",
    f"sha256:{hexes(64)}",
    "123e4567-e89b-12d3-a456-426614174000",
    f'"integrity": "sha512-{sample(_ALNUM + "+/", 86)}=="',
    f"data:image/png;base64,{sample(_ALNUM + '+/', 400)}",
    "token = get_token(request)",
    'api_key = os.environ["API_KEY"]',
    "password: str = field(default='')",
    "PASSWORD=${DB_PASSWORD}",
    "API_KEY=<your key here>",
    "API_KEY=your-api-key-goes-here",
    "secret_key = settings.secret_key",
    "token_count = 12345678901234",
    "max_tokens=8000, cache_key='user:list:v2'",
    "primary_key=True",
    "public_key = 'ssh-ed25519'",
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    end = text.index("-----END RSA PRIVATE KEY-----")',
    "https://example.com:8080/path@2x.png",
    "git@github.com:owner/repo.git",
    "tokenizer = AutoTokenizer.from_pretrained('gpt2-medium-v2')",
    "def password(self) -> SecretStr: ...",
    'raise ValueError("token: must be a string of 12 characters")',
    "monkey=business-as-usual-2024",
    "keyboard: Ctrl+Shift+P1234567",
    "sk-learn==1.5.2",
    "toolu_01A09q90qw90lq917835lq9",
    "msg_013Zva2CMHLNnjNjJKqJ2EF",
    "npm_config_registry=https://registry.example",
    "AKIA",
)
"""What looks like a secret from afar, and is none."""
