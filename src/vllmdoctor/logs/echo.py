"""A message in, whether it only echoes configuration, arguments or a request out."""

from __future__ import annotations

import re

from vllmdoctor.logs.model import Line

_STARTS = (
    "args: Namespace(",
    "Namespace(",
    "non-default args:",
    "VllmConfig(",
    "EngineArgs(",
    "AsyncEngineArgs(",
    "vLLM config: ",
)
_ENGINE = re.compile(r"Initializing an? (?:V\d )?LLM engine\b")
_REQUEST = re.compile(r"(?:Received request |Request \S+ details|Added request )")
_COMMAND = re.compile(
    r"(?:\++ |[$#%] |\(?[\w.-]{0,40}\)? ?[\w.-]+@[\w.-]+[:~][^$#]{0,200}[$#] |command: ?"
    r"|>>> )?(?:[A-Z_][A-Z0-9_]*=\S* )*"
    r"(?:exec |sudo |nohup |env |srun |docker |podman |time )?(?:\S*python\S* -m vllm"
    r"|\S*vllm (?:serve|chat|bench|complete)\b|curl |docker run|docker compose|kubectl )"
)
_PROMPT = re.compile(r"(?:\++ [\w./]|\$ \S|>>> \S)|command: ")
_ANSWER = re.compile(r"(?:vllm|curl|docker|kubectl)[\w ]{0,20}: ")
_ENVIRONMENT = re.compile(r"(?:export |declare -x |- )?[A-Z][A-Z0-9_]{2,60}=\S*$")
_SOURCE = re.compile(
    r"(?:raise \w|return \w|if \w.*:$|def \w|class \w|self\.\w+ = |await \w|with \w.*:$"
    r"|for \w.* in .*:$|f?\"[^\"]*\"\)?,?$)"
)


def is_echo(text: str, first: Line) -> bool:
    """Whether the message repeats what the user gave, so that no word of it is an error."""
    head = text[:400]
    if head.startswith(_STARTS) or _ENGINE.match(head) or _REQUEST.match(head):
        return True
    if first.headed:
        return False
    if first.text[:1] in " \t" and _SOURCE.match(head):
        return True
    if _ANSWER.match(head):
        return False
    return _COMMAND.match(head) is not None or _PROMPT.match(head) is not None or _ENVIRONMENT.match(head) is not None
