// A home for processes that leaves nothing behind: its host, everything it held, and its files are removed.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { inspect, localMachine, type ProcessMachine } from "../../src/processes/index.ts";
import { eventually } from "./soon.ts";

export class ProcessHome {
	readonly path = mkdtempSync(join(tmpdir(), "keryx-processes-"));
	/** An idle host ends at once, as far as a test can tell. */
	readonly place: ProcessMachine = localMachine(this.path, { idleMs: 100 });

	/** The host's pid, or null if none runs. Reading it briefly keeps the host from ending. */
	async hostPid(): Promise<number | null> {
		const backend = await this.place.find();
		await backend?.close();
		return (backend as { hostPid?: number } | null)?.hostPid ?? null;
	}

	/** Ends everything that still runs, and fails if something unlisted is alive. */
	async end(): Promise<void> {
		const backend = await this.place.find();
		for (const { id } of (await backend?.list()) ?? []) await backend?.kill(id, { graceMs: 0 });
		await backend?.close();
		for (const info of await inspect(this.path))
			if (info.status !== "running") await this.place.killLost(info, { graceMs: 0 });
		const host = await this.hostPid();
		await eventually(() => expect(host !== null && isRunning(host)).toBe(false));
		const ids = readdirSync(this.path, { recursive: true, encoding: "utf8" });
		rmSync(this.path, { recursive: true, force: true });
		// What was killed is gone when the kernel comes to it.
		await eventually(() =>
			expect(markedProcesses().filter(({ id }) => ids.some((name) => name.endsWith(id)))).toEqual([]),
		);
	}

	async killHost(): Promise<void> {
		const pid = await this.hostPid();
		if (pid === null) throw new Error("no host runs");
		process.kill(pid, "SIGKILL");
		await eventually(() => expect(isRunning(pid)).toBe(false));
	}
}

/** Not one that has ended and waits for its parent to take note. */
export function isRunning(pid: number): boolean {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		return !/\) [ZX] /.test(stat);
	} catch {
		return false;
	}
}

function markedProcesses(): { readonly pid: number; readonly id: string }[] {
	return readdirSync("/proc").flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			const [, id] =
				/(?:^|\0)KERYX_PROCESS=([^\0]+)\0/.exec(readFileSync(`/proc/${name}/environ`, "latin1")) ?? [];
			return id === undefined || !isRunning(Number(name)) ? [] : [{ pid: Number(name), id }];
		} catch {
			return [];
		}
	});
}
