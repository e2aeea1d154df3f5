// Keryx's own log: lines of JSON, for its owner alone, bounded, without secrets and without what people write.
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createKeryx } from "../../src/app/index.ts";
import { createGatewayLog, type LogLevel } from "../../src/keeping/index.ts";
import { createScriptedAgent } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-log-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const linesOf = (path: string) =>
	readFileSync(path, "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);

function logAt(
	name: string,
	settings: { level: LogLevel; file_mb: number; keep: number },
	failed = (error: Error): void => {
		throw error;
	},
) {
	const path = join(root, name, "gateway.log");
	const log = createGatewayLog({
		path,
		settings: () => settings,
		hide: (text) => text.replaceAll("hunter2", "[hidden]"),
		clock: { now: () => Date.UTC(2026, 2, 10, 12) },
		failed,
	});
	return { path, log };
}

test("a line has time, level, area, event and ids, and no secret; levels below the set one are left out", async () => {
	const settings = { level: "warn" as LogLevel, file_mb: 1, keep: 2 };
	const { path, log } = logAt("levels", settings);
	log.write("info", "turn", "turn.ended", { turn: "t1" });
	log.write("error", "store", "lost", { message: "the key is hunter2" });
	settings.level = "info";
	log.write("info", "turn", "turn.ended", { turn: "t2" });
	await log.end();
	const time = "2026-03-10T12:00:00.000Z";
	expect(linesOf(path)).toEqual([
		{ time, level: "error", area: "store", event: "lost", message: "the key is [hidden]" },
		{ time, level: "info", area: "turn", event: "turn.ended", turn: "t2" },
	]);
	expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a long value is cut beside a secret, not inside it", async () => {
	const { path, log } = logAt("cut", { level: "info", file_mb: 1, keep: 2 });
	log.write("info", "test", "long", { text: `${"x".repeat(497)}hunter2${"y".repeat(100)}` });
	await log.end();
	expect(linesOf(path)).toMatchObject([{ text: `${"x".repeat(497)}[hi…` }]);
});

test("files and their number are bounded, whatever is written", async () => {
	const { path, log } = logAt("bounded", { level: "info", file_mb: 1, keep: 2 });
	for (let n = 0; n < 60; n++) {
		for (let m = 0; m < 200; m++) log.write("info", "test", "filled", { n, text: "x".repeat(480) });
		await log.end();
	}
	const folder = join(root, "bounded");
	expect(readdirSync(folder).toSorted()).toEqual(["gateway.log", "gateway.log.1", "gateway.log.2"]);
	for (const name of readdirSync(folder)) {
		expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1024 * 1024);
		expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
	}
	expect(linesOf(path).at(-1)).toMatchObject({ n: 59 });
});

test("fewer files are kept from the next rotation on, once log.keep is lowered", async () => {
	const settings = { level: "info" as LogLevel, file_mb: 1, keep: 3 };
	const { log } = logAt("fewer", settings);
	const fill = async (times: number) => {
		for (let n = 0; n < times; n++) {
			for (let m = 0; m < 2000; m++) log.write("info", "test", "filled", { n, text: "x".repeat(480) });
			await log.end();
		}
	};
	const names = () => readdirSync(join(root, "fewer")).toSorted();
	await fill(6);
	expect(names()).toEqual(["gateway.log", "gateway.log.1", "gateway.log.2", "gateway.log.3"]);
	settings.keep = 1;
	await fill(2);
	expect(names()).toEqual(["gateway.log", "gateway.log.1"]);
});

test("lines that the disk refuses are counted once it takes some again, and the failure is told once", async () => {
	const failures: string[] = [];
	const settings = { level: "info", file_mb: 1, keep: 1 } as const;
	const { path, log } = logAt("refused", settings, (error) => void failures.push(error.message));
	// A folder in the way of the file.
	mkdirSync(path, { recursive: true });
	for (let n = 0; n < 3; n++) {
		log.write("info", "test", "lost", { n });
		await log.end();
	}
	rmSync(path, { recursive: true });
	log.write("info", "test", "kept");
	await log.end();
	expect(failures).toHaveLength(1);
	expect(linesOf(path)).toMatchObject([{ event: "kept" }, { event: "lines_dropped", count: 3 }]);
});

test("half a line that a full disk left does not spoil the next one", async () => {
	const settings = { level: "info", file_mb: 1, keep: 1 } as const;
	const { path, log } = logAt("half", settings, () => {});
	mkdirSync(path, { recursive: true });
	log.write("info", "test", "lost");
	await log.end();
	rmSync(path, { recursive: true });
	writeFileSync(path, '{"time":"2026-03-10T12:0');
	log.write("info", "test", "kept");
	await log.end();
	const [half, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
	expect(half).toBe('{"time":"2026-03-10T12:0');
	expect(lines.map((line) => JSON.parse(line).event)).toEqual(["kept", "lines_dropped"]);
});

test("more than the disk takes is dropped, and the count is told", async () => {
	const { path, log } = logAt("dropped", { level: "info", file_mb: 100, keep: 0 });
	for (let n = 0; n < 20_000; n++) log.write("info", "test", "flood", { text: "x".repeat(200) });
	await log.end();
	log.write("info", "test", "after");
	await log.end();
	const lines = linesOf(path);
	const { count } = lines.find(({ event }) => event === "lines_dropped") as { count: number };
	const kept = lines.filter(({ event }) => event === "flood").length;
	expect(kept + count).toBe(20_000);
	expect(count).toBeGreaterThan(0);
	expect(lines.at(-1)).toMatchObject({ event: "after" });
});

test("a Keryx that runs logs what happens by id, and nothing of what people say", async () => {
	const home = join(root, "home");
	const agent = createScriptedAgent({
		script: { otherwise: [{ text: "the answer is zanzibar" }] },
		clock: systemClock,
	});
	const keryx = await createKeryx({ home, config: {}, agent, env: {}, report: { warn() {}, note() {} } });
	await keryx.start();
	const source = { platform: "local", chat_id: "cli", chat_type: "dm", user_id: "1" };
	const { id } = await keryx.client.send({ text: "my word is mango", client_message_id: "m1", source });
	await keryx.client.inbound({ id, wait: 30 });
	await keryx.stop();
	const path = join(home, "logs", "gateway.log");
	expect(existsSync(path)).toBe(true);
	const text = readFileSync(path, "utf8");
	expect(text).not.toMatch(/zanzibar|mango/);
	const lines = linesOf(path);
	const events = lines.map(({ event }) => event);
	for (const event of ["started", "inbound.accepted", "turn.ended", "delivery.sent", "stopped"])
		expect(events).toContain(event);
	expect(lines.find(({ event }) => event === "turn.ended")).toMatchObject({
		level: "info",
		area: "turn",
		turn: expect.any(String),
		conversation: expect.any(String),
		facts: { outcome: "completed" },
	});
});
