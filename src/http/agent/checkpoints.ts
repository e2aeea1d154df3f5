// Checkpoints of a conversation's folder: list, take and restore. The checkpoints themselves validate paths first.
import { z } from "@hono/zod-openapi";
import type { Checkpoints, Kept, RestoreOptions, RestoreReport } from "../../checkpoints/index.ts";
import type { ConversationId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Checkpoint } from "../../store/index.ts";
import { type Call, type HandlersOf, running } from "../call.ts";
import { endpoint, flag, ofConversation } from "../endpoint.ts";
import { time } from "../schemas.ts";

const LONGEST_LABEL = 200;
const LONGEST_PATH = 4096;
const PATH = "/api/conversations/{conversation}/checkpoints";

const checkpoint = z
	.object({
		id: z.string(),
		created_at: time,
		kind: z
			.enum(["before", "after", "rotation", "manual", "restore"])
			.openapi({ description: "about a turn's changes, at a rotation, on demand, or around a restore" }),
		label: z.string(),
		conversation: z.string().nullable(),
		session: z.string().nullable(),
		turn: z.string().nullable(),
		files: z.int().openapi({ description: "how many it holds" }),
		changed: z
			.object({ files: z.int(), insertions: z.int(), deletions: z.int() })
			.nullable()
			.openapi({ description: "against the one before; null for the first" }),
		excluded: z
			.array(z.object({ reason: z.string(), count: z.int(), examples: z.array(z.string()) }))
			.openapi({ description: "files that exist but are not saved" }),
	})
	.openapi("Checkpoint");

const fileDiff = z
	.object({
		path: z.string(),
		status: z.enum(["added", "changed", "deleted"]),
		binary: z.boolean(),
		insertions: z.int(),
		deletions: z.int(),
		text: z.string().openapi({ description: "unified" }),
		cut: z.boolean().openapi({ description: "text is cut off" }),
	})
	.openapi("FileDiff");

const kept = z
	.object({
		path: z.string(),
		reason: z.enum(["changed_since", "changing", "in_the_way", "refused", "lost"]),
	})
	.openapi("Kept");

const paths = z.array(z.string());

export const restored = z
	.object({
		id: z.string(),
		target: checkpoint,
		before: checkpoint.openapi({ description: "restoring this one undoes it" }),
		restored: paths,
		removed: paths,
		kept: z.array(kept),
		untouched: paths.openapi({ description: "differ, and are not saved" }),
	})
	.openapi("Restored");

const ofCheckpoint = {
	...ofConversation,
	id: z
		.string()
		.regex(/^[0-9a-f]{7,40}$/, "must be a checkpoint's id, or at least its first 7 digits")
		.openapi({ description: "its id, or at least the first 7 digits of it" }),
};
const other = z
	.string()
	.regex(/^([0-9a-f]{7,40}|now)$/, "must be a checkpoint's id, or at least its first 7 digits, or now")
	.default("now")
	.openapi({ description: "another's id, or now" });
const file = z
	.string()
	.max(LONGEST_PATH)
	.optional()
	.openapi({ description: "only this file, or files in this folder; relative to the workspace" });

export const checkpointEndpoints = {
	checkpoints: endpoint("get", PATH, {
		about: "the checkpoints of the folder that the conversation's agent works in, newest first",
		params: ofConversation,
		answer: z.object({ workspace: z.string(), checkpoints: z.array(checkpoint) }),
	}),
	takeCheckpoint: endpoint("post", PATH, {
		about: "save a checkpoint now; if no file has changed since the last one, that one",
		params: ofConversation,
		body: { label: z.string().trim().max(LONGEST_LABEL).optional() },
		answer: z.object({ kind: z.enum(["taken", "unchanged"]), checkpoint }),
	}),
	checkpointDiff: endpoint("get", `${PATH}/{id}/diff`, {
		about: "the differences between a checkpoint and another one, or now",
		params: ofCheckpoint,
		query: { to: other, file },
		answer: z.object({ files: z.array(fileDiff) }),
	}),
	checkpointPlan: endpoint("get", `${PATH}/{id}/plan`, {
		about: "what restoring a checkpoint would do; nothing is changed",
		params: ofCheckpoint,
		query: { file, force: flag.default(false) },
		answer: z.object({
			target: checkpoint,
			restore: paths,
			remove: paths,
			kept: z.array(kept),
			untouched: paths,
		}),
	}),
	restoreCheckpoint: endpoint("post", `${PATH}/{id}/restore`, {
		about: "restore a checkpoint; a checkpoint of the current files is saved first",
		params: ofCheckpoint,
		body: {
			file,
			force: z
				.boolean()
				.default(false)
				.openapi({ description: "also undo changes made by someone other than the agent" }),
		},
		answer: restored,
	}),
} as const;

export const checkpointHandlers: HandlersOf<typeof checkpointEndpoints> = {
	checkpoints: async ({ conversation }, call) => {
		const { checkpoints, workspace } = await within(call, conversation);
		return { workspace, checkpoints: (await checkpoints.list(workspace)).map(toWireCheckpoint) };
	},
	takeCheckpoint: async ({ conversation, label }, call) => {
		await within(call, conversation);
		const taken = await running(call.host).actions.takeCheckpoint({
			conversation,
			...(label && { label }),
		});
		if (taken.kind === "failed") throw new KeryxError(taken.code as "checkpoint.failed", taken.reason);
		return { kind: taken.kind, checkpoint: toWireCheckpoint(taken.checkpoint) };
	},
	checkpointDiff: async ({ conversation, id, to, file }, call) => {
		const { checkpoints, workspace } = await within(call, conversation);
		return { files: [...(await checkpoints.diff(workspace, id, to, only({ file })))] };
	},
	checkpointPlan: async ({ conversation, id, file, force }, call) => {
		const { checkpoints, workspace } = await within(call, conversation);
		const plan = await checkpoints.plan(workspace, id, only({ file, force }));
		return {
			target: toWireCheckpoint(plan.target),
			restore: [...plan.restore],
			remove: [...plan.remove],
			kept: toWireKept(plan.kept),
			untouched: [...plan.untouched],
		};
	},
	restoreCheckpoint: async ({ conversation, id, file, force }, call) => {
		await within(call, conversation);
		const { actions } = running(call.host);
		return toWireRestored(await actions.restoreCheckpoint({ conversation, id, ...only({ file, force }) }));
	},
};

export function toWireRestored({ id, target, before, ...report }: RestoreReport): z.output<typeof restored> {
	return {
		id,
		target: toWireCheckpoint(target),
		before: toWireCheckpoint(before),
		restored: [...report.restored],
		removed: [...report.removed],
		kept: toWireKept(report.kept),
		untouched: [...report.untouched],
	};
}

/** A conversation the caller may not see is not found, and so are its checkpoints. */
async function within(
	{ host, scope }: Call,
	conversation: ConversationId,
): Promise<{ readonly checkpoints: Checkpoints; readonly workspace: string }> {
	await host.store.conversation({ scope, ref: { id: conversation } });
	const { checkpoints, workspaceOf } = host;
	if (!checkpoints || !workspaceOf) throw new KeryxError("checkpoint.disabled", "checkpoints are off");
	return { checkpoints, workspace: await workspaceOf(conversation) };
}

function only({ file, force }: { file?: string | undefined; force?: boolean }): RestoreOptions {
	return { ...(file !== undefined && { file }), ...(force !== undefined && { force }) };
}

function toWireCheckpoint(one: Checkpoint): z.output<typeof checkpoint> {
	const { id, kind, label, conversation, session, turn, files, changed, excluded } = one;
	return {
		id,
		created_at: new Date(one.at).toISOString(),
		kind,
		label,
		conversation,
		session,
		turn,
		files,
		changed: changed && { ...changed },
		excluded: excluded.map(({ examples, ...rest }) => ({ ...rest, examples: [...examples] })),
	};
}

function toWireKept(all: readonly Kept[]): z.output<typeof kept>[] {
	return all.map((each) => ({ ...each }));
}
