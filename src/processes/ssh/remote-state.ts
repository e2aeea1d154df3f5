// What `state` says about a process: its start, its end, or why it could not be started.
import { constants } from "node:os";
import type { ProcessIdentity } from "../types.ts";
import { TELLS } from "./scripts.ts";

export interface RemoteStart {
	readonly identity: ProcessIdentity;
	/** Its own session, or the connection's. */
	readonly group: number;
	/** Its terminal's device, if any. */
	readonly terminal: string | null;
	/** Its input in the kernel's words; null if unknown. */
	readonly input: string | null;
}

export interface RemoteExit {
	readonly code: number | null;
	readonly signal: string | null;
}

export interface RemoteState {
	readonly started: RemoteStart | null;
	readonly exit: RemoteExit | null;
	readonly failed: string | null;
	/** The ssh client's message. */
	readonly rest: string;
}

export function readState(text: string): RemoteState {
	let started: RemoteStart | null = null;
	let exit: RemoteExit | null = null;
	let failed: string | null = null;
	const rest: string[] = [];
	// A last line without an end is incomplete.
	for (const line of text.split("\n").slice(0, -1)) {
		if (!line.startsWith(`${TELLS} `)) {
			rest.push(line.trim());
			continue;
		}
		const said = line.slice(TELLS.length + 1);
		if (said.startsWith("started ")) started ??= readStart(said);
		else if (said.startsWith("exit ")) exit ??= readExit(said);
		else if (said.startsWith("failed ")) failed ??= said.slice("failed ".length);
	}
	return { started, exit, failed, rest: rest.filter((line) => line !== "").join("; ") };
}

function readStart(said: string): RemoteStart | null {
	const [, pid, group, terminal, input, bootId = "", ...start] = said.trim().split(/\s+/);
	if (!/^\d+$/.test(pid ?? "") || start.length === 0) return null;
	return {
		identity: { bootId, pid: Number(pid), startTime: start.join(" ") },
		group: Number(group),
		terminal: orNull(terminal),
		input: orNull(input),
	};
}

function readExit(said: string): RemoteExit | null {
	const [, how, value = ""] = said.trim().split(" ");
	if (how === "code" && /^\d+$/.test(value)) return { code: Number(value), signal: null };
	if (how === "signal" && value !== "") return { code: null, signal: `SIG${value}` };
	return null;
}

/** From the client's exit, as a last resort: it ends with the program's code, and with 255 for its own faults. */
export function exitOfClient(code: number | null): RemoteExit | null {
	if (code === null || code === 255) return null;
	const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
	return signal === undefined ? { code, signal: null } : { code: null, signal };
}

function orNull(word: string | undefined): string | null {
	return word === undefined || word === "-" ? null : word;
}
