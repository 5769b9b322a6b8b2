"""How a log tells the command that started vLLM."""

from __future__ import annotations

import pytest

from vllmdoctor.facts.command import CLI, COMPOSE, CUT, KUBERNETES, PYTHON, UserCommand, user_command
from vllmdoctor.logs import RawLine, read_log

HEADER = "(APIServer pid=41) INFO 11-29 02:51:08 [api_utils.py:286] "
OFFLINE = "INFO 11-29 02:51:08 [utils.py:328] "


def told(text: str) -> UserCommand | None:
    log = read_log(RawLine(0, number, line) for number, line in enumerate(text.split("\n"), 1))
    return user_command(log.runs[-1].records)


def command(text: str) -> UserCommand:
    found = told(text)
    assert found is not None
    return found


def test_the_printed_arguments_are_the_command() -> None:
    found = command(
        HEADER + "non-default args: {'model_tag': 'org/m', 'port': 8001, 'model': 'org/m', 'enforce_eager': True, "
        "'enable_prefix_caching': False, 'gpu_memory_utilization': 0.95, 'served_model_name': ['a', 'b c'], "
        "'hf_overrides': {'rope_theta': 1e6, 'x': None}, 'tool_call_parser': 'hermes'}"
    )
    assert (found.form, found.model, found.program) == (CLI, "org/m", ("vllm", "serve"))
    assert found.arguments == {
        "port": "8001",
        "enforce_eager": "true",
        "enable_prefix_caching": "false",
        "gpu_memory_utilization": "0.95",
        "served_model_name": '["a", "b c"]',
        "hf_overrides": '{"rope_theta": 1000000.0, "x": null}',
        "tool_call_parser": "hermes",
    }


def test_objects_are_left_out_by_name_and_adapters_read() -> None:
    found = command(
        HEADER + "non-default args: {'model': 'm', 'compilation_config': CompilationConfig(level=3, sizes=[1, 2]), "
        "'lora_modules': [LoRAModulePath(name='sql', path='/adapters/sql', base_model_name=None)], 'dtype': 'half'}"
    )
    assert found.left_out == ("compilation_config",)
    assert found.arguments == {"lora_modules": '["sql=/adapters/sql"]', "dtype": "half"}


def test_the_value_at_the_end_of_a_cut_line_is_not_used() -> None:
    found = command(HEADER + "non-default args: {'model': 'm', 'dtype': 'half', 'max_model_len': 409")
    assert found.arguments == {"dtype": "half"}
    assert found.left_out == (CUT,)


def test_a_word_broken_by_a_terminal_is_not_used() -> None:
    found = command(HEADER + "non-default args: {'model': 'm', 'chat_template': '/templates/cha\nt.jinja', 'port': 1}")
    assert "chat_template" not in found.arguments
    assert "chat_template" in found.left_out


def test_a_namespace_is_cleared_of_defaults() -> None:
    found = command(
        "INFO 07-02 10:00:00 [api_server.py:1044] args: Namespace(subparser='serve', model_tag='org/m', config='', "
        "host=None, port=8000, allowed_origins=['*'], model='org/m', tokenizer=None, trust_remote_code=True, "
        "dtype='auto', max_model_len=4096, tensor_parallel_size=1, gpu_memory_utilization=0.9, swap_space=4, "
        "enforce_eager=False, enable_prefix_caching=None, compilation_config=None, "
        "dispatch_function=<function serve at 0x7f0>)"
    )
    assert found.model == "org/m"
    assert found.arguments == {"trust_remote_code": "true", "max_model_len": "4096"}
    assert found.left_out == ()


def test_another_program_of_vllm_is_no_server() -> None:
    assert told("INFO 07-02 10:00:00 [api_server.py:1044] args: Namespace(subparser='bench', model='m')") is None
    assert told(HEADER + "Starting to load model org/m...") is None


@pytest.mark.parametrize(
    "line",
    [
        "$ vllm serve org/m --max-model-len 4096 --enforce-eager --served-model-name a b --tp=2",
        "+ vllm serve org/m \\\n    --max-model-len=4096 --enforce-eager \\\n  --served-model-name a b -tp 2 2>&1 | tee log",
        "$ vllm serve --enforce-eager org/m --max_model_len 4096 --served-model-name a b --tensor-parallel-size 2 &",
    ],
)
def test_a_typed_command(line: str) -> None:
    found = command(line)
    assert (found.form, found.model) == (CLI, "org/m")
    assert found.arguments == {
        "max_model_len": "4096",
        "enforce_eager": "true",
        "served_model_name": '["a", "b"]',
        "tensor_parallel_size": "2",
    }


def test_a_shell_that_names_the_command_it_lost() -> None:
    found = command("bash: line 1: 29529 Killed                  vllm serve org/m --dtype half")
    assert (found.program, found.model, found.arguments) == (("vllm", "serve"), "org/m", {"dtype": "half"})


def test_vllms_default_model_is_only_in_the_tag() -> None:
    found = command(HEADER + "non-default args: {'model_tag': 'org/default', 'port': 1}")
    assert (found.model, found.arguments) == ("org/default", {"port": "1"})


def test_what_a_call_hands_on_is_not_known() -> None:
    found = command(
        'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n    LLM("org/m", seed=3, **options)\n'
        '  File "/x/vllm/engine/core.py", line 5, in load\n    raise ValueError("no")\nValueError: no'
    )
    assert (found.model, found.arguments, found.left_out) == ("org/m", {"seed": "3"}, (CUT,))


def test_variables_program_and_docker() -> None:
    found = command("$ CUDA_VISIBLE_DEVICES=1 python3 -m vllm.entrypoints.openai.api_server --model m --port 8001")
    assert found.environment == {"CUDA_VISIBLE_DEVICES": "1"}
    assert found.program == ("python3", "-m", "vllm.entrypoints.openai.api_server")
    found = command(
        "$ docker run --gpus all -p8000:8000 --rm --ipc=host vllm/vllm-openai:v0.9.1 --model m --dtype half"
    )
    assert found.program[-1] == "vllm/vllm-openai:v0.9.1"
    assert (found.model, found.arguments) == ("m", {"dtype": "half"})
    assert told("$ docker run --gpus all ubuntu bash -c 'vllm serve m'") is None


def test_values_of_variables_are_not_known() -> None:
    found = command("$ vllm serve $MODEL --max-model-len $LEN --dtype half")
    assert (found.model, found.arguments) == ("", {"dtype": "half"})
    assert set(found.left_out) == {"--model", "--max-model-len"}


def test_the_echo_tells_what_was_in_force_and_the_command_the_program() -> None:
    found = command(
        "$ A=1 vllm serve $MODEL --max-model-len $LEN\n"
        + HEADER
        + "non-default args: {'model': 'm', 'max_model_len': 5}"
    )
    assert (found.model, found.arguments, found.environment) == ("m", {"max_model_len": "5"}, {"A": "1"})
    assert found.left_out == ()


def test_prose_is_no_command() -> None:
    assert told("vllm serve with tensor and expert parallelism 8") is None
    assert told(HEADER + "Start `vllm serve org/m --enable-x` to enable them.") is None


COMPOSE_FILES = (
    "    command: --model org/m --max-model-len 4096 --enforce-eager",
    '    command: ["--model", "org/m", "--max-model-len", "4096", "--enforce-eager"]',
    "    command:\n      - --model\n      - org/m\n      - --max-model-len=4096\n      - --enforce-eager",
    "    command: >\n      --model org/m\n      --max-model-len 4096\n      --enforce-eager",
    "    command: vllm serve org/m --max-model-len 4096 --enforce-eager",
)


@pytest.mark.parametrize("lines", COMPOSE_FILES)
def test_compose(lines: str) -> None:
    image = (
        "services:\n  vllm:\n    image: vllm/vllm-openai:v0.9.1\n    environment:\n      - VLLM_LOGGING_LEVEL=DEBUG\n"
    )
    found = command(image + lines + "\n    ports:\n      - 8000:8000\n")
    assert (found.form, found.model) == (COMPOSE, "org/m")
    assert found.arguments == {"max_model_len": "4096", "enforce_eager": "true"}
    assert found.environment == {"VLLM_LOGGING_LEVEL": "DEBUG"}


def test_kubernetes() -> None:
    found = command(
        "      containers:\n      - name: vllm\n        image: vllm/vllm-openai:v0.9.1\n"
        '        command: ["vllm", "serve"]\n        args:\n        - org/m\n        - "--max-model-len"\n        - "4096"\n'
        '        env:\n        - name: VLLM_USE_V1\n          value: "1"\n'
    )
    assert (found.form, found.model, found.arguments) == (KUBERNETES, "org/m", {"max_model_len": "4096"})
    assert found.environment == {"VLLM_USE_V1": "1"}


def test_python() -> None:
    found = command(
        OFFLINE + "non-default args: {'disable_log_stats': True, 'model': 'm', 'max_model_len': 4096}\n"
        'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n'
        '    llm = LLM(model="m", max_model_len=n)\n          ^^^^\n'
        '  File "/x/vllm/engine/core.py", line 5, in load\n    raise ValueError("no")\nValueError: no'
    )
    assert (found.form, found.program, found.model) == (PYTHON, ("LLM",), "m")
    assert found.arguments == {"max_model_len": "4096"}


def test_two_servers_in_one_log_are_no_command() -> None:
    one = HEADER + "non-default args: {'model': 'm', 'port': 8000}\n"
    assert command(one + one.replace("8000", "8001")).model == "m"
    assert told(one + one.replace("'m'", "'other'")) is None


SECRET = "Zq81mPx0Lw77Rt5vKd93"


@pytest.mark.parametrize(
    "text",
    [
        f"$ vllm serve m --api-key {SECRET} --hf-token=hf_{SECRET} --dtype half",
        f"$ HF_TOKEN=hf_{SECRET} API_KEY={SECRET} vllm serve m --dtype half",
        f"$ docker run -e HF_TOKEN=hf_{SECRET} --env=MY_API_KEY={SECRET} vllm/vllm-openai --model m --dtype half",
        HEADER + f"non-default args: {{'model': 'm', 'api_key': ['{SECRET}'], 'dtype': 'half'}}",
        HEADER + f"non-default args: {{'model': 'm', 'hf_overrides': {{'token': 'hf_{SECRET}'}}, 'dtype': 'half'}}",
        "services:\n  a:\n    image: vllm/vllm-openai\n    environment:\n"
        f"      HF_TOKEN: hf_{SECRET}\n    command: --model m --api-key {SECRET} --dtype half",
    ],
)
def test_secrets_are_gone(text: str) -> None:
    found = command(text)
    assert found.arguments["dtype"] == "half"
    assert SECRET not in repr(found)
    assert "<your " in repr(found)
