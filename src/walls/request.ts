// A wall as sent to the program that makes it: wire data is checked field by field.
import { KeryxError } from "../errors.ts";
import { NO_CGROUPS } from "./cgroups.ts";
import type { Cgroups, Machine, Pasta, Wall, WallKind, WallLimits, WallNetwork } from "./types.ts";

/** The wall, and the machine as it was found able to make it. */
export interface WallRequest {
	readonly wall: Wall;
	readonly machine: Machine;
}

type Fields = Readonly<Record<string, unknown>>;

export function readWallRequest(value: unknown, field = "wall"): WallRequest {
	const { wall, machine } = record(value, field);
	return {
		wall: readWall(record(wall, `${field}.wall`), `${field}.wall`),
		machine: readKnown(record(machine, `${field}.machine`), `${field}.machine`),
	};
}

function readWall(fields: Fields, field: string): Wall {
	const at = (name: keyof Wall) => `${field}.${name}`;
	return {
		kind: one<WallKind>(fields.kind, at("kind"), ["view", "mask", "box"]),
		home: text(fields.home, at("home")),
		workspace: text(fields.workspace, at("workspace")),
		...(fields.isWorkspaceReadonly !== undefined && {
			isWorkspaceReadonly: flag(fields.isWorkspaceReadonly, at("isWorkspaceReadonly")),
		}),
		tmp: fields.tmp === null ? null : text(fields.tmp, at("tmp")),
		read: texts(fields.read, at("read")),
		write: texts(fields.write, at("write")),
		hide: texts(fields.hide, at("hide")),
		protect: texts(fields.protect, at("protect")),
		...(fields.keep !== undefined && { keep: texts(fields.keep, at("keep")) }),
		devices: texts(fields.devices, at("devices")),
		network: one<WallNetwork>(fields.network, at("network"), ["host", "none", "hosts", "own"]),
		...(fields.hosts !== undefined && { hosts: texts(fields.hosts, at("hosts")) }),
		hasUnixSockets: flag(fields.hasUnixSockets, at("hasUnixSockets")),
		privileges: one<Wall["privileges"]>(fields.privileges, at("privileges"), ["none", "admin"]),
		outlivesStarter: flag(fields.outlivesStarter, at("outlivesStarter")),
		limits: readLimits(record(fields.limits, at("limits")), at("limits")),
	};
}

function readLimits(fields: Fields, field: string): WallLimits {
	// A Keryx of an earlier version does not send the last two.
	const at = (name: keyof WallLimits) => count(fields[name] ?? null, `${field}.${name}`);
	return {
		openFiles: at("openFiles"),
		memoryBytes: at("memoryBytes"),
		processes: at("processes"),
		totalMemoryBytes: at("totalMemoryBytes"),
	};
}

function readCgroups({ version, memory, pids, problem }: Fields, field: string): Cgroups {
	const folder = (value: unknown, name: string) => (value === null ? null : text(value, `${field}.${name}`));
	return {
		version: one(version, `${field}.version`, [1, 2, null]),
		memory: folder(memory, "memory"),
		pids: folder(pids, "pids"),
		problem: one(problem, `${field}.problem`, ["none", "not_delegated", "refused", null]),
	};
}

function readPasta({ program, unshare, nsenter }: Fields, field: string): Pasta {
	return {
		program: text(program, `${field}.program`),
		unshare: text(unshare, `${field}.unshare`),
		nsenter: text(nsenter, `${field}.nsenter`),
	};
}

function readKnown(fields: Fields, field: string): Machine {
	const at = (name: keyof Machine) => `${field}.${name}`;
	const etc = record(fields.etc, at("etc"));
	return {
		bwrap: text(fields.bwrap, at("bwrap")),
		canDisableUserns: flag(fields.canDisableUserns, at("canDisableUserns")),
		canBindDescriptors: flag(fields.canBindDescriptors, at("canBindDescriptors")),
		env: text(fields.env, at("env")),
		shell: text(fields.shell, at("shell")),
		systemFolders: list(fields.systemFolders, at("systemFolders")).map((item) => {
			const { path, link } = record(item, at("systemFolders"));
			return {
				path: text(path, at("systemFolders")),
				link: link === null ? null : text(link, at("systemFolders")),
			};
		}),
		etc: { files: texts(etc.files, at("etc")), folders: texts(etc.folders, at("etc")) },
		// A Keryx of an earlier version sends neither.
		cgroups:
			fields.cgroups === undefined
				? NO_CGROUPS
				: readCgroups(record(fields.cgroups, at("cgroups")), at("cgroups")),
		pasta: (fields.pasta ?? null) === null ? null : readPasta(record(fields.pasta, at("pasta")), at("pasta")),
	};
}

function record(value: unknown, field: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw invalid(field, "must be an object");
	return value as Fields;
}

function list(value: unknown, field: string): unknown[] {
	if (!Array.isArray(value)) throw invalid(field, "must be a list");
	return value;
}

function texts(value: unknown, field: string): string[] {
	return list(value, field).map((item) => text(item, field));
}

function text(value: unknown, field: string): string {
	if (typeof value !== "string" || value.includes("\0"))
		throw invalid(field, "must be text without a NUL in it");
	return value;
}

function flag(value: unknown, field: string): boolean {
	if (typeof value !== "boolean") throw invalid(field, "must be true or false");
	return value;
}

function count(value: unknown, field: string): number | null {
	if (value === null) return null;
	if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
		throw invalid(field, "must be null or a whole number from 1 on");
	return value;
}

function one<Value extends string | number | null>(
	value: unknown,
	field: string,
	values: readonly Value[],
): Value {
	const found = values.find((item) => item === value);
	if (found === undefined) throw invalid(field, `must be one of ${values.join(", ")}`);
	return found;
}

function invalid(field: string, problem: string): KeryxError {
	return new KeryxError("argument.invalid", `${field} ${problem}`, { field });
}
