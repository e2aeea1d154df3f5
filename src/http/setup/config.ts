// Shows the configuration, and checks a new one. Nothing here writes it.
import { z } from "@hono/zod-openapi";
import type { ConfigProblem, ConfigView, Origin } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { ApiHost, HandlersOf } from "../call.ts";
import { endpoint } from "../endpoint.ts";

const LONGEST_TEXT = 256 * 1024;

const problem = z
	.object({
		code: z.enum(["config.unreadable", "config.syntax", "config.invalid"]),
		message: z.string(),
		key: z.string().nullable(),
		line: z.int().nullable(),
		column: z.int().nullable(),
		variable: z.string().nullable().openapi({ description: "the environment variable that is wrong" }),
		suggestion: z.string().nullable().openapi({ description: "what was probably meant" }),
	})
	.openapi("ConfigProblem");

const entry = z
	.object({
		key: z.string(),
		value: z.unknown().openapi({
			description:
				"the current value; anything that looks like a secret is •••, and so are names of secrets, except for the operator",
		}),
		from: z.enum(["default", "file", "environment"]),
		file: z.string().nullable(),
		line: z.int().nullable(),
		variable: z.string().nullable(),
		after_restart: z
			.unknown()
			.optional()
			.openapi({ description: "the value in the file, which takes effect after a restart" }),
	})
	.openapi("ConfigEntry");

export const configEndpoints = {
	config: endpoint("get", "/api/config", {
		about:
			"every current value and where it comes from; if config.yaml is invalid right now, the last good version",
		answer: z.object({
			file: z.string().nullable().openapi({ description: "null: there is none, so the defaults apply" }),
			entries: z.array(entry),
			problems: z.array(problem),
			warnings: z.array(z.string()),
		}),
	}),
	validateConfig: endpoint("post", "/api/config/validate", {
		about: "what is wrong with a config.yaml, by line and column; nothing is written",
		body: { yaml: z.string().max(LONGEST_TEXT) },
		answer: z.object({
			ok: z.boolean(),
			problems: z.array(problem),
			warnings: z.array(z.string()),
		}),
	}),
} as const;

export const configHandlers: HandlersOf<typeof configEndpoints> = {
	config: (_input, { host, visitor }) => {
		const reader = visitor.role === "operator" ? "operator" : "others";
		const { file, entries, problems, warnings } = viewOf(host).look(reader);
		return {
			file: file ?? null,
			entries: entries.map(({ key, value, origin, ...more }) => ({
				key,
				value,
				...originFields(origin),
				...("afterRestart" in more && { after_restart: more.afterRestart }),
			})),
			problems: problems.map(toWireProblem),
			warnings: [...warnings],
		};
	},
	validateConfig: ({ yaml }, { host }) => {
		const { problems, warnings } = viewOf(host).check(yaml);
		return { ok: problems.length === 0, problems: problems.map(toWireProblem), warnings: [...warnings] };
	},
};

function viewOf({ config }: ApiHost): ConfigView {
	if (config) return config;
	throw new KeryxError("store.not_found", "this Keryx has no configuration to show");
}

function originFields(origin: Origin) {
	return {
		from: origin.kind,
		file: origin.kind === "file" ? origin.file : null,
		line: origin.kind === "file" ? origin.line : null,
		variable: origin.kind === "environment" ? origin.variable : null,
	};
}

function toWireProblem(found: ConfigProblem): z.output<typeof problem> {
	const { code, message, key = null, line = null, column = null, variable = null, suggestion = null } = found;
	return { code, message, key, line, column, variable, suggestion };
}
