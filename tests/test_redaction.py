"""Secrets and names go, everything else stays, and doing it twice changes nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmdoctor.redaction import MARK, redacted

KEY = "qX7" * 12

SECRETS = {
    "hugging face": ("token is hf_" + KEY, "hf_"),
    "openai": ("key sk-proj-" + KEY, "sk-"),
    "anthropic": ("key sk-ant-api03-" + KEY, "sk-ant"),
    "aws id": ("AKIA" + "ABCDEFGH23456789", "AKIA"),
    "aws secret": ("export AWS_SECRET_ACCESS_KEY=wJalrXUtn/FEMI+K7", "wJalr"),
    "github": ("ghp_" + KEY, "ghp_"),
    "github fine": ("github_pat_" + KEY, "github_pat"),
    "gitlab": ("glpat-" + KEY, "glpat"),
    "slack": ("xoxb-" + "12345678-abcdefgh", "xoxb"),
    "google": ("AIza" + KEY, "AIza"),
    "bearer header": ("Authorization: Bearer abc.def", "abc.def"),
    "basic header in curl": ("curl -H 'Authorization: Basic Zm9vOmJhcg' http://x", "Zm9v"),
    "bearer alone": ("sent Bearer abcdef123456", "abcdef"),
    "raw header": ("(b'x-api-key', b'abcdefgh')", "abcdefgh"),
    "env": ("HUGGING_FACE_HUB_TOKEN=verysecret vllm serve m", "verysecret"),
    "flag": ("vllm serve m --api-key verysecret --port 1", "verysecret"),
    "flag equals": ("vllm serve m --api-key=verysecret", "verysecret"),
    "argv": ("['serve', '--api-key', 'verysecret']", "verysecret"),
    "dict repr list": ("non-default args: {'api_key': ['verysecret', 'other1'], 'port': 1}", "other1"),
    "json": ('{"password": "very\\"secret", "a": 1}', 'secret"'),
    "escaped json": (r"{\"api_key\": \"verysecret\"}", "verysecret"),
    "namespace": ("Namespace(host=None, api_key='verysecret', port=1)", "verysecret"),
    "yaml": ("  api-key: verysecret", "verysecret"),
    "kubernetes env": ("- name: HF_TOKEN\n  value: verysecret", "verysecret"),
    "camel case": ('"clientSecret": "verysecret"', "verysecret"),
    "url": ("postgres://bob:verysecret@db/x", "verysecret"),
    "signed url": ("https://cdn.example/x?X-Amz-Signature=abcdef01&y=1", "abcdef01"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY.SflKxwRJSM", "eyJ"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    "e-mail": ("by alice@example.org", "alice"),
    "home": ("/home/alice/models/x", "alice"),
    "mac home": ("/Users/alice/x", "alice"),
    "windows home": (r"C:\Users\Alice Doe\x", "Alice"),
    "prompt": ("Received request cmpl-1: prompt: 'my it\\'s private', params: SamplingParams(n=1)", "private"),
    "prompt with the other quotes": ('prompt: "it\'s private", params', "private"),
    "prompt ids": ("prompt_token_ids: [101, 2023], lora_request: None", "2023"),
    "messages": ('{"messages": [{"role": "user", "content": "a ] private"}], "model": "m"}', "private"),
    "content": ("{'role': 'user', 'content': 'private words'}", "private"),
    "cut list": ("'api_key': ['verysec", "verysec"),
}  # fmt: skip

HARMLESS = [
    "GPU KV cache size: 20,480 tokens, max_tokens=16, tokenizer='Qwen/Qwen3-0.6B', eos_token='</s>', EOS_TOKEN=</s>",
    "latency per token: 12.5 ms; unexpected token: identifier; token=None, hf_token=None, 'api_key': None",
    "use --api-key to set one; Bearer authentication is required",
    "limit_mm_per_prompt={'image': 2}, 'chat_template': None, tokenizer_mode=auto, prompt: None, 'messages': []",
    "model=meta-llama/Llama-3.1-8B-Instruct revision=9f8c2d1e5a7b4c3d2e1f0a9b8c7d6e5f4a3b2c1d",
    'File "/usr/lib/python3.11/site-packages/vllm/v1/engine/core.py", line 708, in run_engine_core',
    "ValueError: To serve at least one request with the model's max seq len (32768), 4.00 GiB KV cache is needed",
    "image vllm/vllm-openai@sha256:0123abcd, tensor_parallel_size=2, key-value store, hf_overrides={}",
    "export HF_TOKEN=$TOKEN; api_key: <your key>; num_scheduled_tokens: 512; cache_config.block_size=16",
]


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_go(name: str) -> None:
    text, part = SECRETS[name]
    result = redacted(text)
    assert part not in result
    assert redacted(result) == result


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert redacted(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    assert redacted("a {'api_key': ['k1'], 'port': 8000} b") == f"a {{'api_key': ['{MARK}'], 'port': 8000}} b"
    assert redacted("https://u:p@host/x /home/alice/m.bin") == f"https://{MARK}@host/x /home/user/m.bin"


PIECES = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in SECRETS.values()]),
        st.sampled_from(HARMLESS),
        st.sampled_from(["'", '"', "\\", "[", "]", "{", "}", ": ", "=", ", ", " ", "\n", MARK, "token", "prompt", "b"]),
        st.text(max_size=6),
    ),
    max_size=8,
)


@given(PIECES)
def test_twice_is_once(pieces: list[str]) -> None:
    once = redacted("".join(pieces))
    assert redacted(once) == once


@given(st.lists(st.sampled_from(HARMLESS), max_size=4), st.sampled_from(sorted(SECRETS)))
def test_secret_goes_wherever_it_stands(around: list[str], name: str) -> None:
    text, _ = SECRETS[name]
    assert redacted("\n".join([*around, text])) == "\n".join([*around, redacted(text)])


@pytest.mark.parametrize("unit", ["a_", "a", "'", "[", "api_key='", "a@", "/home/", "x=[", "\\'", "token: "])
def test_time_is_linear_in_hostile_text(unit: str) -> None:
    started = time.process_time()
    redacted(unit * (60_000 // len(unit)))
    assert time.process_time() - started < 2
