"""An option's name in, what vLLM does with it out: whose option it is, its defaults, its kind of value.

From vLLM's EngineArgs and the OpenAI server's parser, 0.4 to 0.33.
"""

from __future__ import annotations

ALIASES = {
    "tp": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dpr": "data_parallel_rank",
    "dpn": "data_parallel_rank",
    "dpl": "data_parallel_size_local",
    "dpa": "data_parallel_address",
    "dpp": "data_parallel_rpc_port",
    "dpb": "data_parallel_backend",
    "dcp": "decode_context_parallel_size",
    "q": "quantization",
    "ep": "enable_expert_parallel",
    "n": "nnodes",
    "r": "node_rank",
    "cc": "compilation_config",
    "sc": "speculative_config",
    "ac": "attention_config",
    "asc": "api_server_count",
    "kv_cache_memory": "kv_cache_memory_bytes",
}

# Of these 0.4 to 0.8 print every value, also the default ones.
_DEFAULTS = {
    "gpu_memory_utilization": "0.9",
    "tensor_parallel_size": "1",
    "pipeline_parallel_size": "1",
    "data_parallel_size": "1",
    "dtype": "auto",
    "kv_cache_dtype": "auto",
    "load_format": "auto",
    "config_format": "auto",
    "tokenizer_mode": "auto",
    "model_impl": "auto",
    "task": "auto",
    "device": "auto",
    "seed": "0",
    "swap_space": "4",
    "cpu_offload_gb": "0",
    "max_loras": "1",
    "max_lora_rank": "16",
    "lora_extra_vocab_size": "256",
    "lora_dtype": "auto",
    "max_logprobs": "20",
    "block_size": "16",
    "scheduling_policy": "fcfs",
    "guided_decoding_backend": "xgrammar",
    "generation_config": "auto",
    "worker_cls": "auto",
    "max_num_partial_prefills": "1",
    "max_long_partial_prefills": "1",
    "long_prefill_token_threshold": "0",
    "num_scheduler_steps": "1",
    "scheduler_delay_factor": "0.0",
    "max_seq_len_to_capture": "8192",
    "limit_mm_per_prompt": "",
    "pt_load_map_location": "cpu",
    "port": "8000",
    "uvicorn_log_level": "info",
    "response_role": "assistant",
    "chat_template_content_format": "auto",
    "root_path": "",
    "enable_chunked_prefill": "",
    "max_model_len": "",
    "max_num_seqs": "",
    "max_num_batched_tokens": "",
    "quantization": "",
    "tokenizer": "",
    "revision": "",
    "code_revision": "",
    "tokenizer_revision": "",
    "download_dir": "",
    "distributed_executor_backend": "",
    "served_model_name": "",
    "max_cpu_loras": "",
    "num_gpu_blocks_override": "",
    "rope_scaling": "",
    "rope_theta": "",
    "hf_overrides": "",
    "hf_config_path": "",
    "speculative_config": "",
    "speculative_model": "",
    "num_speculative_tokens": "",
    "speculative_draft_tensor_parallel_size": "",
    "lora_modules": "",
    "mm_processor_kwargs": "",
    "override_generation_config": "",
    "model_loader_extra_config": "",
    "tool_call_parser": "",
    "reasoning_parser": "",
    "chat_template": "",
    "host": "",
    "api_key": "",
    "ssl_keyfile": "",
    "ssl_certfile": "",
    "allowed_local_media_path": "",
    "enable_prefix_caching": "",
    "preemption_mode": "",
}
FLAGS = frozenset(
    "enforce_eager trust_remote_code enable_lora enable_prefix_caching disable_custom_all_reduce "
    "disable_sliding_window enable_auto_tool_choice enable_reasoning enable_sleep_mode enable_expert_parallel "
    "fully_sharded_loras disable_log_stats disable_log_requests use_v2_block_manager skip_tokenizer_init "
    "calculate_kv_scales enable_chunked_prefill disable_cascade_attn disable_chunked_mm_input "
    "enable_prompt_adapter enable_eplb enable_dbo enable_prompt_embeds data_parallel_hybrid_lb "
    "data_parallel_external_lb headless enable_log_requests enable_force_include_usage language_model_only "
    "ray_workers_use_nsight".split()
)
_OTHER_DEFAULTS = {
    "gpu_memory_utilization": ("0.90",),
    "swap_space": ("4.0",),
    "cpu_offload_gb": ("0.0",),
    "guided_decoding_backend": ("outlines", "auto"),
    "generation_config": ("vllm",),
    "enable_chunked_prefill": ("false",),
    "max_logprobs": ("5",),
}

SERVER = frozenset(
    "host port uds api_key allow_credentials allowed_origins allowed_methods allowed_headers uvicorn_log_level "
    "lora_modules prompt_adapters chat_template chat_template_content_format trust_request_chat_template "
    "response_role ssl_keyfile ssl_certfile ssl_ca_certs ssl_cert_reqs ssl_ciphers enable_ssl_refresh root_path "
    "middleware headless api_server_count enable_auto_tool_choice tool_call_parser tool_parser_plugin "
    "tool_server disable_fastapi_docs max_log_len disable_uvicorn_access_log disable_access_log_for_endpoints "
    "log_config_file enable_request_id_headers return_tokens_as_token_ids disable_frontend_multiprocessing "
    "enable_prompt_tokens_details enable_log_requests enable_log_outputs enable_server_load_tracking "
    "enable_force_include_usage enable_tokenizer_info_endpoint enable_reasoning "
    "exclude_tools_when_tool_choice_none default_chat_template_kwargs h11_max_header_count "
    "h11_max_incomplete_event_size disable_log_requests served_model_name reasoning_parser".split()
)
# What vLLM's own command line adds to the arguments, or what every other argument stands for.
INTERNAL = frozenset("subparser dispatch_function config grpc model_weights".split())

# Their values are text, however much they look like a number.
TEXTS = frozenset(
    "model tokenizer served_model_name revision code_revision tokenizer_revision hf_config_path host api_key "
    "download_dir chat_template lora_modules master_addr data_parallel_address".split()
)
JSON_LISTS = frozenset("allowed_origins allowed_methods allowed_headers".split())  # one word; others are several words
REPEATED = frozenset(("middleware",))
SEVERAL_WORDS = frozenset(
    "served_model_name lora_modules prompt_adapters cudagraph_capture_sizes lora_target_modules "
    "allowed_media_domains ignore_patterns device_ids numa_bind_nodes numa_bind_cpus kv_cache_dtype_skip_layers "
    "api_key collect_detailed_traces middleware cpu_offload_params offload_params "
    "sleep_preserve_parameter_names".split()
)

# Of the model that was served; of another one they would be wrong.
OF_THE_MODEL = ("revision", "code_revision", "hf_config_path")

# What differs between the nodes or servers of one deployment.
OF_THE_NODE = frozenset(
    "node_rank data_parallel_rank data_parallel_start_rank data_parallel_size_local headless port host "
    "master_port data_parallel_rpc_port api_server_count".split()
)


def canonical_option(name: str) -> str:
    """`tp`, `tensor-parallel-size` → tensor_parallel_size."""
    name = name.replace("-", "_")
    return ALIASES.get(name, name)


def says_something(name: str, text: str) -> bool:
    """Of a printout of every option: whether the value is a known option's and not its default."""
    if name in FLAGS:
        return text == "true" or text == "false" and name == "enable_prefix_caching"
    if name not in _DEFAULTS:
        return False
    return text not in ("", _DEFAULTS[name], *_OTHER_DEFAULTS.get(name, ()))
