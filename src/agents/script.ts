// A scripted agent's script: its schema, as an object or as YAML or JSON text. Every problem names its field, before anything is played.
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { KeryxError } from "../errors.ts";
import { FAILURE_KINDS } from "./types.ts";

const DAY_MS = 86_400_000;

const toolSchema = z.strictObject({
	name: text().min(1, "must not be empty"),
	input: z.unknown().default({}),
	/** For an agent program, which runs its own tools: what it reports. The gateway's results come from its tools. */
	result: text().default("done"),
	is_error: flag().default(false),
	/** Call it although it is not offered, as a model that invents a tool. */
	unoffered: flag().default(false),
});

const failSchema = z.strictObject({
	kind: z.enum(FAILURE_KINDS, { error: `must be one of ${FAILURE_KINDS.join(", ")}` }),
	detail: text().default("as the script says"),
	retry_after_ms: whole(DAY_MS).optional(),
});

const usageSchema = z.strictObject({
	input_tokens: whole().default(0),
	output_tokens: whole().default(0),
	/** null: no price is known. */
	cost_micros: whole().nullable().default(0),
});

const stepSchema = z
	.strictObject({
		/** {{input}} becomes the last person's text, {{count}} the number of people's messages. */
		text: text().optional(),
		/** The text in pieces, each sent by itself. */
		chunks: list(text()).optional(),
		delay_ms: whole(DAY_MS).default(0),
		/** Between one chunk and the next. */
		chunk_delay_ms: whole(DAY_MS).default(0),
		tools: list(toolSchema).default([]),
		fail: failSchema.optional(),
		/** Never ends, unless aborted. */
		hang: flag().default(false),
		/** Ignores the abort: a delay continues, a hang has no end. */
		deaf: flag().default(false),
		/** Throws an error with this message. */
		throws: text().optional(),
		usage: usageSchema.prefault({}),
	})
	.superRefine((step, context) => {
		const refuse = (field: string, message: string) =>
			context.addIssue({ code: "custom", path: [field], message });
		if (step.text !== undefined && step.chunks)
			refuse("chunks", "cannot be combined with text: use one of them");
		const ends = (["fail", "hang", "throws"] as const).filter((end) => step[end]);
		if (ends[1]) refuse(ends[1], `cannot be combined with ${ends[0]}: a step ends in one way`);
		if (ends[0] && step.tools.length > 0)
			refuse("tools", `cannot be combined with ${ends[0]}: it asks for nothing`);
	});

const stepsSchema = list(stepSchema).min(1, "must have at least one step");

const WHEN = "must be text to find, or a map with a regular expression as regex (and its flags)";

const ruleSchema = z.strictObject({
	/** Text to find in the last person's message (empty: always), or a regular expression. */
	when: z.union(
		[z.string(), z.strictObject({ regex: z.string(), flags: z.string().optional() }).refine(isRegex, WHEN)],
		{ error: WHEN },
	),
	steps: stepsSchema,
	/** The last step again and again. */
	repeat: flag().default(false),
});

const scriptSchema = z.strictObject({
	/** The first match is played. */
	rules: list(ruleSchema).default([]),
	/** Where none fits. */
	otherwise: stepsSchema.optional(),
});

export type Script = z.input<typeof scriptSchema>;
export type ScriptedStep = z.input<typeof stepSchema>;
export type CheckedScript = z.output<typeof scriptSchema>;
export type CheckedStep = z.output<typeof stepSchema>;
export type CheckedRule = z.output<typeof ruleSchema>;

/** Reads YAML or JSON. Throws script.invalid, naming the line or the field. */
export function parseScript(source: string): Script {
	const lines = new LineCounter();
	const document = parseDocument(source, { version: "1.2", lineCounter: lines, prettyErrors: false });
	const [fault] = document.errors;
	if (fault) {
		const { line, col } = lines.linePos(fault.pos[0]);
		throw new KeryxError("script.invalid", `line ${line}, column ${col}: ${fault.message}`);
	}
	let value: unknown;
	try {
		value = document.toJS();
	} catch (cause) {
		throw new KeryxError("script.invalid", `the aliases cannot be followed: ${(cause as Error).message}`, {
			cause,
		});
	}
	checkScript(value);
	return value as Script;
}

/** The script with its defaults. Throws script.invalid, naming the first field that is wrong. */
export function checkScript(value: unknown): CheckedScript {
	const parsed = scriptSchema.safeParse(value, { error: describe });
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const field = (issue?.path ?? []).reduce<string>(
		(name, part) =>
			typeof part === "number" ? `${name}[${part}]` : name ? `${name}.${String(part)}` : String(part),
		"",
	);
	throw new KeryxError("script.invalid", `${field || "the script"} ${issue?.message}`, {
		field: field || "script",
	});
}

/** For fields without their own message above. */
function describe(issue: z.core.$ZodRawIssue): string {
	if (issue.code === "unrecognized_keys") return `has no key ${issue.keys.join(", ")}`;
	if (issue.code === "invalid_type")
		return issue.input === undefined
			? "is missing"
			: `must be ${issue.expected === "object" ? "a map" : issue.expected}`;
	return "has an unknown form";
}

function isRegex({ regex, flags }: { readonly regex: string; readonly flags?: string }): boolean {
	try {
		new RegExp(regex, flags);
		return true;
	} catch {
		return false;
	}
}

function text() {
	return z.string({ error: "must be text" });
}

function flag() {
	return z.boolean({ error: "must be true or false" });
}

function whole(most = Number.MAX_SAFE_INTEGER) {
	const error = `must be a whole number from 0 to ${most}`;
	return z.int({ error }).min(0, error).max(most, error);
}

function list<Item extends z.ZodType>(item: Item) {
	return z.array(item, { error: "must be a list" });
}
