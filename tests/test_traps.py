"""Lines that mislead a reader of vLLM logs, each in a small log, through the shipped rules."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from vllmdoctor.diagnosis import diagnose
from vllmdoctor.diagnosis.model import ROOT_CAUSE, Diagnosis
from vllmdoctor.facts.machine import machine_readings
from vllmdoctor.logs import RawLine, read_log
from vllmdoctor.rules.load import load_catalogue

BANNER = """\
(APIServer pid=1) INFO 05-22 10:00:00 [api_server.py:1896] vLLM API server version 0.11.0
(APIServer pid=1) INFO 05-22 10:00:00 [utils.py:328] non-default args: {'model': 'acme/model-7b', 'tensor_parallel_size': 2}
(EngineCore_DP0 pid=7) INFO 05-22 10:00:09 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: model='acme/model-7b', tensor_parallel_size=2
"""
READY = """\
(APIServer pid=1) INFO:     Started server process [1]
(APIServer pid=1) INFO:     Waiting for application startup.
(APIServer pid=1) INFO:     Application startup complete.
"""
WRAPPER = """\
(APIServer pid=1) Traceback (most recent call last):
(APIServer pid=1)   File "/opt/venv/bin/vllm", line 10, in <module>
(APIServer pid=1)     sys.exit(main())
(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}
"""
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.58 GiB "
    "of which 1.10 GiB is free. {who}Of the allocated memory 20.13 GiB is allocated by PyTorch, and 755.50 KiB is "
    "reserved by PyTorch but unallocated."
)


def diagnosis(text: str, smi: str = "") -> Diagnosis:
    lines = textwrap.dedent(text).strip("\n").split("\n")
    log = read_log(RawLine(0, number, line) for number, line in enumerate(lines, start=1))
    catalogue = load_catalogue()
    return diagnose(log, catalogue, machine_readings("\n".join(lines), 0, catalogue.facts))


def roots(found: Diagnosis) -> list[str]:
    return [finding.rule.id for finding in found.findings if finding.role == ROOT_CAUSE]


def verdict(text: str) -> str:
    """The id of the root cause, else the status."""
    found = diagnosis(text)
    return roots(found)[0] if roots(found) else found.status


def headed(process: str, place: str, text: str, level: str = "ERROR") -> str:
    """Every line of a text under one of vLLM's headers."""
    return "".join(f"({process}) {level} 05-22 10:00:20 [{place}] {line}\n" for line in text.strip("\n").split("\n"))


def traceback_of(exception: str, *frames: str) -> str:
    shown = frames or ("vllm/v1/engine/core.py run_engine_core | engine_core = EngineCoreProc(*args, **kwargs)",)
    lines = ["Traceback (most recent call last):"]
    for number, frame in enumerate(shown, start=1):
        place, _, source = frame.partition(" | ")
        file, function = place.split(" ")
        lines += [
            f'  File "/opt/venv/lib/python3.12/site-packages/{file}", line {number}, in {function}',
            f"    {source}",
        ]
    return "\n".join([*lines, exception])


def failed_start(exception: str, *frames: str, process: str = "EngineCore_DP0 pid=7") -> str:
    """A start of vLLM that ends with an exception in the engine core, its wrapper printed behind it."""
    body = "EngineCore failed to start.\n" + traceback_of(exception, *frames)
    return BANNER + headed(process, "core.py:708", body) + WRAPPER


# Wrappers and the noise of the end


def test_engine_core_initialization_failed_is_read_upward() -> None:
    assert verdict(failed_start("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")) == "no-cache-blocks"  # fmt: skip


def test_a_wrapper_alone_names_no_cause() -> None:
    assert verdict(BANNER + WRAPPER) == "cause-not-in-log"


def test_the_end_of_cann_compilers_names_no_cause() -> None:
    end = "[ERROR] TBE Subprocess[task_distribute] raise error[], main process disappeared!\n"
    assert verdict(BANNER + WRAPPER + end * 3) == "cause-not-in-log"


def test_an_exception_that_quotes_a_line_of_cann_stays_an_exception() -> None:
    quoted = "RuntimeError: call aclnnExample failed, detail: [FUNC:FuncErrorReason] rtGetDevMsg execute failed, reason=[context pointer null]"
    assert verdict(failed_start(quoted)) == "unrecognized-failure"
    exit_line = "[ERROR] 2026-05-22-10:00:12 (PID:7, Device:0, RankID:-1) ERR99999 UNKNOWN application exception"
    assert verdict(failed_start("RuntimeError: call aclnnExample failed\n" + exit_line)) == "unrecognized-failure"


def test_engine_dead_error_is_read_upward() -> None:
    text = (
        BANNER
        + READY
        + headed("EngineCore_DP0 pid=7", "core.py:710", "EngineCore encountered a fatal error.\n" + traceback_of(OOM.format(who=""), "vllm/v1/worker/gpu_model_runner.py execute_model | self.model()"))
        + headed("APIServer pid=1", "async_llm.py:480", traceback_of("vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."))
    )  # fmt: skip
    assert verdict(text) == "cuda-oom-inference"


def test_worker_failed_with_error_quotes_the_cause_printed_above() -> None:
    worker = headed("Worker_TP1 pid=9", "multiproc_executor.py:671", "WorkerProc hit an exception.\n" + traceback_of("RuntimeError: CUDA error: no kernel image is available for execution on the device", "vllm/v1/worker/gpu_worker.py init_device | torch.zeros(1)"))  # fmt: skip
    engine = headed("EngineCore_DP0 pid=7", "core.py:708", "EngineCore failed to start.\n" + traceback_of("RuntimeError: Worker failed with error 'CUDA error: no kernel image is available for execution on the device', please check the stack trace above for the root cause"))  # fmt: skip
    found = diagnosis(BANNER + worker + engine + WRAPPER)
    assert roots(found) == ["no-kernel-image"]
    assert found.findings[0].evidence[0].line.process.label == "Worker_TP1"


def test_mqllmengine_is_already_dead_is_read_downward() -> None:
    text = f"""\
INFO 10-20 11:00:01 api_server.py:528] vLLM API server version 0.6.3
INFO:     Application startup complete.
CRITICAL 10-20 11:09:00 launcher.py:99] MQLLMEngine is already dead, terminating server process
INFO:     192.0.2.14:50522 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error
ERROR 10-20 11:09:00 engine.py:158] {OOM.format(who="")}
ERROR 10-20 11:09:00 engine.py:158] Traceback (most recent call last):
ERROR 10-20 11:09:00 engine.py:158]   File "/opt/vllm/worker/model_runner.py", line 1590, in execute_model
ERROR 10-20 11:09:00 engine.py:158]     hidden_or_intermediate_states = model_executable(
ERROR 10-20 11:09:00 engine.py:158] {OOM.format(who="")}
INFO:     Shutting down
"""
    assert verdict(text) == "cuda-oom-inference"


def test_killed_after_got_fatal_signal_is_vllm_ending_itself() -> None:
    text = BANNER + READY + (
        "CRITICAL 05-22 10:20:00 [multiproc_executor.py:120] Got fatal signal from worker processes, shutting down. "
        "See stack trace above for root cause issue.\nKilled\n"
    )  # fmt: skip
    assert verdict(text) == "cause-not-in-log"


@pytest.mark.parametrize("code", ["-15", "-6"])
def test_exit_codes_of_the_executors_own_signals_are_consequences(code: str) -> None:
    worker = headed("Worker_TP1 pid=9", "multiproc_executor.py:671", "WorkerProc hit an exception.\n" + traceback_of("RuntimeError: CUDA error: an illegal memory access was encountered", "vllm/v1/worker/gpu_model_runner.py execute_model | self.model()"))  # fmt: skip
    died = headed("EngineCore_DP0 pid=7", "multiproc_executor.py:154", f"Worker proc VllmWorker-0 died unexpectedly (exit code: {code}), shutting down executor.")  # fmt: skip
    assert verdict(BANNER + READY + worker + died) == "illegal-memory-access"


def test_enter_buffered_busy_is_no_crash() -> None:
    text = failed_start("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")  # fmt: skip
    tail = "Fatal Python error: _enter_buffered_busy: could not acquire lock for <_io.BufferedWriter name='<stdout>'> at interpreter shutdown, possibly due to daemon threads\nPython runtime state: finalizing (tstate=0x0000000000a6c0d0)\n\nCurrent thread 0x00007f1c5e7fb080 (most recent call first):\n  <no Python frame>\n"  # fmt: skip
    assert verdict(text + tail) == "no-cache-blocks"


def test_resource_leak_warnings_explain_nothing() -> None:
    tail = (
        "[rank0]:[W522 10:00:24.118237112 ProcessGroupNCCL.cpp:1538] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources. (function operator())\n"
        "/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown\n"
        "  warnings.warn('resource_tracker: There appear to be %d '\n"
    )
    assert verdict(BANNER + WRAPPER + tail) == "cause-not-in-log"


def test_the_menu_of_ray_is_no_evidence() -> None:
    text = BANNER + headed("EngineCore_DP0 pid=7", "core.py:708", traceback_of("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task. class_name: RayWorkerWrapper actor_id: 3a1c Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors."))  # fmt: skip
    assert verdict(text + WRAPPER) == "worker-died"


# The cause is an earlier, quieter line


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("libcudart.so.12: cannot open shared object file: No such file or directory", "cuda-library-missing"),
        ("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/vllm/_C.abi3.so)", "glibc-too-old"),
        ("/opt/vllm/_C.abi3.so: undefined symbol: _ZN3c1013MessageLoggerC1EPKciib", "torch-abi-mismatch"),
        ("/opt/vllm/_C.abi3.so: undefined symbol: cuMemCreate_v2", "driver-too-old"),
        ("/opt/vllm/_C.abi3.so: undefined symbol: _Z24silu_and_mul_nvfp4_quantRN2at6TensorES1_S1_S1_", "incomplete-native-build"),
    ],
    ids=["library", "glibc", "abi", "driver", "build"],
)  # fmt: skip
def test_a_missing_op_was_announced_by_a_warning_that_says_why(reason: str, cause: str) -> None:
    text = f"WARNING 05-22 10:00:00 [_custom_ops.py:20] Failed to import from vllm._C with ImportError({reason!r})\n"
    late = failed_start("AttributeError: '_OpNamespace' '_C' object has no attribute 'rms_norm'", "vllm/_custom_ops.py rms_norm | torch.ops._C.rms_norm(out, input, weight, epsilon)")  # fmt: skip
    assert verdict(text + late) == cause


def test_an_extension_that_is_just_not_there_is_a_shadowing_source_tree() -> None:
    text = """WARNING 05-22 10:00:00 [_custom_ops.py:20] Failed to import from vllm._C with ModuleNotFoundError("No module named 'vllm._C'")\n"""
    late = failed_start("AttributeError: '_OpNamespace' '_C' object has no attribute 'silu_and_mul'", "vllm/model_executor/layers/activation.py __init__ | self.op = torch.ops._C.silu_and_mul")  # fmt: skip
    assert verdict(text + late) == "source-tree-shadowing"


def test_architectures_that_failed_to_be_inspected_failed_in_a_child() -> None:
    child = "Error in inspecting model architecture 'LlamaForCausalLM'\n" + traceback_of("subprocess.CalledProcessError: Command '['/opt/venv/bin/python3', '-m', 'vllm.model_executor.models.registry']' returned non-zero exit status 1.")  # fmt: skip
    raised = traceback_of("RuntimeError: Error raised in subprocess: Traceback (most recent call last): File \"/opt/vllm/platforms/cuda.py\", line 42, in device_id_to_physical_device_id ValueError: invalid literal for int() with base 10: 'GPU-8f6d3a1c-1111-2222-3333-444455556666'")  # fmt: skip
    late = traceback_of("ValueError: Model architectures ['LlamaForCausalLM'] failed to be inspected. Please check the logs for more details.")  # fmt: skip
    text = headed("APIServer pid=1", "registry.py:353", child) + headed("APIServer pid=1", "registry.py:353", raised)
    assert verdict(BANNER + text + late) == "mig-or-uuid-visible-devices"


def test_an_unprefixed_line_right_before_the_executors_report_is_the_root() -> None:
    text = BANNER + READY + (
        "Failed: Cuda error /workspace/csrc/custom_all_reduce.cuh:455 'invalid argument'\n"
        "(EngineCore_DP0 pid=7) ERROR 05-22 10:01:00 [multiproc_executor.py:154] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.\n"
    )  # fmt: skip
    assert verdict(text) == "custom-all-reduce-failed"


def test_an_unprefixed_device_assert_is_the_root() -> None:
    text = BANNER + READY + (
        "/pytorch/aten/src/ATen/native/cuda/IndexKernel.cu:94: operator(): block: [0,0,0], thread: [0,0,0] Assertion `-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"` failed.\n"
        + headed("EngineCore_DP0 pid=7", "core.py:710", "EngineCore encountered a fatal error.\n" + traceback_of("RuntimeError: CUDA error: device-side assert triggered", "vllm/v1/worker/gpu_model_runner.py execute_model | self.model()"))
    )  # fmt: skip
    assert verdict(text) == "device-side-assert"


# Ranks


def nccl_failure(*warnings: str, error: str = "unhandled system error (run with NCCL_DEBUG=INFO for details)") -> str:
    worker = headed("Worker_TP1 pid=9", "multiproc_executor.py:596", "WorkerProc failed to start.\n" + traceback_of(f"RuntimeError: NCCL error: {error}", "vllm/distributed/device_communicators/pynccl_wrapper.py NCCL_CHECK | raise RuntimeError(f\"NCCL error: {error_str}\")"))  # fmt: skip
    return BANNER + "".join(f"{line}\n" for line in warnings) + worker + WRAPPER


def test_the_nccl_warning_beats_the_unhandled_error() -> None:
    text = nccl_failure(
        "gpu01:9:44 [1] include/shmutils.h:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Zk3pQ1 to 9637892 bytes, error: No space left on device (28)"
    )
    assert verdict(text) == "shm-too-small"


def test_duplicate_gpu_is_two_ranks_on_one_device() -> None:
    text = nccl_failure(
        "gpu01:9:44 [0] init.cc:943 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 53000",
        error="invalid usage (run with NCCL_DEBUG=WARN for details)",
    )
    assert verdict(text) == "nccl-error"
    assert diagnosis(text).facts["duplicate_device"].value == "53000"


def test_interleaved_ranks_are_told_apart_by_pid() -> None:
    one = traceback_of(OOM.format(who=""), "vllm/v1/worker/gpu_worker.py load_model | self.model_runner.load_model()").split("\n")  # fmt: skip
    two = traceback_of("RuntimeError: Connection closed by peer", "vllm/v1/worker/gpu_worker.py init_device | init()").split("\n")  # fmt: skip
    mixed = "".join(
        f"(Worker_TP{rank} pid={8 + rank}) ERROR 05-22 10:00:20 [multiproc_executor.py:596] {line}\n"
        for lines in zip(one, two, strict=True)
        for rank, line in enumerate(lines)
    )
    assert verdict(BANNER + mixed + WRAPPER) == "cuda-oom-loading-weights"


def test_an_rpc_timeout_with_an_xid_is_hardware() -> None:
    text = BANNER + READY + (
        headed("EngineCore_DP0 pid=7", "core.py:710", "EngineCore encountered a fatal error.\n" + traceback_of("TimeoutError: RPC call to execute_model timed out.", "vllm/v1/executor/multiproc_executor.py collective_rpc | raise TimeoutError(f\"RPC call to {method} timed out.\") from e"))
        + "[Fri May 22 10:19:58 2026] NVRM: Xid (PCI:0000:19:00): 94, pid=9, name=VLLM::Worker_TP, Contained: SM (0x1). RST: No, D-RST: No\n"
    )  # fmt: skip
    assert verdict(text) == "gpu-hardware-fault"


def test_a_log_that_stops_where_nccl_meets_is_a_hang() -> None:
    text = BANNER + "".join(
        f"(Worker_TP{n} pid={8 + n}) INFO 05-22 10:00:18 [pynccl.py:103] vLLM is using nccl==2.27.3\n" for n in range(2)
    )
    assert verdict(text) == "nccl-init-hang"


def shm_message(running: int) -> str:
    return BANNER + READY + (
        f"(APIServer pid=1) INFO 05-22 10:10:00 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%\n"
        "(EngineCore_DP0 pid=7) INFO 05-22 10:11:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).\n"
        "(EngineCore_DP0 pid=7) INFO 05-22 10:12:00 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).\n"
    )  # fmt: skip


def test_a_broadcast_wait_of_an_idle_server_is_benign() -> None:
    assert verdict(shm_message(running=0)) == "healthy"


def test_a_broadcast_wait_with_requests_in_flight_is_a_stall_and_never_shm_too_small() -> None:
    found = diagnosis(shm_message(running=3))
    assert roots(found) == ["shm-broadcast-stall"]
    assert "shm-too-small" not in {finding.rule.id for finding in found.findings}


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("802: system not yet initialized", "fabric-manager-not-running"),
        ("803: system has unsupported display driver / cuda driver combination", "cuda-compat-lib-conflict"),
        ("804: forward compatibility was attempted on non supported HW", "driver-too-old"),
    ],
    ids=["802", "803", "804"],
)
def test_three_codes_share_one_sentence(code: str, cause: str) -> None:
    text = failed_start(f"RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error {code}", "torch/cuda/__init__.py _lazy_init | torch._C._cuda_init()")  # fmt: skip
    assert verdict(text) == cause


# Words that trigger the wrong id


def test_out_of_resource_shared_memory_is_a_kernels_limit() -> None:
    text = failed_start("triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 81920, Hardware limit: 65536. Reducing block sizes or `num_stages` may help.", "vllm/attention/ops/prefix_prefill.py context_attention_fwd | _fwd_kernel[grid](")  # fmt: skip
    assert verdict(text) == "triton-resource-limit"


def test_the_hint_at_device_side_assertions_is_boilerplate() -> None:
    text = failed_start("RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n", "vllm/v1/worker/gpu_worker.py init_device | torch.zeros(1)")  # fmt: skip
    found = diagnosis(text)
    assert roots(found) == ["no-kernel-image"]
    assert "device-side-assert" not in {finding.rule.id for finding in found.findings}


def test_torch_without_cuda_is_right_on_an_npu() -> None:
    exception = "AssertionError: Torch not compiled with CUDA enabled"
    assert verdict(failed_start(exception)) == "no-gpu-detected"
    detected = "INFO 05-22 10:00:00 [__init__.py:44] Platform plugin ascend is activated\n"
    assert verdict(detected + failed_start(exception)) == "unrecognized-failure"


def test_an_npu_out_of_memory_while_serving() -> None:
    exception = "RuntimeError: NPU function error: aclrtMalloc, error code is 207001\nMemory_Allocation_Failure(EL0004): Failed to allocate memory."
    text = BANNER + READY + headed("EngineCore_DP0 pid=7", "core.py:710", "EngineCore encountered a fatal error.\n" + traceback_of(exception, "vllm_ascend/worker/model_runner_v1.py execute_model | self.model()"))  # fmt: skip
    assert verdict(text) == "cuda-oom-inference"


def test_flashinfer_requires_sm75_on_a_new_card_is_an_old_toolkit() -> None:
    text = failed_start("RuntimeError: FlashInfer requires GPUs with sm75 or higher", "flashinfer/jit/core.py check_cuda_arch | raise RuntimeError(\"FlashInfer requires GPUs with sm75 or higher\")")  # fmt: skip
    card = "GPU 0: NVIDIA RTX PRO 6000 Blackwell Workstation Edition (UUID: GPU-1b2c3d4e-0000-1111-2222-333344445555)\n"
    assert verdict(card + text) == "cuda-toolkit-too-old-for-gpu"


@pytest.mark.parametrize("tool", ["nvcc", "ninja"])
def test_a_missing_build_tool_is_no_missing_model_file(tool: str) -> None:
    text = failed_start(f"FileNotFoundError: [Errno 2] No such file or directory: '{tool}'", "flashinfer/jit/cpp_ext.py run_ninja | subprocess.run(", "subprocess.py _execute_child | raise child_exception_type(errno_num, err_msg, err_filename)")  # fmt: skip
    assert verdict(text) == "cuda-toolkit-missing"


def test_preempted_req_ids_is_a_field() -> None:
    text = BANNER + READY + "(EngineCore_DP0 pid=7) DEBUG 05-22 10:02:00 [scheduler.py:99] SchedulerOutput(scheduled_new_reqs=[], preempted_req_ids={'a'}, free_encoder_mm_hashes=[])\n"  # fmt: skip
    found = diagnosis(text)
    assert (found.status, found.findings) == ("healthy", ())


@pytest.mark.parametrize(
    "exception",
    [
        "ValueError: There is no module or parameter named 'mlp_AR' in TransformersForCausalLM",
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n  Value error, `limit_mm_per_prompt` is only supported for multimodal models. [type=value_error, input_value=ArgsKwargs((), {'model': 'acme/vision-3b'}), input_type=ArgsKwargs]",
    ],
    ids=["mlp_AR", "limit_mm_per_prompt"],
)
def test_a_model_on_the_generic_backend_means_vllm_is_too_old(exception: str) -> None:
    quiet = headed("APIServer pid=1", "config.py:500", "AcmeForConditionalGeneration has no vLLM implementation, falling back to Transformers implementation. Some features may not be supported and performance may not be optimal.", level="INFO")  # fmt: skip
    text = BANNER + quiet + headed("EngineCore_DP0 pid=7", "core.py:708", traceback_of(exception, "vllm/model_executor/models/utils.py load_weights | raise ValueError(msg)"))  # fmt: skip
    assert verdict(text + WRAPPER) == "architecture-unsupported"


def test_max_tokens_must_be_at_least_one_with_a_negative_number_is_a_long_prompt() -> None:
    text = """{"object":"error","message":"max_tokens must be at least 1, got -344.","type":"BadRequestError","param":null,"code":400}"""
    assert verdict(text) == "context-length-exceeded"


@pytest.mark.parametrize(
    "exception",
    [
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.\nCheck your internet connection or see how to run the library in offline mode at 'https://huggingface.co/docs/transformers/installation#offline-mode'.",
        "OSError: We couldn't connect to 'https://huggingface.co' to load this file, couldn't find it in the cached files and it looks like /models/acme-7b is not the path to a directory containing a file named config.json.\nCheckout your internet connection or see how to run the library in offline mode.",
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/acme-7b'. Use `repo_type` argument if needed.",
    ],
    ids=["connect", "looks-like", "repo-id"],
)
def test_a_model_given_by_path_was_not_mounted(exception: str) -> None:
    banner = BANNER.replace("'acme/model-7b'", "'/models/acme-7b'")
    assert verdict(banner + traceback_of(exception, "vllm/transformers_utils/config.py get_config | raise e")) == "repo-not-found"  # fmt: skip


@pytest.mark.parametrize(
    "exception",
    [
        "RuntimeError: please set tensor_parallel_size (16) to less than max local gpu count (8)",
        "AssertionError: local_world_size (16) exceeds assigned_physical_gpu_ids count (8)",
        "AssertionError: local_world_size (16) must be less than or equal to the number of visible devices (8).",
    ],
    ids=["max-local", "assigned", "visible"],
)
def test_more_ranks_than_local_gpus_means_the_ray_backend_is_missing(exception: str) -> None:
    found = diagnosis(failed_start(exception, "vllm/v1/worker/gpu_worker.py init_device | assert self.local_rank < n"))
    assert roots(found) == ["parallel-size-exceeds-gpus"]
    fixes = " ".join(fix.fix.id for fix in found.findings[0].fixes)
    assert "ray" in fixes or "nodes" in fixes, fixes


def test_as_of_transformers_v4_44_means_the_checkpoint_has_no_template() -> None:
    text = BANNER + READY + headed("APIServer pid=1", "serving_chat.py:219", "Error in preprocessing prompt inputs\n" + traceback_of("ValueError: As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.", "vllm/entrypoints/chat_utils.py apply_hf_chat_template | raise ValueError("))  # fmt: skip
    assert verdict(text) == "chat-template-missing"


def test_all_special_tokens_extended_means_transformers_is_too_new() -> None:
    text = failed_start("AttributeError: Qwen2Tokenizer has no attribute all_special_tokens_extended. Did you mean: 'num_special_tokens_to_add'?", "vllm/transformers_utils/tokenizer.py get_cached_tokenizer | tokenizer.all_special_tokens_extended)")  # fmt: skip
    assert verdict(text) == "transformers-incompatible"


def test_address_in_use_of_the_http_port() -> None:
    text = BANNER + traceback_of("OSError: [Errno 98] Address already in use", "vllm/entrypoints/openai/api_server.py create_server_socket | sock.bind(addr)")  # fmt: skip
    assert verdict(text) == "port-in-use"


def test_address_in_use_may_be_an_internal_port() -> None:
    text = failed_start("torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use", "torch/distributed/rendezvous.py _create_c10d_store | return TCPStore(")  # fmt: skip
    assert verdict(text) == "distributed-port-in-use"


def test_too_many_open_files_is_the_limit_of_files() -> None:
    text = failed_start("zmq.error.ZMQError: Too many open files", "zmq/sugar/context.py __init__ | super().__init__(", "vllm/v1/engine/core.py __init__ | zmq.Context(io_threads=2)")  # fmt: skip
    assert verdict(text) == "ulimit-too-low"


def test_expecting_value_is_a_json_file_of_the_model() -> None:
    text = BANNER + traceback_of("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "vllm/transformers_utils/config.py get_hf_file_to_dict | return json.load(file)")  # fmt: skip
    assert verdict(text) == "config-missing-or-invalid"


def test_the_biggest_process_of_an_oom_seen_from_the_host_is_the_engine_itself() -> None:
    text = failed_start(OOM.format(who="Process 4821 has 22.40 GiB memory in use. "), "vllm/v1/worker/gpu_worker.py load_model | self.model_runner.load_model()")  # fmt: skip
    found = diagnosis(text)
    assert roots(found) == ["cuda-oom-loading-weights"]
    facts = found.findings[0].facts
    assert facts["this_process_gib"].value == 22.4
    assert "other_processes_gib" not in facts or facts["other_processes_gib"].kind != "read"


@pytest.mark.parametrize("asked", ["float16", "bfloat16"])
def test_gemma3_awq_forbids_what_each_dtype_error_recommends(asked: str) -> None:
    exceptions = {
        "bfloat16": "ValueError: torch.bfloat16 is not supported for quantization method awq. Supported dtypes: [torch.float16]",
        "float16": "ValueError: The model type 'gemma3' does not support float16. Reason: Numerical instability. Please use bfloat16 or float32 instead.",
    }
    expected = {"bfloat16": "quantization-dtype-unsupported", "float16": "model-dtype-unsupported"}
    assert verdict(BANNER + traceback_of(exceptions[asked])) == expected[asked]


# Harmless

HARMLESS: Sequence[str] = (
    "(APIServer pid=1) WARNING 05-22 10:00:02 [prometheus.py:31] Port 9090 is already in use, trying port 9091",
    "(APIServer pid=1) WARNING 05-22 10:00:02 [utils.py:140] Found ulimit of 32768 and failed to automatically increase with error current limit exceeds maximum limit. This can cause fd limit errors like `OSError: [Errno 24] Too many open files`. Consider increasing with ulimit -n",
    "[rank0]:[W522 10:00:12.118237112 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. (function operator())",
    "(Worker_TP0 pid=8) INFO 05-22 10:00:12 [multiproc_executor.py:558] Parent process exited, terminating worker",
    "/opt/venv/lib/python3.12/site-packages/acme/escape.py:12: SyntaxWarning: invalid escape sequence '\\e'",
    "(Worker_TP0 pid=8) WARNING 05-22 10:00:12 [models.py:90] packed_modules_mapping has no entry for gate_up_proj, ignored.",
    "INFO 05-22 10:00:09 cpu.py:39] Cannot use _Backend.FLASH_ATTN backend on CPU.",
    "[ERROR] RUNTIME(71,python3):2026-05-22-10:00:12.004.461 [api_impl.cc:5925]71 GetDevErrMsg:ctx is NULL!",
    "[ERROR] IDEDD(71,python3):2026-05-22-10:00:12.494.860 [adx_dsmi.cpp:54][tid:72] Get physical device number failed, err: 87",
)  # fmt: skip


@pytest.mark.parametrize("line", HARMLESS, ids=lambda line: line.split("] ")[-1][:30])
def test_a_harmless_line_is_no_finding(line: str) -> None:
    found = diagnosis(BANNER + line + "\n" + READY)
    assert (found.status, found.findings) == ("healthy", ())


@pytest.mark.parametrize("line", HARMLESS, ids=lambda line: line.split("] ")[-1][:30])
def test_a_harmless_line_takes_no_blame_from_a_failure(line: str) -> None:
    text = BANNER + line + "\n" + failed_start("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")[len(BANNER) :]  # fmt: skip
    found = diagnosis(text)
    assert roots(found) == ["no-cache-blocks"]
    assert {finding.rule.id for finding in found.findings} <= {"no-cache-blocks", "engine-core-init-failed"}


# Shapes of logs


def test_two_runs_in_one_file_are_judged_by_themselves() -> None:
    first = failed_start("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")  # fmt: skip
    found = diagnosis(first + BANNER + READY)
    assert [(run.status, run.rule) for run in found.runs] == [("failure", "no-cache-blocks"), ("healthy", "")]
    assert found.status == "healthy"


def test_a_raise_without_its_message_is_read_from_its_source_lines() -> None:
    text = BANNER + textwrap.dedent(
        """\
        (EngineCore_DP0 pid=7) Traceback (most recent call last):
        (EngineCore_DP0 pid=7)   File "/opt/venv/lib/python3.13/site-packages/vllm/v1/core/kv_cache_utils.py", line 716, in check_enough_kv_cache_memory
        (EngineCore_DP0 pid=7)     raise ValueError("No available memory for the cache blocks. "
        (EngineCore_DP0 pid=7)                      "Try increasing `gpu_memory_utilization` when "
        (EngineCore_DP0 pid=7)                      "initializing the engine.")
        """
    )
    assert verdict(text) == "no-cache-blocks"


SHAPES = {
    "v0": ("", "{level} 05-22 10:00:20 engine.py:448] {line}"),
    "v1": ("", "{level} 05-22 10:00:20 [core.py:708] {line}"),
    "ray": ("(RayWorkerWrapper pid=412, ip=192.0.2.3) ", "{level} 05-22 10:00:20 [worker_base.py:600] {line}"),
    "ray-actor": ("(WorkerDict pid=412) ", "{level} 05-22 10:00:20 [worker_base.py:600] {line}"),
    "v0-worker": ("(VllmWorkerProcess pid=412) ", "{level} 05-22 10:00:20 multiproc_worker_utils.py:230] {line}"),
    "v1-worker": ("(VllmWorker rank=1 pid=412) ", "{level} 05-22 10:00:20 [multiproc_executor.py:390] {line}"),
    "worker": ("(Worker_TP1_EP1 pid=412) ", "{level} 05-22 10:00:20 [multiproc_executor.py:596] {line}"),
    "doubled": ("(Worker pid=412) (Worker_TP1 pid=412) ", "{level} 05-22 10:00:20 [multiproc_executor.py:596] {line}"),
    "engine-core": ("(EngineCore_0 pid=412) ", "{level} 05-22 10:00:20 [core.py:396] {line}"),
    "dp": ("(EngineCore_DP1 pid=412) ", "{level} 05-22 10:00:20 [core.py:708] {line}"),
    "rank": ("[rank1]: ", "{line}"),
    "srun": ("0: ", "{level} 05-22 10:00:20 [core.py:708] {line}"),
    "compose": ("vllm-1  | ", "(EngineCore_DP0 pid=7) {level} 05-22 10:00:20 [core.py:708] {line}"),
    "rfc3339": ("2026-05-22T10:00:20.123456Z ", "(EngineCore_DP0 pid=7) {level} 05-22 10:00:20 [core.py:708] {line}"),
    "ansi-debris": ("", "^[[0;36m(EngineCore_DP0 pid=7)^[[0;0m {level} 05-22 10:00:20 [core.py:708] {line}^M"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_error_is_read_in_every_shape_of_line(shape: str) -> None:
    prefix, header = SHAPES[shape]
    body = traceback_of(OOM.format(who=""), "vllm/v1/worker/gpu_worker.py load_model | self.model_runner.load_model()")
    text = "".join(prefix + header.format(level="ERROR", line=line) + "\n" for line in body.split("\n"))
    assert verdict(text) == "cuda-oom-loading-weights"


def test_a_notebook_traceback_with_an_arrow() -> None:
    text = """\
---------------------------------------------------------------------------
OutOfMemoryError                          Traceback (most recent call last)
Cell In[2], line 3
      1 from vllm import LLM
----> 3 llm = LLM(model="acme/model-7b")

File /opt/venv/lib/python3.12/site-packages/vllm/worker/worker.py:183, in Worker.load_model(self)
    182 def load_model(self):
--> 183     self.model_runner.load_model()

OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 14.74 GiB of which 122.12 MiB is free.
"""
    assert verdict(text) == "cuda-oom-loading-weights"


def test_an_exception_group_with_its_margin() -> None:
    body = traceback_of("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.")  # fmt: skip
    lines = ["  + Exception Group Traceback (most recent call last):", '  |   File "/opt/a.py", line 1, in main', "  |     await group()", "  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)", "  +-+---------------- 1 ----------------"]  # fmt: skip
    lines += [f"    | {line}" for line in body.split("\n")] + ["    +------------------------------------"]
    assert verdict(BANNER + "\n".join(lines) + "\n") == "no-cache-blocks"


def test_a_message_printed_as_a_python_tuple() -> None:
    line = "ERROR 05-22 10:00:20 [core.py:708] ('No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.',)\n"
    assert verdict(BANNER + line + WRAPPER) == "no-cache-blocks"


def test_a_literal_placeholder_names_no_cause() -> None:
    line = "(Worker_TP0 pid=8) ERROR 05-22 10:00:20 [multiproc_executor.py:671] WorkerProc hit an exception: %s\n"
    assert verdict(BANNER + line + WRAPPER) == "cause-not-in-log"


def test_a_driver_of_610_names_its_version_differently() -> None:
    smi = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 610.21.03              KMD Version: 610.21.03     CUDA UMD Version: 13.2     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   33C    P0             71W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""
    assert diagnosis(smi + BANNER + READY).facts["driver_version"].value == "610.21.03"


def test_kernel_line_without_any_log_is_still_the_cause() -> None:
    text = (
        BANNER
        + READY
        + "[12345.678901] NVRM: Xid (PCI:0000:19:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    )
    assert verdict(text) == "gpu-hardware-fault"
