import json

from .samples import exceptions, read


def test_vllm_json_record_with_traceback_is_one_message_and_one_exception() -> None:
    message = (
        'EngineCore failed to start.\nTraceback (most recent call last):\n  File "core.py", line 1, in f\nValueError: x'
    )
    fields = {"asctime": "05-22", "levelname": "ERROR", "name": "vllm", "processName": "EngineCore_DP0", "process": 7}
    log = read("plain text\n" + json.dumps({**fields, "message": message}))
    (found,) = exceptions("plain text\n" + json.dumps({**fields, "message": message}))
    assert found.text == "ValueError: x"
    assert found.process.name == "EngineCore" and found.process.pid == 7
    assert found.level == "ERROR" and found.time == "05-22"
    assert [line.number for line in log.lines] == [1, 2, 2, 2, 2]


def test_two_json_records_without_time_are_two_exceptions() -> None:
    line = json.dumps({"message": "ValueError: x", "vllm_process_name": "EngineCore"})
    assert len(exceptions(f"{line}\n{line}")) == 2


def test_a_shippers_severity_is_not_the_level() -> None:
    assert read('{"severity":"ERROR","message":"INFO:     Started server process [1]"}').lines[0].level == "INFO"
    assert read('{"severity":"ERROR","message":"hello"}').lines[0].level is None


def test_wrappers_nest_once() -> None:
    inner = json.dumps({"message": "Starting", "levelname": "INFO", "processName": "APIServer", "process": 1})
    line = read(json.dumps({"log": inner + "\n", "stream": "stdout"})).lines[0]
    assert (line.text, line.level, line.process.name) == ("Starting", "INFO", "APIServer")


def test_client_errors_read_as_their_message() -> None:
    for text in (
        r'{"error":{"message":"\"auto\" tool choice requires x","type":"BadRequestError","param":null,"code":400}}',
        r'{"object":"error","message":"\"auto\" tool choice requires x","type":"BadRequestError","code":400}',
        r'data: {"error":{"message":"\"auto\" tool choice requires x","type":"BadRequestError","code":400}}',
    ):
        log = read(text)
        assert log.lines[0].text == '"auto" tool choice requires x (type BadRequestError, code 400)'
        assert log.lines[0].section == "client"
        assert log.kinds == {"client-error"}
    assert read('{"detail": "Not Found"}').lines[0].text == "Not Found"


def test_error_object_inside_another_message_is_unescaped() -> None:
    text = (
        r'Exception in thread "main" x.InvalidRequestException: {"object":"error","message":"\"auto\" tool","code":400}'
    )
    assert '"auto" tool (code 400)' in read(text).lines[0].text


def test_broken_json_stays_text() -> None:
    assert read('{"message": "cut of').lines[0].text == '{"message": "cut of'


def test_an_error_object_over_several_lines_reads_as_its_message() -> None:
    body = {"object": "error", "message": "top_p must be in (0, 1]", "type": "BadRequestError", "code": 400}
    log = read("$ curl -s http://localhost:8000/v1/completions | jq\n" + json.dumps(body, indent=2) + "\ndone")
    assert [line.text for line in log.lines[1:]] == ["top_p must be in (0, 1] (type BadRequestError, code 400)", "done"]
    assert [line.number for line in log.lines] == [1, 2, 8]
    assert log.lines[1].section == "client"
    answer = {"id": "cmpl-1", "choices": [{"text": "x"}]}
    assert len(read(json.dumps(answer, indent=2)).lines) == json.dumps(answer, indent=2).count("\n") + 1
    assert len(read('{\n  "error": {\n    "message": "cut').lines) == 3


def test_an_error_that_is_one_word_and_a_shell_mark() -> None:
    assert read('{"error":"Unauthorized"}').lines[0].text == "Unauthorized"
    assert read('{"detail":"Not Found"}%').lines[0].text == "Not Found"


def test_a_router_hands_on_the_servers_own_error() -> None:
    own = json.dumps({"error": {"message": "maximum context length is 4096 tokens", "code": 400}})
    routed = {"message": "400 Provider returned error", "code": 400, "details": {"metadata": {"raw": own}}}
    line = read(json.dumps(routed)).lines[0]
    assert (line.text, line.section) == ("maximum context length is 4096 tokens (code 400)", "client")


def test_a_shippers_message_is_no_routers_error() -> None:
    inner = {"level": "ERROR", "message": "engine died", "details": {"error": {"message": "x"}}}
    assert read(json.dumps({"log": json.dumps(inner)})).lines[0].text == "engine died"
