// A home with a process host of its own, which leaves nothing behind: neither processes nor files nor itself.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import {
	connectHost,
	type HostClient,
	inspect,
	killSurvivors,
	type ProcessInfo,
	type SpawnRequest,
} from "../../src/processes/index.ts";

import { eventually } from "../support/soon.ts";

export const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };

export class HostScene {
	readonly home: string;
	readonly #ids: string[] = [];
	readonly #clients: HostClient[] = [];

	constructor(folder = tmpdir()) {
		this.home = mkdtempSync(join(folder, "keryx-host-"));
	}

	async connect(): Promise<HostClient> {
		const client = await connectHost({ home: this.home, start: true, idleMs: 300 });
		this.#clients.push(client);
		return client;
	}

	request(argv: readonly string[], options: Partial<SpawnRequest> = {}): SpawnRequest {
		const id = `proc_${randomBytes(6).toString("hex")}`;
		this.#ids.push(id);
		return { id, argv, cwd: this.home, env: ENV, pty: null, maxLogBytes: 1024 * 1024, ...options };
	}

	script(text: string, options: Partial<SpawnRequest> = {}): SpawnRequest {
		return this.request(["sh", "-c", text], options);
	}

	/** Ends everything, then looks whether that is so. */
	async close(): Promise<void> {
		if (this.#ids.length > 0) {
			const client = await this.connect();
			for (const { id } of await client.list()) await client.kill(id, { graceMs: 0 });
		}
		const pids = new Set(this.#clients.map(({ hostPid }) => hostPid));
		for (const client of this.#clients) await client.close();
		expect(isAnyLeft(this.#ids)).toBe(false);
		for (const pid of pids) await gone(pid);
		for (const { id } of await inspect(this.home)) await killSurvivors(this.home, id);
		rmSync(this.home, { recursive: true, force: true });
	}
}

export async function ended(client: HostClient, id: string): Promise<ProcessInfo> {
	const told = Promise.withResolvers<ProcessInfo>();
	const stop = client.onEnd((info) => info.id === id && told.resolve(info));
	const now = await client.get(id);
	if (now.status !== "running") told.resolve(now);
	const info = await told.promise;
	stop();
	return info;
}

export async function until(client: HostClient, id: string, text: string): Promise<string> {
	let seen = "";
	for await (const { data } of client.follow(id)) {
		seen += data.toString("latin1");
		if (seen.includes(text)) return seen;
	}
	throw new Error(`${id} ended after ${JSON.stringify(seen)}`);
}

/** Whether a process carries one of these ids. */
export function isAnyLeft(ids: readonly string[]): boolean {
	const marks = new Set(ids.map((id) => `KERYX_PROCESS=${id}`));
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.some((pid) =>
			readText(`/proc/${pid}/environ`)
				.split("\0")
				.some((entry) => marks.has(entry)),
		);
}

/** Waits until a process is no more. */
export async function gone(pid: number): Promise<void> {
	const state = () => /\) (.)/.exec(readText(`/proc/${pid}/stat`))?.[1] ?? "Z";
	await eventually(() => expect(state()).toBe("Z"));
}

/** Empty where there is nothing to read. */
export function readText(file: string): string {
	try {
		return readFileSync(file, "latin1");
	} catch {
		return "";
	}
}
