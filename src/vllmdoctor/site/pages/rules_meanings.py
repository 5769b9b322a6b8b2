"""What each field of the rule files means, by file and path (`rule.signatures[].scope`); messages for the catalogues.

Where a schema has a description of the field, it is the same sentence.
"""

from __future__ import annotations

from collections.abc import Mapping

from vllmdoctor.languages import marked as _

_ID = _("Lower-case words joined by hyphens.")
_CONDITION = _("A condition on facts, for example: max_model_len > kv_cache_tokens")
_PATTERN = _("A Python regular expression on one line.")
_VERSIONS = _("vLLM releases, for example: >=0.9.1, <0.20.0")
_SAMPLES = _("At least one real line for each wording, without names, addresses and tokens.")
_LITERALS = _(
    "Only when the automatic choice is poor: sets of which each must have one member in every matching text; one set "
    "has only members of 4 characters and more."
)
_COMPUTED = _("Computed arguments of the remedy: name to expression.")
_CHANGES = _("What the fix changes; every form of command is made from it.")
_EFFECT = _("What changes when it is done, as a number where there is one.")
_COST = _("What it costs; every fix says it.")
_KNOB = _("For a knob that is turned.")
_RISK = _("How much can go wrong; default `low`.")
_ALIASES = _("Ids it had before.")
_WHY = _("Why it happens, or why it does not help.")
_TITLE = _("At most 72 characters with the facts filled in, no full stop.")

SECTIONS: Mapping[str, str] = {
    "rule": _("One failure: `rules/CATEGORY/ID.yaml`."),
    "signature": _("One wording of the failure."),
    "cause": _("A reason, with the condition that tells it from the others."),
    "fix": _("A shared remedy with its arguments, or a remedy of this rule alone."),
    "caution": _("What people try first, and why it does not help."),
    "verification": _("A line to expect or a command to run after the fix."),
    "remedy": _("A fix that several rules share: `rules/remedies/ID.yaml`."),
    "changes": _("What a fix changes; command line, Python, Compose and Kubernetes are made from it."),
    "facts": _("What log lines tell without being failures: `rules/facts/*.yaml`."),
    "translation": _("The texts in another language: `ID.vi.yaml`, `ID.ja.yaml` beside the English file."),
}
TEXT_TYPE = _("One text, or a wording for when its facts are known and one for when they are not.")

MEANINGS: Mapping[str, str] = {
    "rule.id": _("Names the failure, not the fix; never changes once it is released."),
    "rule.category": _("The folder that the file is in."),
    "rule.role": _("`cause` (default) can be the answer, `consequence` never is, `warning` is only listed."),
    "rule.severity": _("`fatal` (default) ends the start or the server; `notice` is for information."),
    "rule.phase": _("Where it usually happens, for readers; default `any`."),
    "rule.title": _TITLE,
    "rule.summary": _("What happened, in one or two sentences."),
    "rule.first_check": _("What to look at before changing anything."),
    "rule.signatures": _("How it looks in a log."),
    "rule.explained_by": _("Rules that are the cause when they match in the same run."),
    "rule.causes": _("Why it happens."),
    "rule.fixes": _("What to do; the order is the ranking."),
    "rule.does_not_help": _("What people try first and what old articles recommend."),
    "rule.verify": _("How to see that the fix worked."),
    "rule.references": _("Further reading: title and address, with https."),
    "rule.related": _("See also; related rules may match the same line."),
    "rule.aliases": _ALIASES,
    "rule.observes": _(
        "The rule only sees that another process is gone or silent; an unexplained exception printed before comes "
        "first."
    ),
    "rule.last_resort": _("The rule is the answer only while the run has no exception that no rule knows."),
    "signature.pattern": _(
        "A Python regular expression, searched in one message or exception that is folded into one line. Named groups "
        "that are facts become facts."
    ),
    "signature.scope": _("Which records are looked at; default `error`."),
    "signature.samples": _SAMPLES,
    "signature.literals": _LITERALS,
    "signature.frames": _("Must match some traceback frame, written as path, function and source line."),
    "signature.unless": _("Must not match the same text."),
    "signature.when": _("Rules the match out when it is false; unknown facts admit it."),
    "signature.phases": _("Only errors of these phases."),
    "signature.versions": _("vLLM releases that have this wording; needed when `origin` is vllm."),
    "signature.raised": _("Where vLLM raises it: file and function."),
    "signature.origin": _("Who prints it: vllm (default), torch, nccl, kernel …"),
    "cause.id": _ID,
    "cause.title": _("The reason in a few words."),
    "cause.text": _WHY,
    "cause.when": _("True: what `then` says. False: ruled out. Unknown, or none given: possible."),
    "cause.then": _("What a true condition makes of it: confirmed (default), likely or possible."),
    "caution.id": _ID,
    "caution.title": _("What is tried."),
    "caution.text": _WHY,
    "caution.when": _("Shown only when it is true; without it always."),
    "fix.remedy": _("Id of a file in `rules/remedies`."),
    "fix.id": _("Needed for a remedy of this rule alone, and for the second use of the same one."),
    "fix.title": _("What to do, in a few words."),
    "fix.text": _("Why it helps here."),
    "fix.effect": _EFFECT,
    "fix.cost": _COST,
    "fix.changes": _CHANGES,
    "fix.versions": _("vLLM releases that have it; in others the fix is left out."),
    "fix.direction": _KNOB,
    "fix.risk": _RISK,
    "fix.cures": _("Ids of causes. The fix moves up where one is confirmed or likely, down where all are ruled out."),
    "fix.when": _("False: the fix is left out. Unknown: it comes after the sure ones and says on what it depends."),
    "fix.arguments": _COMPUTED,
    "verification.id": _ID,
    "verification.text": _("What to look for."),
    "verification.log": _("A log line to expect."),
    "verification.command": _("A command to run."),
    "verification.when": _("Left out only when it is false."),
    "remedy.id": _ID,
    "remedy.title": _("What to do, in a few words."),
    "remedy.text": _("What the knob is."),
    "remedy.effect": _EFFECT,
    "remedy.cost": _COST,
    "remedy.changes": _CHANGES,
    "remedy.versions": _("vLLM releases that have it; in others the fix is left out."),
    "remedy.direction": _KNOB,
    "remedy.risk": _RISK,
    "remedy.references": _("Further reading: title and address, with https."),
    "remedy.aliases": _ALIASES,
    "changes.arguments": _('Engine arguments by Python name; "true" is a bare flag, "" removes it.'),
    "changes.environment": _("Environment variables."),
    "changes.shell": _("Commands to run as they are."),
    "changes.docker": _("Flags of docker run."),
    "changes.compose": _("Lines for the service in a Compose file."),
    "changes.kubernetes": _("Lines for the pod or its container."),
    "changes.python": _("Python code, where arguments do not say it."),
    "facts.facts": _("Names of values, for lines, conditions and texts."),
    "facts.facts[].name": _("Lower-case, with the unit in it, such as `weights_gib`."),
    "facts.facts[].type": _("Type of the value."),
    "facts.facts[].unit": _("Unit of the value; empty when it has none."),
    "facts.facts[].combine": _("Which value stands when several lines tell one. For memory the worst rank decides."),
    "facts.facts[].title": _("Name in reports."),
    "facts.lines": _("Lines that carry facts: named groups are their names."),
    "facts.lines[].pattern": _PATTERN,
    "facts.lines[].samples": _SAMPLES,
    "facts.lines[].literals": _LITERALS,
    "facts.lines[].sections": _("Where such lines stand; default `log`."),
    "facts.lines[].versions": _VERSIONS,
    "facts.lines[].constants": _("Facts that the line tells without printing them."),
    "facts.derived": _("Facts that are computed when they were not read; the first entry that can be computed counts."),
    "facts.derived[].fact": _("Name of the fact."),
    "facts.derived[].value": _("An expression over facts."),
    "facts.derived[].when": _CONDITION,
    "facts.derived[].default": _("True for a default of some vLLM versions."),
    "facts.marks": _("Lines and frames that tell where a run stands."),
    "facts.marks[].mark": _("What the line says of the run; left out for a phase."),
    "facts.marks[].phase": _("The phase that begins there."),
    "facts.marks[].where": _("`line` (default), or `frame` of a traceback."),
    "facts.marks[].pattern": _PATTERN,
    "facts.marks[].samples": _SAMPLES,
    "facts.marks[].literals": _LITERALS,
    "facts.healthy": _("Whole lines that a healthy server prints all the time."),
    "facts.noise": _("Lines that look like trouble and are none: never evidence, never an unrecognized failure."),
    "facts.noise[].id": _ID,
    "facts.noise[].pattern": _PATTERN,
    "facts.noise[].why": _("Why the line is harmless."),
    "facts.noise[].samples": _SAMPLES,
    "facts.noise[].literals": _LITERALS,
    "translation.digest": _("Digest of the English texts it was made from; `vllmdoctor rules stamp` writes it."),
    "translation.title": _("Text of the same name in English."),
    "translation.summary": _("Text of the same name in English."),
    "translation.first_check": _("Text of the same name in English."),
    "translation.text": _("Text of the same name in English."),
    "translation.effect": _("Text of the same name in English."),
    "translation.cost": _("Text of the same name in English."),
    "translation.causes": _("Texts by id of the cause."),
    "translation.fixes": _("Texts by id of the fix, or of its remedy."),
    "translation.does_not_help": _("Texts by id of the caution."),
    "translation.verify": _("Texts by id of the verification."),
}
