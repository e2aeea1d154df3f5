// Settings changed from the page: what may be changed, the resulting config.yaml, the change, and who changed what. Operators only, with
// proof of a human. Secrets are hidden in all answers.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import type { ApiHost, HandlersOf, SettingsEditor, SettingsWanted } from "../call.ts";
import { endpoint } from "../endpoint.ts";
import { time } from "../schemas.ts";
import { iso } from "../wire.ts";

const LONGEST = 50_000;
const MOST_KEYS = 100;

const value = z
	.union([z.string().max(LONGEST), z.number(), z.boolean(), z.null()])
	.openapi({ description: "null: the default" });

const wanted = {
	changes: z
		.record(z.string().max(200), value)
		.refine((changes) => Object.keys(changes).length <= MOST_KEYS, `must be at most ${MOST_KEYS} keys`)
		.optional()
		.openapi({ description: "new values by dotted key; this or undo" }),
	undo: z.int().min(1).optional().openapi({ description: "n of a change in the history that is taken back" }),
};

export const settingsEndpoints = {
	settings: endpoint("get", "/api/settings", {
		about: "settings that can be changed from the page, with their values",
		answer: z.object({
			version: z.string().openapi({ description: "of config.yaml; a change names it" }),
			problem: z
				.string()
				.nullable()
				.openapi({ description: "what is wrong with config.yaml; nothing can be changed until it is right" }),
			settings: z.array(
				z
					.object({
						key: z.string(),
						group: z.string(),
						label: z.string(),
						about: z.string(),
						type: z.enum(["number", "boolean", "choice", "text", "long_text"]),
						choices: z.array(z.string()),
						expects: z.string(),
						value,
						default: value,
						from: z.enum(["default", "file", "environment"]),
						fixed: z.string().nullable().openapi({ description: "why it cannot be changed here" }),
					})
					.openapi("Setting"),
			),
		}),
	}),
	previewSettings: endpoint("post", "/api/settings/preview", {
		about:
			"config.yaml as it is and as it would be, and what is wrong with each new value; nothing is written",
		body: wanted,
		answer: z.object({
			version: z.string(),
			before: z.string(),
			after: z.string(),
			problems: z.array(z.object({ key: z.string(), message: z.string() })),
		}),
	}),
	changeSettings: endpoint("post", "/api/settings", {
		about:
			"changes config.yaml, which a running Keryx takes at once; refused where the file has changed since",
		body: { ...wanted, version: z.string().max(100) },
		answer: z.object({ n: z.int().openapi({ description: "of the change, in the history and the audit" }) }),
	}),
	settingsHistory: endpoint("get", "/api/settings/history", {
		about: "the last changes of config.yaml that were made through Keryx, newest first",
		answer: z.object({
			changes: z.array(
				z
					.object({
						n: z.int(),
						at: time,
						who: z.string(),
						via: z.string(),
						edits: z.array(
							z.object({
								key: z.string(),
								before: z.unknown().openapi({ description: "null: not in the file" }),
								after: z.unknown(),
							}),
						),
						undoes: z.int().nullable(),
						failed: z.string().nullable().openapi({ description: "why the file was not written" }),
						fixed: z.string().nullable().openapi({ description: "why it cannot be undone" }),
					})
					.openapi("SettingsChange"),
			),
		}),
	}),
} as const;

export const settingsHandlers: HandlersOf<typeof settingsEndpoints> = {
	settings: (_input, { host }) => {
		const { settings, ...rest } = editorOf(host).read();
		return { ...rest, settings: settings.map(({ choices, ...one }) => ({ ...one, choices: [...choices] })) };
	},
	previewSettings: async (input, { host }) => {
		const { problems, ...rest } = await editorOf(host).preview(wantedIn(input));
		return { ...rest, problems: problems.map((problem) => ({ ...problem })) };
	},
	changeSettings: async (input, { host, visitor: { who, via } }) => ({
		n: await editorOf(host).write(wantedIn(input), input.version, { who, via }),
	}),
	settingsHistory: async (_input, { host }) => ({
		changes: (await editorOf(host).history()).map(({ at, edits, ...rest }) => ({
			...rest,
			at: iso(at),
			edits: edits.map(({ key, before, after }) => ({ key, before, after })),
		})),
	}),
};

function wantedIn({
	changes,
	undo,
}: {
	readonly changes?: Readonly<Record<string, string | number | boolean | null>> | undefined;
	readonly undo?: number | undefined;
}): SettingsWanted {
	if (changes !== undefined && undo === undefined) return { changes };
	if (undo !== undefined && changes === undefined) return { undo };
	throw new KeryxError("argument.invalid", "give changes or undo", { field: "changes" });
}

function editorOf({ settings }: ApiHost): SettingsEditor {
	if (settings) return settings;
	throw new KeryxError(
		"gateway.stopped",
		"no gateway runs on a config.yaml here, so no setting can be changed",
		{
			hint: "start Keryx, then try again",
		},
	);
}
