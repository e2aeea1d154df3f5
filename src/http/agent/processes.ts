// The agent's programs: state, output, input, end.
import { constants } from "node:os";
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import type { ListedProcess, ProcessActor, Processes } from "../../processes/index.ts";
import type { Process, ProcessScope } from "../../store/index.ts";
import { type ApiHost, type Call, type HandlersOf, running } from "../call.ts";
import { endpoint, flag, pageSize } from "../endpoint.ts";
import { standingOf } from "../entry/scope.ts";
import { conversationId, time } from "../schemas.ts";

/** They are swept after a few days, so there are never many. */
const MOST = 10_000;
const LONGEST_PART = 1024 * 1024;
const LONGEST_INPUT = 256 * 1024;

const process = z
	.object({
		id: z.string(),
		conversation: z.string(),
		turn: z.string().nullable(),
		state: z.enum(["starting", "running", "exited", "killed", "lost", "failed_start"]),
		command: z.string(),
		cwd: z.string(),
		pty: z.boolean().openapi({ description: "in its own terminal; otherwise on pipes" }),
		background: z.boolean(),
		notify: z.enum(["none", "result", "all", "error"]),
		backend: z.string().openapi({ description: "where it runs" }),
		pid: z.int().nullable(),
		exit_code: z.int().nullable(),
		signal: z.string().nullable(),
		cause: z.string().nullable().openapi({ description: "how it ended, in words" }),
		log_bytes: z
			.int()
			.nullable()
			.openapi({ description: "how much it printed in total; known once it has ended" }),
		log_lost: z.int().nullable().openapi({ description: "how much was removed from its log" }),
		started_at: time,
		ended_at: time.nullable(),
		survivors: z
			.array(z.int())
			.openapi({ description: "pids of processes it started that are still running" }),
		unreachable: z.boolean().openapi({ description: "its host does not answer: this may be out of date" }),
		elsewhere: z.object({ node: z.string(), lives: z.boolean() }).nullable().openapi({
			description:
				"it runs at another gateway on this store; where that one is gone, it is lost until it is back",
		}),
	})
	.openapi("Process");

const ofProcess = {
	id: z.string().min(1).max(64).openapi({ description: "its id, or at least its first four characters" }),
};

export const processEndpoints = {
	processes: endpoint("get", "/api/processes", {
		about: "the processes the agent started, newest first",
		query: {
			conversation: conversationId.optional(),
			which: z.enum(["running", "all"]).default("running").openapi({
				description: "running: those that have not ended, and those that left something running",
			}),
			kind: z.enum(["background", "all"]).default("all").openapi({
				description: "background: without the commands a turn waits for",
			}),
			limit: pageSize,
			after: z.string().max(128).optional().openapi({ description: "next from the previous page" }),
		},
		answer: z.object({ processes: z.array(process), next: z.string().nullable() }),
	}),
	process: endpoint("get", "/api/processes/{id}", {
		about: "one process",
		params: ofProcess,
		answer: process,
	}),
	processLog: endpoint("get", "/api/processes/{id}/log", {
		about: "its output: the last lines, or from a position on; continue with to",
		params: ofProcess,
		query: {
			from: z.coerce
				.number()
				.int()
				.min(0)
				.optional()
				.openapi({ description: "in bytes from the beginning; left out: the last lines" }),
			lines: z.coerce.number().int().min(0).max(10_000).default(200),
			limit: z.coerce
				.number()
				.int()
				.min(16)
				.max(LONGEST_PART)
				.default(256 * 1024)
				.openapi({ description: "bytes at once" }),
			raw: flag
				.default(false)
				.openapi({ description: "with escape sequences; otherwise as a terminal shows it in the end" }),
		},
		answer: z.object({
			id: z.string(),
			from: z.int(),
			to: z.int(),
			lost: z.int().openapi({ description: "bytes before from that were removed from the log" }),
			size: z.int().openapi({ description: "where the log ends now" }),
			output: z.string(),
		}),
	}),
	killProcess: endpoint("post", "/api/processes/{id}/kill", {
		about: "stop it and everything it started; answers when they have ended",
		params: ofProcess,
		body: {
			signal: z
				.string()
				.regex(/^[A-Za-z0-9]{1,12}$/)
				.default("SIGTERM")
				.openapi({ description: "sent first; whatever is still running then gets SIGKILL" }),
			grace_seconds: z.number().min(0).max(60).default(5),
		},
		answer: z.object({
			process,
			result: z.enum(["killed", "already_exited", "survived"]),
			survivors: z.array(z.int()).openapi({ description: "pids that are still running" }),
		}),
	}),
	processInput: endpoint("post", "/api/processes/{id}/input", {
		about: "write to its input, and close it if asked; nothing is added, so send your own newline",
		params: ofProcess,
		body: { data: z.string().max(LONGEST_INPUT).default(""), end: z.boolean().default(false) },
		answer: z.object({ id: z.string(), bytes: z.int(), ended: z.boolean() }),
	}),
} as const;

export const processHandlers: HandlersOf<typeof processEndpoints> = {
	processes: async ({ conversation, which, kind, limit, after }, { host, scope: seen }) => {
		if (conversation !== undefined) await host.store.conversation({ scope: seen, ref: { id: conversation } });
		const scope: ProcessScope = conversation === undefined ? seen : { kind: "conversation", conversation };
		const before = after === undefined ? null : parseAfter(after);
		const found = (await processesOf(host).list(scope, MOST))
			.filter(({ background, survivors }) => kind === "all" || background || survivors.length > 0)
			.filter(({ endedAt, survivors }) => which === "all" || endedAt === null || survivors.length > 0)
			.toSorted(newestFirst)
			.filter((one) => before === null || newestFirst(before, one) < 0);
		const page = found.slice(0, limit);
		const last = page.at(-1);
		return {
			processes: page.map(toWireProcess),
			next: found.length > limit && last ? `${last.startedAt}.${last.id}` : null,
		};
	},
	process: async ({ id }, { host, scope }) => {
		const processes = processesOf(host);
		const found = await processes.find(scope, id);
		const elsewhere = await processes.elsewhere(found);
		return toWireProcess({
			...found,
			survivors: elsewhere ? [] : await processes.leftBehind(found.id),
			isUnreachable: await processes.isUnreachable(found),
			elsewhere,
		});
	},
	processLog: async ({ id, from, lines, limit, raw }, { host, scope }) => {
		const processes = processesOf(host);
		const found = await processes.find(scope, id);
		const start = from === undefined ? { lines } : { at: from };
		const { text: output, ...part } = await processes.part(scope, found.id, { start, limit, raw });
		return { id: found.id, ...part, output };
	},
	killProcess: async ({ id, signal, grace_seconds }, call) => {
		const { host } = call;
		running(host);
		const options = { signal: signalNamed(signal), graceMs: grace_seconds * 1000 };
		const { process, result, survivors } = await processesOf(host).kill(await actorOn(id, call), id, options);
		return {
			process: toWireProcess({ ...process, survivors, isUnreachable: false, elsewhere: null }),
			result,
			survivors: [...survivors],
		};
	},
	processInput: async ({ id, data, end }, call) => {
		const { host, scope } = call;
		running(host);
		const processes = processesOf(host);
		const found = await processes.find(scope, id);
		const actor = await actorOn(found.id, call);
		if (await isWidened(found, call)) throw widened(found);
		const bytes = Buffer.from(data);
		if (bytes.length > 0) await processes.write(actor, found.id, bytes);
		if (end) await processes.endInput(actor, found.id);
		return { id: found.id, bytes: bytes.length, ended: end };
	},
};

/** A person acts in the process's conversation, which they must see, with their role. */
async function actorOn(id: string, { host, scope, visitor }: Call): Promise<ProcessActor> {
	if (scope.kind === "operator") return scope;
	const { conversation } = await processesOf(host).find(scope, id);
	return { kind: "conversation", conversation, standing: standingOf(visitor) };
}

/** The program runs behind a wider wall than this person's: that was allowed for its start alone, so only the owner types into it (I14). */
export async function isWidened(
	process: Process,
	{ host, visitor }: Pick<Call, "host" | "visitor">,
): Promise<boolean> {
	const standing = standingOf(visitor);
	return standing !== "owner" && (await host.isBehindWider?.(process, standing)) === true;
}

function widened({ id }: Process): KeryxError {
	return new KeryxError(
		"process.refused",
		`${id} runs behind a wider wall, which was allowed for its start alone`,
		{
			field: "id",
			hint: "ask the owner to type it",
		},
	);
}

export function processesOf({ processes }: ApiHost): Processes {
	if (processes) return processes;
	throw new KeryxError("gateway.stopped", "processes are off in this Keryx", {
		hint: "use the Keryx that runs the gateway",
	});
}

interface ListPosition {
	readonly startedAt: number;
	readonly id: string;
}

/** A position stays valid whatever starts or ends in between. */
function newestFirst(a: ListPosition, b: ListPosition): number {
	return b.startedAt - a.startedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function parseAfter(after: string): ListPosition {
	const [, at, id] = /^(\d{1,16})\.(\w{1,64})$/.exec(after) ?? [];
	if (at === undefined || id === undefined)
		throw new KeryxError("argument.invalid", "after must be the next of an earlier page", { field: "after" });
	return { startedAt: Number(at), id };
}

function signalNamed(text: string): string {
	const upper = text.toUpperCase();
	const name = upper.startsWith("SIG") ? upper : `SIG${upper}`;
	if (name in constants.signals) return name;
	throw new KeryxError("argument.invalid", "signal must be one such as TERM, INT or HUP", {
		field: "signal",
	});
}

function toWireProcess(one: ListedProcess): z.output<typeof process> {
	return {
		id: one.id,
		conversation: one.conversation,
		turn: one.turn,
		state: one.status,
		command: one.command,
		cwd: one.cwd,
		pty: one.pty,
		background: one.background,
		notify: one.notify,
		backend: one.backend,
		pid: one.identity?.pid ?? null,
		exit_code: one.exitCode,
		signal: one.signal,
		cause: one.cause,
		log_bytes: one.logBytes,
		log_lost: one.logLost,
		started_at: new Date(one.startedAt).toISOString(),
		ended_at: one.endedAt === null ? null : new Date(one.endedAt).toISOString(),
		survivors: [...one.survivors],
		unreachable: one.isUnreachable,
		elsewhere: one.elsewhere,
	};
}
