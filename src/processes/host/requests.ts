// Clients' requests, validated first.
import { constants } from "node:os";
import { KeryxError } from "../../errors.ts";
import { readWallRequest } from "../../walls/index.ts";
import type { KillOptions, PtySize, SpawnRequest } from "../types.ts";

type Fields = Readonly<Record<string, unknown>>;

const MAX_SIDE = 10_000;
const MIN_LOG = 1024;
const MAX_GRACE_MS = 600_000;

export function readSpawn(fields: Fields): SpawnRequest {
	const argv = texts(fields.argv, "argv");
	if (argv.length === 0 || argv[0] === "") throw invalid("argv", "must begin with a program");
	const env = record(fields.env, "env");
	for (const [name, value] of Object.entries(env)) {
		if (name === "" || name.includes("=") || name.includes("\0"))
			throw invalid("env", "has a name that is none");
		text(value, `env.${name}`);
	}
	const cwd = text(fields.cwd, "cwd");
	if (!cwd.startsWith("/")) throw invalid("cwd", "must be an absolute path");
	return {
		id: text(fields.id, "id"),
		argv,
		...(fields.shownArgv !== undefined && { shownArgv: texts(fields.shownArgv, "shownArgv") }),
		cwd,
		env: env as Record<string, string>,
		pty: fields.pty === null ? null : readSize(record(fields.pty, "pty")),
		maxLogBytes: number(fields.maxLogBytes, "maxLogBytes", MIN_LOG),
		...(fields.wall !== undefined && { wall: readWallRequest(fields.wall) }),
	};
}

export function readSize(fields: Fields): PtySize {
	return { rows: number(fields.rows, "rows", 1, MAX_SIDE), cols: number(fields.cols, "cols", 1, MAX_SIDE) };
}

export function readKill(fields: Fields): KillOptions {
	return {
		...(fields.signal !== undefined && { signal: readSignal(fields.signal) }),
		...(fields.graceMs !== undefined && { graceMs: number(fields.graceMs, "graceMs", 0, MAX_GRACE_MS) }),
	};
}

export function readSignal(value: unknown): NodeJS.Signals {
	if (typeof value !== "string" || !Object.hasOwn(constants.signals, value))
		throw invalid("signal", "must be the name of a signal, as SIGINT");
	return value as NodeJS.Signals;
}

export function readId(value: unknown): string {
	return text(value, "id");
}

export function number(value: unknown, field: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
	if (typeof value !== "number" || !Number.isSafeInteger(value) || value < least || value > most)
		throw invalid(field, `must be a whole number from ${least} to ${most}`);
	return value;
}

function text(value: unknown, field: string): string {
	if (typeof value !== "string" || value.includes("\0"))
		throw invalid(field, "must be text without a NUL in it");
	return value;
}

function texts(value: unknown, field: string): string[] {
	if (!Array.isArray(value)) throw invalid(field, "must be a list of texts");
	return value.map((item) => text(item, field));
}

function record(value: unknown, field: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw invalid(field, "must be an object");
	return value as Fields;
}

function invalid(field: string, problem: string): KeryxError {
	return new KeryxError("argument.invalid", `${field} ${problem}`, { field });
}
