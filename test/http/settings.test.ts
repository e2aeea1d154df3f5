// Settings that are changed through the API: what may be changed, what is refused, who did it, and the way back. The whole Keryx runs, so
// that what is written is also what holds.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { EDITABLE_SETTINGS } from "../../src/config/index.ts";
import { OPERATOR } from "../../src/store/index.ts";

const SECRET = "correct-horse-battery-staple";
const BEFORE = `# My Keryx.
session_reset: {max_messages: 150}   # enough
agent:
  # who answers
  instructions: |
    Be kind.
secrets: [A_SECRET]
`;

const folder = mkdtempSync(join(tmpdir(), "keryx-settings-"));
const home = join(folder, "home");
const file = join(home, "config.yaml");
let keryx: Keryx;

beforeAll(async () => {
	mkdirSync(home, { mode: 0o700 });
	writeFileSync(file, BEFORE, { mode: 0o600 });
	keryx = await createKeryx({
		home,
		env: { HOME: folder, TZ: "UTC", KERYX_GATEWAY_BUSY: "steer", A_SECRET: SECRET },
		store: "sqlite::memory:",
		report: { warn: () => {}, note: () => {} },
	});
	await keryx.start();
});
beforeEach(() => writeFileSync(file, BEFORE));
afterAll(async () => {
	await keryx.stop();
	rmSync(folder, { recursive: true, force: true });
});

const text = () => readFileSync(file, "utf8");
const version = async () => (await keryx.client.settings()).version;
const setting = async (key: string) =>
	(await keryx.client.settings()).settings.find((one) => one.key === key);
const newest = async () => (await keryx.client.settingsHistory()).changes[0];
const audited = async () =>
	(await keryx.store.auditLog({ scope: OPERATOR, limit: 1000 })).filter(({ kind }) =>
		kind.startsWith("config_"),
	);

test("a change is shown first, then written with every comment kept, and holds without a restart", async () => {
	const changes = { "session_reset.max_messages": 120, "display.tool_progress": "off" };
	const preview = await keryx.client.previewSettings({ changes });
	expect(preview).toMatchObject({ before: BEFORE, problems: [] });
	expect(text()).toBe(BEFORE);
	const { n } = await keryx.client.changeSettings({ changes, version: preview.version });
	expect(text()).toBe(preview.after);
	expect(text()).toBe(
		`${BEFORE.replace("{max_messages: 150}   # enough", "{ max_messages: 120 } # enough")}display:\n  tool_progress: off\n`,
	);
	await expect
		.poll(async () =>
			(await keryx.client.config()).entries.find(({ key }) => key === "display.tool_progress"),
		)
		.toMatchObject({ value: "off", from: "file" });
	expect(await newest()).toMatchObject({
		n,
		who: "operator",
		via: "api",
		edits: [
			{ key: "session_reset.max_messages", before: 150, after: 120 },
			{ key: "display.tool_progress", before: null, after: "off" },
		],
		undoes: null,
		failed: null,
		fixed: null,
	});
	expect((await audited()).at(-1)).toMatchObject({ n, kind: "config_changed", who: "operator" });
});

test("undo puts back what was there, and is refused once the setting has changed again", async () => {
	const change = async (value: number) =>
		keryx.client.changeSettings({ changes: { "agent.max_steps": value }, version: await version() });
	const first = await change(10);
	const shown = await keryx.client.previewSettings({ undo: first.n });
	expect(shown.after).toBe(BEFORE);
	const undone = await keryx.client.changeSettings({ undo: first.n, version: shown.version });
	expect(text()).toBe(BEFORE);
	expect(await newest()).toMatchObject({ n: undone.n, undoes: first.n });
	// Undoing the undo is a redo.
	await keryx.client.changeSettings({ undo: undone.n, version: await version() });
	expect((await setting("agent.max_steps"))?.value).toBe(10);
	const second = await change(20);
	await change(30);
	const late = keryx.client.changeSettings({ undo: second.n, version: await version() });
	await expect(late).rejects.toMatchObject({ code: "config.stale" });
	expect((await setting("agent.max_steps"))?.value).toBe(30);
	await expect(keryx.client.previewSettings({ undo: 999_999 })).rejects.toMatchObject({
		code: "store.not_found",
	});
});

test("a file that somebody saved meanwhile is left alone", async () => {
	const changes = { "agent.max_steps": 11 };
	const { version: old } = await keryx.client.previewSettings({ changes });
	writeFileSync(file, `${BEFORE}# a line of mine\n`);
	const entries = (await audited()).length;
	const late = keryx.client.changeSettings({ changes, version: old });
	await expect(late).rejects.toMatchObject({ code: "config.stale" });
	expect(text()).toBe(`${BEFORE}# a line of mine\n`);
	expect(await audited()).toHaveLength(entries);
});

test("of two changes made for the same file at the same time one is made, the other refused", async () => {
	const now = await version();
	const both = await Promise.allSettled(
		[12, 13].map((value) =>
			keryx.client.changeSettings({ changes: { "agent.max_steps": value }, version: now }),
		),
	);
	expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
	expect((await setting("agent.max_steps"))?.value).toBe(12);
});

test("each wrong value is named with what it may be, and nothing is written", async () => {
	const changes = {
		"session_reset.at_hour": 24,
		"session_reset.mode": "sometimes",
		"session_reset.timezone": "Nowhere/Atall",
		"compaction.enabled": "perhaps",
		"agent.max_steps": 5,
	};
	const { problems } = await keryx.client.previewSettings({ changes });
	expect(Object.fromEntries(problems.map(({ key, message }) => [key, message]))).toEqual({
		"session_reset.at_hour": expect.stringContaining("whole number from 0 to 23"),
		"session_reset.mode": expect.stringContaining("daily, idle, both or none"),
		"session_reset.timezone": expect.stringContaining("time zone"),
		"compaction.enabled": expect.stringContaining("true or false"),
	});
	const written = keryx.client.changeSettings({ changes, version: await version() });
	await expect(written).rejects.toMatchObject({ code: "config.invalid" });
	expect(text()).toBe(BEFORE);
});

test("only the settings of the list can be changed: no door, no wall, no program, no key", async () => {
	for (const [key, value] of Object.entries({
		"auth.telegram.allow_all": true,
		"approvals.mode": "off",
		"walls.mode": "off",
		hooks: "x",
		"http.host": "0.0.0.0",
		"agent.base_url": "http://evil.example",
		"agent.command": "/bin/sh",
		"agent.instructions.x": "y",
		"__proto__.x": "y",
	})) {
		const changes = Object.fromEntries([[key, value]]);
		const refused = keryx.client.changeSettings({ changes, version: await version() });
		await expect(refused, key).rejects.toMatchObject({ code: "argument.invalid" });
	}
	expect(text()).toBe(BEFORE);
	const guarded =
		/^(auth|approvals|confirmations|walls|tools|routing|profile|secrets|hooks|http|webhooks|privacy)\b/;
	expect(EDITABLE_SETTINGS.filter(({ key }) => guarded.test(key))).toEqual([]);
});

test("each setting says how it is changed", async () => {
	expect(await setting("session_reset.mode")).toMatchObject({
		type: "choice",
		choices: ["daily", "idle", "both", "none"],
		value: "both",
		from: "default",
	});
	expect(await setting("agent.instructions")).toMatchObject({
		type: "long_text",
		value: "Be kind.\n",
		from: "file",
	});
	expect(await setting("agent.max_steps")).toMatchObject({ type: "number", default: 60 });
	expect(await setting("session_reset.notify")).toMatchObject({ type: "boolean", value: true });
	expect(await setting("session_reset.timezone")).toMatchObject({ type: "text" });
});

test("a variable of the environment wins, so its setting cannot be changed here", async () => {
	expect(await setting("gateway.busy")).toMatchObject({
		value: "steer",
		from: "environment",
		fixed: expect.stringContaining("KERYX_GATEWAY_BUSY"),
	});
	const refused = keryx.client.previewSettings({ changes: { "gateway.busy": "queue" } });
	await expect(refused).rejects.toMatchObject({ code: "argument.invalid", field: "gateway.busy" });
});

test("no secret is shown, written or kept in the history, and a value that held one cannot be put back", async () => {
	const refused = keryx.client.changeSettings({
		changes: { "agent.instructions": `the password is ${SECRET}` },
		version: await version(),
	});
	await expect(refused).rejects.toMatchObject({ code: "argument.invalid", field: "agent.instructions" });
	writeFileSync(file, BEFORE.replace("Be kind.", `The password is ${SECRET}.`));
	expect(await setting("agent.instructions")).toMatchObject({ fixed: expect.stringContaining("secret") });
	const changes = { "agent.max_steps": 14 };
	const shown = await keryx.client.previewSettings({ changes });
	await keryx.client.changeSettings({ changes, version: shown.version });
	// The file is the person's own; what is answered and kept holds none of it.
	expect(text()).toContain(SECRET);
	const seen = [shown, await keryx.client.settings(), await keryx.client.settingsHistory(), await audited()];
	expect(JSON.stringify(seen)).not.toContain(SECRET);
});

test("a file that is wrong already is not touched, and says so", async () => {
	writeFileSync(file, "agent: [\n");
	const { problem, version: now } = await keryx.client.settings();
	expect(problem).not.toBeNull();
	const refused = keryx.client.changeSettings({ changes: { "agent.max_steps": 9 }, version: now });
	await expect(refused).rejects.toMatchObject({ code: "config.invalid" });
	await keryx.client.settingsHistory();
	expect(text()).toBe("agent: [\n");
});

test("null takes a key out; what is there already is no change", async () => {
	await keryx.client.changeSettings({
		changes: { "session_reset.max_messages": null },
		version: await version(),
	});
	expect(await setting("session_reset.max_messages")).toMatchObject({
		value: 200,
		from: "default",
		default: 200,
	});
	const same = keryx.client.changeSettings({
		changes: { "session_reset.max_messages": null },
		version: await version(),
	});
	await expect(same).rejects.toMatchObject({ code: "argument.invalid" });
	const neither = keryx.client.previewSettings({});
	await expect(neither).rejects.toMatchObject({ code: "argument.invalid" });
});

test("connecting a channel stands in the history too, and is taken back where it was made", async () => {
	writeFileSync(file, `${BEFORE}channels: { fax: { platform: fax, module: ./nothing.mjs } }\n`);
	await keryx.client.removeChannel({ name: "fax" });
	expect(await newest()).toMatchObject({
		edits: [{ key: "channels.fax", before: { platform: "fax", module: "./nothing.mjs" }, after: null }],
		fixed: expect.stringContaining("channels.fax"),
	});
});
