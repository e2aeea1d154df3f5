// Tests whether walls work here by running the real arguments once, with /usr/bin/true. Settings and versions say too little.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { type CauseFacts, causeOf, installCommand, remedyOf, type WallCause } from "./causes.ts";
import { readMachine } from "./machine.ts";
import { networkCauseInWords, networkRemedy, probeNetwork } from "./network/probe.ts";
import { newWall } from "./new-wall.ts";
import { thisArchitecture } from "./seccomp/program.ts";
import { startBehindWall, type Walled, type WalledExit } from "./start.ts";
import type { Machine, WallKind } from "./types.ts";

export type ProbeResult =
	| { readonly isPossible: true; readonly ms: number }
	| { readonly isPossible: false; readonly cause: WallCause; readonly said: string; readonly remedy: string };

export interface WallProbe {
	/** Null if bubblewrap is missing. */
	readonly machine: Machine | null;
	readonly view: ProbeResult;
	readonly mask: ProbeResult;
	/** Without a network, which can fail separately. */
	readonly box: ProbeResult;
}

/** For people. */
export type NetworkResult =
	| { readonly isPossible: true }
	| { readonly isPossible: false; readonly reason: string; readonly remedy: string };

/** `home`: Keryx's, which must exist. Three short starts, one after another. */
export async function probeWalls(home: string): Promise<WallProbe> {
	const refuse = (cause: WallCause, said = ""): WallProbe => {
		const result = impossible(cause, said);
		return { machine: null, view: result, mask: result, box: result };
	};
	if (process.platform !== "linux") return refuse("platform");
	if (thisArchitecture() === null) return refuse("processor");
	const machine = readMachine();
	if (machine === null) return refuse("missing");
	const folder = mkdtempSync(join(realpathSync(home), ".walls-"));
	try {
		const { result: view, machine: fit } = await probeFit(home, folder, machine);
		return {
			machine: fit,
			view,
			mask: await probeOne("mask", home, folder, fit),
			box: await probeOne("box", home, folder, fit),
		};
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Whether a box can have its own network; tested only if the configuration wants one. */
export async function probeBoxNetwork(home: string, { machine, box }: WallProbe): Promise<NetworkResult> {
	if (!box.isPossible) return { isPossible: false, reason: "there is no box", remedy: box.remedy };
	const result = await probeNetwork(home, machine);
	if (result.isPossible) return result;
	const remedy = networkRemedy(result.cause, (name) => installCommand(isOnPath, name));
	return { isPossible: false, reason: networkCauseInWords(result), remedy };
}

/** In LXC the setting that turns off nested user namespaces is out of reach: there only the seccomp program refuses them. */
async function probeFit(
	home: string,
	folder: string,
	machine: Machine,
): Promise<{ readonly result: ProbeResult; readonly machine: Machine }> {
	const result = await probeOne("view", home, folder, machine);
	if (result.isPossible || !/max_user_namespaces|disable-userns/.test(result.said))
		return { result, machine };
	const without = { ...machine, canDisableUserns: false };
	const second = await probeOne("view", home, folder, without);
	return second.isPossible ? { result: second, machine: without } : { result, machine };
}

async function probeOne(
	kind: WallKind,
	home: string,
	folder: string,
	machine: Machine,
): Promise<ProbeResult> {
	const workspace = join(folder, kind);
	mkdirSync(workspace, { recursive: true, mode: 0o700 });
	const wall = newWall({ kind, home: realpathSync(home), workspace });
	const began = performance.now();
	try {
		const walled = await startBehindWall(
			{
				wall,
				argv: ["/usr/bin/true"],
				cwd: "/",
				env: {},
				statusFile: join(folder, `${kind}.status`),
				streams: ["ignore", "ignore", "pipe"],
			},
			machine,
		);
		const [said, exit] = await Promise.all([saidBy(walled), walled.exit]);
		if (isSuccess(exit)) return { isPossible: true, ms: performance.now() - began };
		return impossible(causeOf({ said, ...facts() }), said.trim());
	} catch (error) {
		const said = (error as Error).message;
		return impossible((error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "unknown", said);
	}
}

async function saidBy({ child }: Walled): Promise<string> {
	return child.stderr === null ? "" : text(child.stderr);
}

function isSuccess(exit: WalledExit): boolean {
	return exit.kind === "exited" && exit.code === 0;
}

function impossible(cause: WallCause, said: string): ProbeResult {
	return { isPossible: false, cause, said, remedy: remedyOf(cause, { install: installCommand(isOnPath) }) };
}

function facts(): Omit<CauseFacts, "said"> {
	return {
		isContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
		isApparmorRestricting: setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1",
	};
}

function setting(file: string): string {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return "";
	}
}

function isOnPath(name: string): boolean {
	const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/sbin"];
	return folders.some((folder) => folder !== "" && existsSync(join(folder, name)));
}
