// Whether Keryx runs here, whether it answers, and how it was started.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import type { Home } from "../../../app/home.ts";
import { version } from "../../../app/version.ts";
import { type Client, createClient, socketTransport } from "../../../http/client/index.ts";
import type { Answer } from "../../../http/index.ts";
import { ownerOf } from "../../../store/index.ts";
import type { CliContext } from "../../context.ts";
import { patienceWith } from "../../patience.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, remark, wrong } from "./finding.ts";

type Health = Answer<"health">;

/** A slower one hangs. */
const PATIENCE_MS = 5000;

/** The running Keryx's client, if it answers. */
export async function lookForKeryx(
	home: Home,
	context: CliContext,
): Promise<{ findings: Finding[]; client: Client | null; pid: number | null }> {
	const transport = socketTransport(home.socketPath, { patience: patienceWith(context, home) });
	const probe = createClient((request) =>
		transport({ ...request, signal: AbortSignal.timeout(PATIENCE_MS) }),
	);
	try {
		const health = await probe.health();
		return {
			findings: [describe(health), ...remarksOn(health), ...(await lookAtService(health.pid))],
			client: createClient(transport),
			pid: health.pid,
		};
	} catch (error) {
		return { findings: [silent(home, error as NodeJS.ErrnoException)], client: null, pid: null };
	}
}

function describe({ version: theirs, pid, started_at, agent, channels }: Health): Finding {
	const platforms = channels.map(({ platform, state }) =>
		state === "connected" ? platform : `${platform} (${state})`,
	);
	const found = texts.doctor.running.fine(theirs, pid, started_at, agent, platforms.join(", "));
	if (theirs === version()) return fine("keryx", found);
	return remark(
		"keryx",
		texts.doctor.running.otherVersion(found, version()),
		texts.doctor.running.otherVersionRemedy,
	);
}

function remarksOn({ channels, problem }: Health): Finding[] {
	const failing = problem === null ? [] : [wrong("keryx", texts.doctor.running.failing(problem), FAILING)];
	const silent = channels
		.filter(({ state }) => state !== "connected" && state !== "starting")
		.map(({ name, state, detail }) => {
			const why = detail === null ? "" : `: ${detail}`;
			return state === "needs_attention"
				? wrong("channel", texts.doctor.running.needsYou(name, why), texts.doctor.running.needsYouRemedy)
				: wrong(
						"channel",
						texts.doctor.running.channel(name, state, why),
						texts.doctor.running.channelRemedy,
					);
		});
	return [...failing, ...silent];
}

const FAILING = texts.doctor.running.failingRemedy;

/** Nobody answers: none is running, a command uses the store, or Keryx hangs. */
function silent({ storePath, socketPath }: Home, error: NodeJS.ErrnoException): Finding {
	const owner = ownerOf(storePath);
	if (error.name === "TimeoutError" || error.code === "ABORT_ERR")
		return wrong(
			"keryx",
			texts.doctor.running.silent(socketPath, owner === null ? "" : `: ${owner}`),
			texts.doctor.running.silentRemedy,
		);
	if (error.code !== "ENOENT" && error.code !== "ECONNREFUSED")
		return wrong(
			"keryx",
			texts.doctor.running.socket(socketPath, error.message),
			texts.doctor.running.socketRemedy,
		);
	if (owner !== null)
		return remark("keryx", texts.doctor.running.owned(owner), texts.doctor.running.ownedRemedy);
	return fine("keryx", existsSync(socketPath) ? texts.doctor.running.crashed : texts.doctor.running.none);
}

/** How it was started, if that affects background processes. */
export async function lookAtService(pid: number): Promise<Finding[]> {
	if (pid === 1) return [remark("service", texts.doctor.running.pid1, texts.doctor.initRemedy)];
	const unit = isSystemds() ? unitOf(cgroupOf(pid)) : null;
	if (!unit) return [];
	const mode = await killModeOf(unit);
	if (mode === "process") return [fine("service", texts.doctor.running.systemd(unit.name))];
	return [
		remark(
			"service",
			texts.doctor.running.killMode(unit.name, mode === null ? "" : ` with KillMode=${mode}`),
			texts.doctor.running.killModeRemedy(unit.name),
		),
	];
}

export interface Unit {
	readonly name: string;
	/** The user's own service manager, not the system's. */
	readonly isUsers: boolean;
}

/** From a process's cgroup: the service it is in, if it is in one itself. */
export function unitOf(cgroup: string): Unit | null {
	const path = cgroup.split("\n")[0]?.split(":").slice(2).join(":") ?? "";
	const [, name] = /\/([^/]+\.service)$/.exec(path) ?? [];
	if (name === undefined || /^user@\d+\.service$/.test(name)) return null;
	return { name, isUsers: /\/user@\d+\.service\//.test(path) };
}

/** In a container the path may be an outside service's, which does not matter here. */
function isSystemds(): boolean {
	try {
		return readFileSync("/proc/1/comm", "utf8").trim() === "systemd";
	} catch {
		return false;
	}
}

function cgroupOf(pid: number): string {
	try {
		return readFileSync(`/proc/${pid}/cgroup`, "utf8");
	} catch {
		return "";
	}
}

/** Null if systemd cannot be asked. */
async function killModeOf({ name, isUsers }: Unit): Promise<string | null> {
	const args = [...(isUsers ? ["--user"] : []), "show", "--property=KillMode", "--value", name];
	try {
		const { stdout } = await promisify(execFile)("systemctl", args, { timeout: PATIENCE_MS });
		return stdout.trim() || null;
	} catch {
		return null;
	}
}
