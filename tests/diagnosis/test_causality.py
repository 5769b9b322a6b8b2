"""Which of several matching rules is the cause. The logs are in vLLM's shapes, the rules are made for each test."""

from __future__ import annotations

from vllmdoctor.diagnosis import diagnose
from vllmdoctor.logs import RawLine, read_log

from .helpers import catalogue, diagnosis, roles, rule

WRAPPER = rule("wrapper", "Engine core initialization failed", role="consequence")


def test_a_wrapper_is_never_a_cause_even_when_nothing_else_is_known() -> None:
    found = diagnosis(
        """
        (EngineCore pid=7) ERROR 05-22 10:00:01 [core.py:12] EngineCore failed to start.
        (APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
        """,
        WRAPPER,
        rule("failed-to-start", "EngineCore failed to start", role="consequence"),
    )
    assert found.status == "cause-not-in-log"
    assert roles(found)["wrapper"] == "consequence"


def test_the_worker_is_blamed_before_the_api_server_whatever_was_printed_first() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) ERROR 05-22 10:00:00 [serving.py:1] ValueError: shallow trouble
        (Worker_TP1 pid=9) ERROR 05-22 10:00:01 [multiproc_executor.py:1] ValueError: deep trouble
        """,
        rule("shallow", "shallow trouble"),
        rule("deep", "deep trouble"),
    )
    assert roles(found) == {"deep": "root-cause", "shallow": "contributing"}


def test_among_ranks_the_first_to_fail_is_shown() -> None:
    found = diagnosis(
        """
        (Worker_TP1 pid=9) ERROR 05-22 10:00:01 [w.py:1] ValueError: trouble of rank 1
        (Worker_TP0 pid=8) ERROR 05-22 10:00:02 [w.py:1] ValueError: trouble of rank 0
        """,
        rule("deep", r"trouble of rank \d"),
    )
    (finding,) = found.findings
    assert finding.evidence[0].line.number == 1
    assert finding.count == 2


def test_explained_by_makes_a_consequence_of_a_cause() -> None:
    found = diagnosis(
        """
        (Worker_TP0 pid=8) ERROR 05-22 10:00:01 [w.py:1] RuntimeError: NCCL error: unhandled system error
        gpu01:8:9 [0] NCCL WARN Error while creating shared memory segment /dev/shm/nccl-x
        """,
        rule("nccl", "NCCL error: unhandled", explained_by=["shm"]),
        rule("shm", "creating shared memory segment", signature={"scope": "warning"}),
    )
    assert roles(found) == {"shm": "root-cause", "nccl": "consequence"}
    assert next(f for f in found.findings if f.rule.id == "nccl").explained_by == "shm"


def test_two_rules_that_explain_each_other_do_not_both_vanish() -> None:
    found = diagnosis(
        "ValueError: this and that",
        rule("this", "ValueError: this", explained_by=["that"]),
        rule("that", "and that", explained_by=["this"]),
    )
    assert sorted(roles(found).values()) == ["contributing", "root-cause"]


def test_the_first_printed_exception_of_a_chain_is_the_cause() -> None:
    found = diagnosis(
        """
        Traceback (most recent call last):
          File "a.py", line 1, in load
            read()
        OSError: disk trouble

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "b.py", line 2, in main
            load()
        RuntimeError: later trouble
        """,
        rule("later", "later trouble"),
        rule("disk", "disk trouble"),
    )
    assert roles(found) == {"disk": "root-cause", "later": "consequence"}


def test_an_error_that_the_start_outlived_is_only_a_warning() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) ERROR 05-22 10:00:00 [repo_utils.py:1] OSError: cannot reach the hub
        INFO:     Application startup complete.
        """,
        rule("hub", "cannot reach the hub"),
    )
    assert found.status == "healthy"
    assert roles(found) == {"hub": "warning"}


def test_noise_after_ctrl_c_is_no_failure() -> None:
    found = diagnosis(
        """
        INFO:     Application startup complete.
        (APIServer pid=1) INFO 05-22 10:09:00 [launcher.py:254] [shutdown] API server: shutdown triggered
        (APIServer pid=1) ERROR 05-22 10:09:00 [async_llm.py:906] AsyncLLM output_handler failed.
        vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.
        """,
        rule("dead", "EngineDeadError"),
    )
    assert (found.status, found.findings) == ("healthy", ())


def test_a_warning_is_not_blamed_while_an_exception_stands_unexplained() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) WARNING 05-22 10:00:00 [a.py:1] something looks odd here
        Traceback (most recent call last):
          File "/opt/vllm/x.py", line 1, in main
            boom()
        ZeroDivisionError: division by zero
        """,
        rule("odd", "something looks odd", signature={"scope": "any"}),
    )
    assert found.status == "unrecognized-failure"
    assert found.unrecognized is not None
    assert found.unrecognized.record.exception == "ZeroDivisionError"
    assert roles(found) == {"odd": "contributing"}


def test_echoed_settings_and_advice_never_match() -> None:
    found = diagnosis(
        """
        (APIServer pid=1) INFO 05-22 10:00:00 [utils.py:1] non-default args: {'model': 'x', 'note': 'CUDA out of memory'}
        (APIServer pid=1) INFO 05-22 10:00:01 [a.py:1] Try increasing the budget when CUDA out of memory occurs
        INFO:     Application startup complete.
        """,
        rule("oom", "CUDA out of memory"),
    )
    assert (found.status, found.findings) == ("healthy", ())


def test_an_observer_yields_to_an_exception_that_no_rule_knows() -> None:
    found = diagnosis(
        """
        Traceback (most recent call last):
          File "/opt/model/code.py", line 7, in forward
            boom()
        ZeroDivisionError: division by zero
        (EngineCore pid=7) ERROR 05-22 10:00:02 [multiproc_executor.py:284] Worker proc VllmWorker-1 died unexpectedly
        """,
        rule("died", "died unexpectedly", observes=True),
    )
    assert found.status == "unrecognized-failure"
    assert roles(found) == {"died": "contributing"}


def test_the_worst_rank_decides_the_memory_of_a_finding() -> None:
    found = diagnosis(
        """
        (EngineCore_DP0 pid=7) ERROR 05-22 10:00:02 [core.py:1] ValueError: too little (3.50 GiB)
        (EngineCore_DP1 pid=8) ERROR 05-22 10:00:02 [core.py:1] ValueError: too little (2.25 GiB)
        """,
        rule("little", r"too little \((?P<available_kv_gib>[\d.]+) GiB\)"),
    )
    assert found.findings[0].facts["available_kv_gib"].value == 2.25


INSPECTION = """
    ERROR 03-18 14:02:19 registry.py:315] Error in inspecting model architecture 'AcmeForCausalLM'
    ERROR 03-18 14:02:19 registry.py:315] Traceback (most recent call last):
    ERROR 03-18 14:02:19 registry.py:315]   File "/opt/vllm/registry.py", line 554, in _run_in_subprocess
    ERROR 03-18 14:02:19 registry.py:315]     raise RuntimeError(f"Error raised in subprocess:"
    ERROR 03-18 14:02:19 registry.py:315] RuntimeError: Error raised in subprocess:
    {inner}
    ValueError: Model architectures ['AcmeForCausalLM'] failed to be inspected. Please check the logs.
    """


def test_a_last_resort_is_the_answer_only_when_nothing_else_is_unexplained() -> None:
    resort = rule(
        "inspection", "Error in inspecting|Error raised in subprocess:|failed to be inspected", last_resort=True
    )
    assert diagnosis(INSPECTION.format(inner=""), resort).status == "failure"
    inner = """ERROR 03-18 14:02:19 registry.py:315] Traceback (most recent call last):
    ERROR 03-18 14:02:19 registry.py:315]   File "/opt/acme/model.py", line 3, in <module>
    ERROR 03-18 14:02:19 registry.py:315]     import_things()
    ERROR 03-18 14:02:19 registry.py:315] ZeroDivisionError: division by zero"""
    found = diagnosis(INSPECTION.format(inner=inner), resort)
    assert found.status == "unrecognized-failure"
    assert found.unrecognized is not None
    assert found.unrecognized.record.text == "ZeroDivisionError: division by zero"
    assert roles(found) == {"inspection": "contributing"}
    known = diagnosis(INSPECTION.format(inner=inner), resort, rule("zero", "division by zero"))
    assert known.status == "failure"


def test_a_server_that_became_ready_does_not_excuse_another_ones_failure() -> None:
    start = "INFO 05-22 10:00:00 [r.py:1] vLLM API server version 0.11.0\nINFO 05-22 10:00:09 [r.py:1] Starting to load model x...\n"
    failed = start + "ERROR 05-22 10:00:20 [r.py:1] ValueError: known trouble\n"
    ready = start + "INFO 05-22 10:00:30 [r.py:1] x\nINFO:     Application startup complete."
    both = [RawLine(n, i, line) for n, text in enumerate((failed, ready)) for i, line in enumerate(text.split("\n"), 1)]
    log = read_log(both)
    assert len(log.runs) == 1
    assert diagnose(log, catalogue(rule("known", "known trouble"))).status == "failure"
    one = [line._replace(input=0) for line in both]
    assert diagnose(read_log(one), catalogue(rule("known", "known trouble"))).status == "healthy"
