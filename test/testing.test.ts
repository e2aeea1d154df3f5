// The driver of kill points, against a real process and a real store, and a virtual clock that waits for a store's threads.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Engine, NO_SECRETS, openEngine, openStore, storeOn } from "../src/store/index.ts";
import {
	createVirtualClock,
	killingEngine,
	type TrackedEngine,
	trackedEngine,
} from "../src/testing/index.ts";
import { countedIds } from "./support/clock.ts";
import { programFile } from "./support/programs.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-testing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WRITER = programFile(new URL("./support/killed-writer.ts", import.meta.url));
const WRITES = 3;

function runWriter(path: string, at: number, when: string) {
	const child = spawn(process.execPath, [
		"--disable-warning=ExperimentalWarning",
		WRITER,
		path,
		String(at),
		when,
	]);
	let acknowledged = "";
	let stderr = "";
	child.stdout.on("data", (data) => (acknowledged += data));
	child.stderr.on("data", (data) => (stderr += data));
	return new Promise<{ signal: string | null; acknowledged: string[]; stderr: string }>((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (_code, signal) =>
			resolve({ signal, acknowledged: acknowledged.split("\n").filter(Boolean), stderr }),
		);
	});
}

async function committed(path: string): Promise<number> {
	const store = await openStore({
		url: `sqlite:${path}`,
		clock: { now: () => 0 },
		ids: countedIds(),
		secrets: NO_SECRETS,
	});
	const items = await store.waitingItems({ scope: { kind: "operator" }, after: 0, limit: 10 });
	await store.close();
	return items.length;
}

describe("the driver of kill points", () => {
	const points = [1, WRITES].flatMap((at) => [
		{ at, when: "before" } as const,
		{ at, when: "after" } as const,
	]);
	test.each(points)("ends the process for good $when write $at", async ({ at, when }) => {
		const path = join(folder, `${when}-${at}.db`);
		const { signal, acknowledged, stderr } = await runWriter(path, at, when);
		expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
		// Its caller never learned of the write; whether it is there is what tells the two points apart.
		expect(acknowledged).toHaveLength(at - 1);
		expect(await committed(path)).toBe(when === "before" ? at - 1 : at);
	});

	test("leaves everything as it is where no write has that number", async () => {
		const path = join(folder, "never.db");
		const { signal, acknowledged, stderr } = await runWriter(path, 0, "before");
		expect({ signal, stderr, count: acknowledged.length }).toEqual({
			signal: null,
			stderr: "",
			count: WRITES,
		});
		expect(await committed(path)).toBe(WRITES);
	});

	test("counts refused writes too, and names each one before it is made", async () => {
		const seen: string[] = [];
		let killed = 0;
		const engine: Engine = {
			epoch: 1,
			write: (name) => (name === "undo" ? Promise.reject(new Error("refused")) : Promise.resolve(name)),
			read: () => Promise.resolve(null),
			onCommit: () => () => {},
			close: () => Promise.resolve(),
		};
		const driven = killingEngine(engine, {
			at: 2,
			when: "after",
			onWrite: (n, name) => seen.push(`${n} ${name}`),
			kill: () => killed++,
		});
		expect(await driven.write("accept", {}, { now: 0 })).toBe("accept");
		let learned = false;
		driven.write("undo", {}, { now: 0 }).then(
			() => (learned = true),
			() => (learned = true),
		);
		expect(await driven.write("redo", {}, { now: 0 })).toBe("redo");
		await new Promise((resolve) => setImmediate(resolve));
		expect({ killed, learned, seen }).toEqual({
			killed: 1,
			learned: false,
			seen: ["1 accept", "2 undo", "3 redo"],
		});
	});
});

describe("a virtual clock over a tracked engine", () => {
	test("waits for the store's threads between two timers", async () => {
		let engine: TrackedEngine | undefined;
		const clock = createVirtualClock(1000, { settle: async () => engine?.idle() });
		engine = trackedEngine(await openEngine({ url: `sqlite:${join(folder, "clock.db")}`, clock }));
		const store = storeOn(engine, { clock, ids: countedIds(), secrets: NO_SECRETS });
		const seen: string[] = [];
		const say = async (id: string) => {
			const { key } = await store.accept({
				kind: "person",
				source: { platform: "telegram", chat_id: "1" },
				platformMessage: id,
				content: "hello",
				routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
				as: { kind: "accept" },
			});
			// More reads, one after the other, than the clock would wait for by itself.
			for (let n = 0; n < 20; n++)
				await store.waitingItems({ scope: { kind: "operator" }, after: 0, limit: 10 });
			const items = await store.waitingItems({ scope: { kind: "operator" }, after: 0, limit: 10 });
			seen.push(`${id} at ${clock.now()}: ${items.length} for ${key}`);
		};
		clock.after(10, () => void say("a"));
		clock.after(11, () => void say("b"));
		await clock.advance(11);
		expect(seen).toEqual([
			"a at 1010: 1 for agent:main:telegram:dm:1",
			"b at 1011: 2 for agent:main:telegram:dm:1",
		]);
		await store.close();
	});
});
