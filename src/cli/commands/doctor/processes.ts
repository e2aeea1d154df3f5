// The agent's programs and their host: whether all are accounted for, the size of their logs, and whether the system collects dead ones.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Home } from "../../../app/home.ts";
import { connectHost, inspect, listHosts, type ProcessInfo } from "../../../processes/index.ts";
import { bytesInWords, counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";
import { lookAtService } from "./running.ts";

/** Worth mentioning, though it may be intended. */
const MUCH = 1e9;
/** A parent that collects its dead children has done so by then. */
const BURIAL_MS = 200;

export async function lookAtProcesses({ path }: Home, keryxRuns: boolean): Promise<Finding[]> {
	try {
		const hosts = await listHosts(path);
		const logs = sizeOf(join(path, "processes"));
		return [
			describe(hosts.length, await inspect(path), logs),
			...lookAtLogs(logs),
			...(hosts.length > 0 ? await lookAtDead() : []),
			// A running Keryx already reported the same.
			...(hosts.length > 0 && !keryxRuns ? await lookAtHost(path) : []),
		];
	} catch (error) {
		return [
			wrong(
				"processes",
				texts.doctor.processes.unreadable(error instanceof Error ? error.message : String(error)),
				texts.doctor.processes.unreadableRemedy(join(path, "processes")),
			),
		];
	}
}

function describe(hosts: number, processes: readonly ProcessInfo[], logs: number): Finding {
	const running = processes.filter(({ status }) => status === "running").length;
	const left = processes.filter(({ survivors }) => survivors.length > 0).length;
	const found = [
		running === 0
			? texts.doctor.processes.none
			: counted(running, "process is running", "processes are running"),
		...(hosts > 0 ? [counted(hosts, "host")] : []),
		texts.doctor.processes.logs(bytesInWords(logs)),
	].join(", ");
	if (left === 0) return fine("processes", found);
	return remark(
		"processes",
		texts.doctor.processes.left(found, counted(left, "other one")),
		texts.doctor.processes.leftRemedy,
	);
}

function lookAtLogs(taken: number): Finding[] {
	if (taken < MUCH) return [];
	return [
		remark(
			texts.doctor.processes.logsTitle,
			texts.doctor.processes.logsTake(bytesInWords(taken)),
			texts.doctor.processes.logsRemedy,
		),
	];
}

/** The size of the files in a folder and below. Files that disappear meanwhile count as empty. */
function sizeOf(folder: string): number {
	let sum = 0;
	try {
		for (const entry of readdirSync(folder, { withFileTypes: true })) {
			const path = join(folder, entry.name);
			sum += entry.isDirectory() ? sizeOf(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
		}
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
	}
	return sum;
}

/** Orphans are collected by process 1; if it is not an init, it never does, until no process can start. */
async function lookAtDead(): Promise<Finding[]> {
	const before = new Set(uncollected());
	if (before.size === 0) return [];
	await delay(BURIAL_MS);
	const dead = uncollected().filter((pid) => before.has(pid)).length;
	if (dead === 0) return [];
	return [
		remark(
			"zombies",
			texts.doctor.processes.zombies(counted(dead, "dead process is", "dead processes are"), nameOf("1")),
			texts.doctor.initRemedy,
		),
	];
}

function uncollected(): string[] {
	try {
		return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isZombieOf(statOf(name), 1));
	} catch {
		return [];
	}
}

/** From /proc/<pid>/stat: the name is in brackets and may contain anything; state and parent follow. */
export function isZombieOf(stat: string, parent: number): boolean {
	const [state, of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return state === "Z" && Number(of) === parent;
}

function statOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/stat`, "latin1");
	} catch {
		return "";
	}
}

function nameOf(pid: string): string {
	const stat = statOf(pid);
	return stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")")) || "unknown";
}

/** It stays in its starter's service, and ends with it unless systemd is configured otherwise. */
async function lookAtHost(home: string): Promise<Finding[]> {
	const host = await connectHost({ home }).catch(() => null);
	if (!host) return [];
	const { hostPid } = host;
	await host.close();
	return lookAtService(hostPid);
}
