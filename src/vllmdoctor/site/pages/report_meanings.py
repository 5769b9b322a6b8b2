"""What each field of the JSON report means, by object and path (`finding.rule`); messages for the catalogues.

Where the schema has a description of the field, it is the same sentence.
"""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.languages import marked as _

_INDEX, _LINE = _("Index into inputs."), _("Line number, from 1.")
_TITLE, _TEXT = _("The title, in one line of Markdown."), _("The explanation, as Markdown.")
_PER_RULE = _("Name of it within its rule; stable.")

SECTIONS: Mapping[str, str] = {
    "report": _("What `vllmdoctor analyze --format json` prints."),
    "input": _("One file, or standard input."),
    "run": _("One start of vLLM in the inputs."),
    "fact": _("A value with its unit, and where it is from."),
    "finding": _("A rule that matched, with everything that a reader needs to act."),
    "evidence": _("A quoted line of the log."),
    "cause": _("A possible reason, judged by the facts."),
    "fix": _("Something to change, with its cost and its commands."),
    "caution": _("What people try first, and why it does not help."),
    "verification": _("How to see that the fix worked."),
    "receipt": _("What the memory of the GPU went to."),
    "advice": _("What follows from the receipt."),
    "unrecognized": _("The innermost error of a failure that no rule knows."),
    "provenance": _("The place in vLLM's source that prints the message."),
}

MEANINGS: Mapping[str, str] = {
    "report.schema_version": _("Version of this format: 1."),
    "report.tool": _("What made the report."),
    "report.tool.name": _("Always `vllmdoctor`."),
    "report.tool.version": _("Version of the program that made the report."),
    "report.status": _("What the whole came to: one of the [five statuses](../guide/about.md#statuses)."),
    "report.exit_code": _("The exit code that belongs to the status (--exit-zero does not change it)."),
    "report.headline": _("The answer in one sentence: for a failure the title of the root cause."),
    "report.language": _("Language of the texts."),
    "report.inputs": _("The inputs, in the order given."),
    "report.runs": _("Every start of vLLM in the inputs, in order; the findings are those of the last one."),
    "report.facts": _("By canonical name, sorted."),
    "report.findings": _("Root causes first, then contributing findings, consequences, warnings."),
    "report.unrecognized": _("Set when the status is `unrecognized-failure`, else null."),
    "report.notices": _("Remarks on the whole, as sentences."),
    "report.missing": _("What to get so that the cause can be named, as sentences (Markdown)."),
    "input.name": _("The name as given; `-` for standard input."),
    "input.kinds": _("What was recognised in the inputs, such as a kind of prefix or a GPU table."),
    "input.lines": _("Number of lines."),
    "input.complete": _("False for a large input of which only the telling lines were read: counts are at least."),
    "input.notes": _("Remarks of the reader, such as a damaged end of an archive."),
    "run.number": _("Number of the start, from 1."),
    "run.input": _INDEX,
    "run.first_line": _LINE,
    "run.last_line": _LINE,
    "run.status": _("Status of this start alone."),
    "run.rule": _("Id of the root cause, empty when there is none."),
    "run.title": _("Title of the root cause, empty when there is none."),
    "fact.value": _("The value; null when it is not known."),
    "fact.unit": _("`GiB`, `MiB`, `bytes`, `tokens`, `count`, `s`, or empty."),
    "fact.kind": _("read: printed in the log; computed: an estimate from read ones; default: of that vLLM version."),
    "fact.origin": _("Where it was read; null for computed values and defaults."),
    "fact.origin.input": _INDEX,
    "fact.origin.line": _LINE,
    "evidence.input": _INDEX,
    "evidence.line": _LINE,
    "evidence.process": _("As printed (EngineCore, Worker_TP1), empty when the line does not say."),
    "evidence.text": _("The line without prefixes and secrets."),
    "finding.rule": _("Id of the rule; it never changes, and `explain` takes it."),
    "finding.category": _("The rule's category, such as `memory`."),
    "finding.role": _("What it is in this log: the cause, something beside it, or something that follows from it."),
    "finding.severity": _("How bad it is: the end of the server, a slow one, one request, or a remark."),
    "finding.phase": _("Where the start-up stood, such as `loading-weights`."),
    "finding.title": _TITLE,
    "finding.summary": _("What happened, in one or two sentences, with the numbers of the log."),
    "finding.first_check": _("What to look at before changing anything; may be empty."),
    "finding.count": _("How often it matched; evidence holds the first few."),
    "finding.explained_by": _("Rule of the finding that this one follows from."),
    "finding.evidence": _("The lines that the finding rests on."),
    "finding.causes": _("Possible reasons, in the order of the rule."),
    "finding.fixes": _("What to do, the best first."),
    "finding.does_not_help": _("What not to try."),
    "finding.verify": _("How to see that it worked."),
    "finding.references": _("Further reading."),
    "finding.references[].title": _("Name of the page."),
    "finding.references[].url": _("Its address."),
    "finding.notice": _("About the translation, empty when there is nothing to say."),
    "finding.receipt": _("What the GPU's memory went to; null for other findings, and when the log tells too little."),
    "finding.advice": _(
        "What follows from the receipt for the KV cache; null for other findings, and where an allocation failed."
    ),
    "advice.longest_context": _("The longest context that fits; null when it is not known."),
    "advice.longest_context.tokens": _("Its length in tokens."),
    "advice.longest_context.kind": _("Whether vLLM printed it or it is computed."),
    "advice.longest_context.basis": _("From what it was taken, such as `printed estimate`."),
    "advice.gpu_memory_utilization": _(
        "The values that can work are above the first bound and not above the second; null where a bound is not known. "
        "`empty` true: none can."
    ),
    "advice.gpu_memory_utilization.above": _("Only values above it can work."),
    "advice.gpu_memory_utilization.up_to": _("The largest value that can work."),
    "advice.gpu_memory_utilization.empty": _("True when no value can work."),
    "advice.to_free_gib": _("What other programs would have to give back for the start to go through."),
    "receipt.era": _("The engine and the releases whose arithmetic applies; null when the version is not known."),
    "receipt.cuda_graphs_in_budget": _("Whether this version takes an estimate of CUDA graphs off the budget."),
    "receipt.lines": _("The entries; what the log does not tell is null."),
    "receipt.lines[].name": _("What the memory is for."),
    "receipt.lines[].gib": _("How much, in GiB."),
    "receipt.lines[].kind": _("Read, computed, or a default of the version; null when unknown."),
    "receipt.lines[].origin": _("Where it was read; null for computed values and defaults."),
    "cause.id": _PER_RULE,
    "cause.title": _TITLE,
    "cause.text": _TEXT,
    "cause.state": _("What the facts of the log make of it: `confirmed`, `likely`, `possible` or `ruled-out`."),
    "cause.because": _("The facts that decide, or that would."),
    "fix.id": _PER_RULE,
    "fix.rank": _("1 is to be tried first."),
    "fix.title": _TITLE,
    "fix.why": _("Why it helps here."),
    "fix.effect": _("What changes, as a number where there is one."),
    "fix.cost": _("What it costs; never left out."),
    "fix.risk": _("How much can go wrong."),
    "fix.condition": _("Empty when the fix applies for sure, else what it depends on."),
    "fix.arguments": _("Engine arguments to set, by Python name; an empty value removes the argument."),
    "fix.commands": _(
        "The same change in each form; empty where a form does not apply. When the log shows how the server was "
        "started, the whole command with the change; otherwise the changed options alone, to be added to your other "
        "ones."
    ),
    "fix.commands.cli": _("For the shell."),
    "fix.commands.python": _("For `LLM(…)` in Python."),
    "fix.commands.compose": _("For a Docker Compose file."),
    "fix.commands.kubernetes": _("For the container in a Kubernetes manifest."),
    "caution.id": _PER_RULE,
    "caution.title": _TITLE,
    "caution.why": _("Why it does not help."),
    "verification.id": _PER_RULE,
    "verification.text": _TEXT,
    "verification.log": _("A log line to expect; may be empty."),
    "verification.command": _("A command to run; may be empty."),
    "unrecognized.exception": _("Name of the exception."),
    "unrecognized.message": _("Its message."),
    "unrecognized.raised_at": _("file:line in function of the innermost frame, empty when the log does not show it."),
    "unrecognized.last_phase": _("How far the start-up had come."),
    "unrecognized.nearest": _("Rules with a similar message. They are no answer."),
    "unrecognized.evidence": _("The line of the error."),
    "unrecognized.provenance": _(
        "Where vLLM's source prints the message; null when no vLLM was at hand or it has none such."
    ),
    "provenance.file": _("File below `vllm/`."),
    "provenance.function": _("The function."),
    "provenance.template": _("The message as the source has it, with {placeholders} or %s."),
    "provenance.values": _("What the placeholders held, by their expression."),
}
