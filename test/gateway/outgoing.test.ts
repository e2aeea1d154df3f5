// What a channel is given: files, in its own traits, notices of the classes that it takes, and nothing that is Keryx's own.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHANNEL_DEFAULTS, type ChannelSettings } from "../../src/gateway/channel.ts";
import { type Posting, toDeliveries } from "../../src/gateway/outbox/reply.ts";
import { createAttachTool } from "../../src/tools/index.ts";
import { FullChannel, SHOWS_ALL, type TRAITS } from "./full-channel.ts";
import { HOUR, MINUTE, OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
let channel: FullChannel;
let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-outgoing-"));
});
afterEach(async () => {
	await scene.end();
	rmSync(folder, { recursive: true, force: true });
});

async function start(options: SceneOptions = {}, traits: Partial<typeof TRAITS> = {}): Promise<void> {
	channel = new FullChannel(traits);
	scene = await Scene.start({
		agent: puppet,
		wrap: channel.wrap,
		tools: [createAttachTool({ workspaceOf: () => join(folder, "work"), limit: () => 300_000 })],
		...options,
	});
	mkdirSync(join(folder, "work/out"), { recursive: true });
}

const attach = (path: string, caption?: string) =>
	scene.say(`call attach ${JSON.stringify({ path, ...(caption && { caption }) })}`);

describe("attach", () => {
	test("sends a file of the workspace after the text, byte for byte, with its caption", async () => {
		await start();
		const bytes = Buffer.from(Array.from({ length: 290_000 }, (_, n) => (n * 7) % 251));
		writeFileSync(join(folder, "work/out/chart.png"), bytes);
		await attach("out/chart.png", "the *chart*");
		// Files are read outside of the test's clock.
		await expect.poll(() => channel.given.length).toBe(2);
		const [text, file] = channel.given;
		expect(text?.outgoing.body).toMatchObject({ plain: "done" });
		expect(file?.outgoing.body).toMatchObject({
			text: "the <i>chart</i>",
			plain: "the chart",
			attachments: [{ name: "chart.png", mediaType: "image/png", size: bytes.length }],
		});
		expect(file?.files.get("chart.png")?.equals(bytes)).toBe(true);
		// The model is told of it, and shown none of it.
		const history = JSON.stringify(scene.shown.at(-1)?.history);
		expect(history).toContain("chart.png (290 KB) will be sent with your answer.");
		expect(history).not.toContain('"blob"');
	});

	test("a long caption comes as messages above its file, whole, and a file of no bytes is told of", async () => {
		await start({}, { captionLimit: 100 });
		writeFileSync(join(folder, "work/a.txt"), "four");
		writeFileSync(join(folder, "work/empty.txt"), "");
		const words = "word ".repeat(50).trim();
		await attach("a.txt", words);
		await expect.poll(() => channel.given.length).toBe(3);
		expect(
			channel.given
				.slice(1)
				.map(({ outgoing }) => [outgoing.body.plain, outgoing.body.attachments?.[0]?.name]),
		).toEqual([
			[words, undefined],
			["", "a.txt"],
		]);
		await attach("empty.txt");
		await expect.poll(() => channel.given.length).toBe(5);
		expect(channel.given.at(-1)?.outgoing.body).toMatchObject({
			plain: expect.stringContaining("empty.txt (0 bytes) is part of this answer"),
		});
		expect(channel.given.at(-1)?.outgoing.body.attachments).toBeUndefined();
	});

	test("a file that the platform refuses is told of, with the reason, and is dead", async () => {
		await start();
		writeFileSync(join(folder, "work/a.txt"), "four");
		scene.world.behave = ({ n }) => (n === 2 ? "refuse" : "ok");
		await attach("a.txt");
		await expect.poll(() => scene.texts().length).toBe(2);
		expect(scene.texts().at(-1)).toMatch(
			/a\.txt<\/code> \(4 bytes\) could not be sent here: .+ You can find it on Keryx's page/,
		);
		const unsettled = await scene.store.deliveries({ scope: OPERATOR, which: "unsettled", limit: 10 });
		expect(unsettled.map(({ state, body }) => [state, body.attachments?.[0]?.name])).toEqual([
			["dead", "a.txt"],
		]);
	});

	test("refuses what is outside, links on any part of the way, folders and what is too large", async () => {
		await start();
		writeFileSync(join(folder, "secret.txt"), "not yours");
		writeFileSync(join(folder, "work/large.bin"), Buffer.alloc(300_001));
		symlinkSync(join(folder, "secret.txt"), join(folder, "work/link.txt"));
		symlinkSync(folder, join(folder, "work/up"));
		let answers = 0;
		for (const [path, why] of [
			["../secret.txt", "is not in your workspace"],
			[join(folder, "secret.txt"), "is not in your workspace"],
			["out/../../secret.txt", "is not in your workspace"],
			["link.txt", "is a link"],
			["up/secret.txt", "is a link"],
			["out", "is not a file"],
			["large.bin", "is larger than"],
			["nothing.txt", "There is no nothing.txt"],
		] as const) {
			await attach(path);
			await expect.poll(() => JSON.stringify(scene.shown.at(-1)?.history.at(-1))).toContain(why);
			await expect.poll(() => scene.texts().length).toBe(++answers);
		}
		expect(channel.given.filter(({ outgoing }) => outgoing.body.attachments)).toEqual([]);
	});

	test("where the chat cannot show files, a line names it and where it is", async () => {
		await start({}, { shows: { ...SHOWS_ALL, attachments: false } });
		writeFileSync(join(folder, "work/report.pdf"), "four");
		await attach("report.pdf");
		await expect.poll(() => scene.texts().length).toBe(2);
		expect(scene.texts().at(-1)).toContain("report.pdf</code> (4 bytes) is part of this answer");
		expect(channel.given.some(({ outgoing }) => outgoing.body.attachments)).toBe(false);
	});
});

describe("traits and notices", () => {
	test("a channel's own traits decide how its texts are cut and marked up", async () => {
		await start(
			{
				agent: () => puppet(),
				platform: { platform: "fax" },
				config: { auth: { fax: { allow_all: true } } },
			},
			{ name: "fax", label: "Fax", markup: "plain", messageLimit: { max: 64, unit: "utf16" } },
		);
		await scene.say("/whoami", { chat: "room" });
		expect(scene.texts("room").length).toBeGreaterThan(1);
		for (const text of scene.texts("room")) expect(text.length).toBeLessThanOrEqual(64);
		expect(scene.texts("room").join("")).not.toContain("<code>");
	});

	test("a limit that no answer can be cut to is refused with the channel; at the smallest one the answer comes", async () => {
		const fax = (max: number) =>
			({ name: "fax", label: "Fax", markup: "plain", messageLimit: { max, unit: "utf16" } }) as const;
		const options = { platform: { platform: "fax" }, config: { auth: { fax: { allow_all: true } } } };
		await expect(start(options, fax(31))).rejects.toThrow(
			/messageLimit\.max of platform fax is 31.*at least 32/,
		);
		await start(options, fax(32));
		await scene.say("/whoami", { chat: "room" });
		expect(scene.texts("room").length).toBeGreaterThan(1);
	});

	test("status is for one person, not for groups", async () => {
		await start({ durable: true });
		const group = { chat: "room", user: "bob", chatType: "group" } as const;
		await scene.say("hello");
		await scene.say("hello", group);
		await scene.die();
		scene.world.say({ chat: "ada", text: "hi", sentAt: scene.clock.now() });
		scene.world.say({ ...group, text: "hi", sentAt: scene.clock.now() });
		await scene.open(scene.clock.now() + HOUR / 2);
		const isTold = (chat: string) => scene.texts(chat).some((text) => text.includes("was offline"));
		expect([isTold("ada"), isTold("room")]).toEqual([true, false]);
	});

	test("unless the channel's settings say otherwise; what is no notice is always sent", async () => {
		const quiet: ChannelSettings = {
			...CHANNEL_DEFAULTS,
			notices: { dms: ["question"], groups: ["status"] },
		};
		await start({ settings: quiet });
		const { outlet } = scene.gateway;
		const chat = { platform: "telegram", account: "", chatId: "1" };
		const sent = (posting: object) =>
			[chat, { ...chat, group: true as const }].map(
				(destination) =>
					toDeliveries("text", { id: "x", destination, ...posting } as Posting, outlet).length > 0,
			);
		expect(sent({ kind: "notice", class: "question" })).toEqual([true, false]);
		expect(sent({ kind: "notice", class: "warning" })).toEqual([false, false]);
		expect(sent({ kind: "notice", class: "status" })).toEqual([false, true]);
		expect(sent({ kind: "reply" })).toEqual([true, true]);
		expect(sent({ kind: "command" })).toEqual([true, true]);
	});
});

test("a person drops what was given up, and what waits: neither is sent nor listed any more, and what is behind goes on", async () => {
	let isRefusing = true;
	await start({ platform: { behave: () => (isRefusing ? "refuse" : { retryAfterMs: 60_000 }) } });
	await scene.say("one");
	isRefusing = false;
	await scene.say("two");
	await scene.say("three");
	const listed = async (which: "waiting" | "unsettled") =>
		(await scene.store.deliveries({ scope: OPERATOR, which, limit: 10 })).map(({ id }) => id);
	const [dead] = await listed("unsettled");
	const [waits, behind] = await listed("waiting");
	for (const id of [dead, waits]) await scene.store.dropDelivery({ id: id as string });
	expect(await listed("unsettled")).toEqual([]);
	expect(await listed("waiting")).toEqual([behind]);
	scene.world.behave = () => "ok";
	await scene.clock.advance(2 * MINUTE);
	expect(scene.texts()).toHaveLength(1);
	expect(scene.world.attempts.filter(({ id }) => id === waits)).toHaveLength(1);
	await expect(scene.store.dropDelivery({ id: behind as string })).rejects.toMatchObject({
		code: "delivery.stale",
	});
});

test("marks in context, notes and carry-over never leave: everything that a channel is given is searched", async () => {
	const MARK = "zq-internal-mark";
	await start({
		config: {
			agent: { instructions: `${MARK}-persona` },
			instructions: { telegram: `${MARK}-platform` },
			session_reset: { mode: "none", max_messages: 4, timezone: "UTC" },
			display: { streaming: true, tool_progress: "all" },
		},
	});
	writeFileSync(join(folder, "work/report.pdf"), "four");
	const about = { chat: "room", user: "bob", chatType: "group" as const };
	await scene.say(`${MARK}-carried`);
	await scene.say("one");
	await scene.say("two");
	await scene.say('call danger {"what":"it"}');
	await scene.say("/deny");
	await attach("report.pdf");
	await expect.poll(() => channel.given.some(({ files }) => files.has("report.pdf"))).toBe(true);
	await scene.say("/new");
	await scene.say("/status");
	await scene.say("/sessions");
	await scene.say("three", about);
	await scene.clock.advance(HOUR);
	// It was planted: the agent was shown each of them.
	const shown = JSON.stringify(scene.shown);
	for (const mark of [`${MARK}-persona`, `${MARK}-platform`, "Carried over from the earlier session"])
		expect(shown).toContain(mark);
	const given = JSON.stringify([channel.given, scene.world.attempts]);
	expect(channel.given.length).toBeGreaterThan(8);
	const internal = scene.shown.flatMap(({ system, notes, history }) => [
		...system.split("\n"),
		...notes,
		...history.flatMap((message) =>
			message.role === "tool" || (message.role === "user" && message.kind === "note")
				? JSON.stringify(message.content).slice(1, -1).split("\\n")
				: [],
		),
	]);
	const telling = new Set(internal.map((line) => line.trim()).filter((line) => line.length > 24));
	expect(telling.size).toBeGreaterThan(10);
	for (const line of telling) expect(given).not.toContain(JSON.stringify(line).slice(1, -1));
});
