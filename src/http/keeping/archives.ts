// Retention: what it would delete, what it deletes, its archives, and restoring them.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import { listArchives, readArchive, restoreArchive } from "../../keeping/index.ts";
import { type ApiHost, type HandlersOf, running } from "../call.ts";
import { endpoint, pageSize } from "../endpoint.ts";
import { conversationId, time } from "../schemas.ts";
import { iso } from "../wire.ts";

const days = z.coerce.number().int().min(1).max(36_500).optional();
const archiveName = z.string().min(1).max(200);
const archive = z
	.object({
		name: z.string(),
		conversation: conversationId,
		key: z.string(),
		title: z.string(),
		bytes: z.int(),
		archived_at: time,
		last_activity_at: time.nullable(),
		problem: z
			.string()
			.nullable()
			.openapi({ description: "why it cannot be read; then key and title are empty" }),
	})
	.openapi("Archive");
const MOST_AT_ONCE = 200;

export const archiveEndpoints = {
	retentionPlan: endpoint("get", "/api/retention", {
		about: "conversations that retention would archive and delete now; nothing is changed",
		query: { days: days.openapi({ description: "left out: retention.days" }) },
		answer: z.object({
			before: time,
			count: z.int(),
			first: z.array(conversationId).openapi({ description: "up to 100, the longest idle first" }),
		}),
	}),
	runRetention: endpoint("post", "/api/retention", {
		about: "archive and delete old conversations now, some at a time",
		body: { days, limit: z.int().min(1).max(MOST_AT_ONCE).default(MOST_AT_ONCE) },
		answer: z.object({
			archived: z.int(),
			ended: z.int().openapi({ description: "their sessions were ended; they follow later" }),
			kept: z.int(),
			failed: z.int(),
			problem: z.string().nullable().openapi({ description: "why the first of those could not be archived" }),
			more: z.boolean(),
		}),
	}),
	archives: endpoint("get", "/api/archives", {
		about: "archived conversations, the newest month first",
		query: { limit: pageSize, after: archiveName.optional() },
		answer: z.object({ archives: z.array(archive), next: z.string().nullable() }),
	}),
	archive: endpoint("get", "/api/archive", {
		about: "one archive, and what was said in it",
		query: { archive: archiveName, limit: pageSize },
		answer: z.object({
			archive,
			messages: z.array(z.object({ at: time, role: z.string(), text: z.string() })),
			more: z.boolean(),
		}),
	}),
	restoreArchive: endpoint("post", "/api/archive/restore", {
		about: "bring a conversation back from its archive",
		body: { archive: archiveName },
		answer: z.object({ conversation: conversationId, messages: z.int() }),
	}),
} as const;

export const archiveHandlers: HandlersOf<typeof archiveEndpoints> = {
	retentionPlan: async ({ days }, { host }) => {
		const { before, count, first } = await retentionOf(host).retention.plan(days);
		return { before: iso(before), count, first: [...first] };
	},
	runRetention: async ({ days, limit }, { host }) => {
		running(host);
		return retentionOf(host).retention.run({ limit, ...(days !== undefined && { days }) });
	},
	archives: async ({ limit, after }, { host }) => {
		const found = await listArchives(retentionOf(host).folder, { limit: limit + 1, after });
		const page = found.slice(0, limit);
		return { archives: page.map(toWire), next: found.length > limit ? (page.at(-1)?.name ?? null) : null };
	},
	archive: async ({ archive: ref, limit }, { host }) => {
		const { archive, messages, more } = await readArchive(retentionOf(host).folder, ref, limit);
		return {
			archive: toWire(archive),
			messages: messages.map(({ at, ...message }) => ({ at: iso(at), ...message })),
			more,
		};
	},
	restoreArchive: async ({ archive: ref }, { host }) => {
		running(host);
		return restoreArchive(host.store, retentionOf(host).folder, ref);
	},
};

function toWire({
	name,
	conversation,
	bytes,
	archivedAt,
	...rest
}: Awaited<ReturnType<typeof listArchives>>[number]): z.output<typeof archive> {
	const file = { name, conversation, bytes, archived_at: iso(archivedAt) };
	if ("problem" in rest)
		return { ...file, key: "", title: "", last_activity_at: null, problem: rest.problem };
	const { key, title, lastActivityAt } = rest;
	return { ...file, key, title, last_activity_at: iso(lastActivityAt), problem: null };
}

function retentionOf({ archives }: ApiHost): NonNullable<ApiHost["archives"]> {
	if (archives) return archives;
	throw new KeryxError("store.unsupported", "this Keryx keeps no archives");
}
