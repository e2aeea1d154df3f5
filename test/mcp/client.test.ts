// MCP servers as tools of the agent: published ones, and one that misbehaves in every way. The walls are real, the programs too.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { published, running, Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
	scene = new Scene();
});
afterEach(async () => {
	await scene.end();
});

const connected = async (name: string) =>
	expect
		.poll(async () => (await scene.servers()).servers.find((one) => one.name === name)?.state)
		.toBe("connected");

describe("published servers", () => {
	test("everything, filesystem and memory are used by the agent", async () => {
		const files = join(scene.folder, "files");
		const { mkdirSync } = await import("node:fs");
		mkdirSync(files);
		writeFileSync(join(files, "note.txt"), "the pelican eats at noon");
		await scene.start(
			{
				every: { command: process.execPath, args: [published("everything")], confirm: "never" },
				files: { command: process.execPath, args: [published("filesystem"), files] },
				memory: {
					command: process.execPath,
					args: [published("memory")],
					env: ["MEMORY_FILE_PATH"],
					confirm: "never",
				},
			},
			{ env: { MEMORY_FILE_PATH: join(scene.folder, "memory.jsonl") } },
		);
		expect(await scene.ask('call every__get-sum {"a":19,"b":23}')).toContain("42");
		expect(await scene.ask(`call files__read_text_file {"path":"${files}/note.txt"}`)).toContain("pelican");
		expect(
			await scene.ask(
				'call memory__create_entities {"entities":[{"name":"Ada","entityType":"person","observations":["likes tea"]}]}',
			),
		).toContain("Ada");
		expect(readFileSync(join(scene.folder, "memory.jsonl"), "utf8")).toContain("likes tea");
		// A picture is an attachment, and a tool that writes asks first.
		expect(await scene.ask("call every__get-tiny-image")).toContain("image");
		const [conversation] = (await scene.keryx.client.conversations()).conversations;
		const { messages } = await scene.keryx.client.transcript({ session: conversation?.live_session ?? "" });
		expect(JSON.stringify(messages)).toMatch(/"type":"image"[^}]*"media_type":"image\/png"/);
		expect(await scene.ask(`call files__write_file {"path":"${files}/new.txt","content":"x"}`)).toContain(
			"Call the tool write_file of the MCP server files",
		);
		// Resources as attachments, prompts as commands.
		expect(await scene.ask('call mcp_resource {"server":"every"}')).toContain("demo://resource");
		expect(await scene.ask("/every:args-prompt city=Oslo")).toContain("Oslo");
		expect(await scene.ask("/mcp")).toContain("/every:args-prompt city=...");
	});
});

describe("a server that misbehaves", () => {
	test("crashes, hangs, floods, changes its tools and answers 50 MB without touching the other", async () => {
		await scene.start({
			good: scene.rogue("good", { confirm: "never" }),
			bad: scene.rogue("good", { confirm: "never" }),
			crash: scene.rogue("crash"),
			mute: scene.rogue("mute"),
			old: scene.rogue("old", { confirm: "never" }),
		});
		const pid = await scene.ask("call good__pid");
		expect(await scene.ask("call old__ping"), "one that dies when asked about the new protocol").toContain(
			"ping was called",
		);
		expect(await scene.ask("call bad__huge")).toContain("longer than 8");
		expect(await scene.ask("call bad__ping"), "the connection stays").toContain("ping was called");
		expect(await scene.ask("call bad__grow")).toContain("grown");
		await expect.poll(() => scene.ask("which")).toContain("bad__extra_1");
		await scene.ask("call bad__die");
		await connected("bad");
		expect(await scene.ask("call bad__ping"), "started again").toContain("ping was called");
		await scene.ask("call bad__flood");
		await expect
			.poll(async () => (await scene.servers()).servers.find((one) => one.name === "bad")?.last_failure ?? "")
			.toContain("nobody asked for");
		const { servers } = await scene.servers();
		const crash = servers.find((one) => one.name === "crash");
		expect(crash).toMatchObject({ last_failure: expect.stringContaining("no such thing"), tools: [] });
		expect(["waiting", "broken", "starting"]).toContain(crash?.state);
		expect(await scene.ask("call good__pid"), "the good one is the same program all along").toBe(pid);
		expect(running(scene.folder).length, "never more than one program each").toBeLessThanOrEqual(5);
	});

	test("the last words of one that dies are cut, and leave no part of a secret", async () => {
		await scene.start(
			{ it: scene.rogue("confess") },
			{ env: { DEPLOY_KEY: "k3y-".repeat(10) }, config: { secrets: ["DEPLOY_KEY"], walls: { mode: "off" } } },
		);
		const failure = async () => (await scene.servers()).servers[0]?.last_failure ?? "";
		await expect.poll(failure, { timeout: 8000 }).toMatch(/last output: /);
		expect(await failure()).toMatch(/last output: (?:\$\{secret:DEPLOY_KEY\})?x+$/);
	});

	test("a long prompt is cut, and leaves no part of a secret", async () => {
		await scene.start(
			{ it: scene.rogue("tell") },
			{ env: { DEPLOY_KEY: "k3y-".repeat(10) }, config: { secrets: ["DEPLOY_KEY"], walls: { mode: "off" } } },
		);
		await connected("it");
		const answered = () =>
			scene.channel.world.visible("chat-7").flatMap(({ text }) => text.match(/x{20,}.*/gs) ?? []);
		await scene.ask("/it:tale");
		await expect.poll(() => answered().join("").length, { timeout: 8000 }).toBeGreaterThanOrEqual(49_000);
		expect(answered().join("")).toMatch(/^x+$/);
	});

	test("I12: a secret in what a server says of its tools is hidden from the model and in the API", async () => {
		const described: string[] = [];
		const agent = scene.agent() as unknown as { step(input: { tools: readonly object[] }): unknown };
		const watched = {
			...agent,
			step: (input: { tools: readonly object[] }) => {
				described.push(JSON.stringify(input.tools));
				return agent.step(input);
			},
		};
		await scene.start(
			{ it: scene.rogue("tell") },
			{
				env: { DEPLOY_KEY: "k3y-".repeat(10) },
				config: { secrets: ["DEPLOY_KEY"], walls: { mode: "off" } },
				agent: watched as never,
			},
		);
		await connected("it");
		await scene.ask("hello");
		for (const shown of [JSON.stringify(await scene.servers()), described.join()]) {
			expect(shown).toContain("It has •••");
			expect(shown).not.toContain("k3y-");
		}
	});

	test("a call that is never answered ends with its time, and the server goes on", async () => {
		await scene.start(
			{ it: scene.rogue("good", { confirm: "never" }) },
			{ config: { turn: { tool_seconds: 2 } } },
		);
		await connected("it");
		expect(await scene.ask("call it__hang")).toMatch(/unknown whether it did it.*(took longer|timed out)/i);
		expect((await scene.servers()).servers[0]).toMatchObject({ state: "connected", starts: 1 });
	});

	test("names and annotations of a server decide nothing", async () => {
		await scene.start({ it: scene.rogue() });
		const names = (await scene.ask("which")).split(" ").filter((name) => name.startsWith("it__"));
		expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
		expect(await scene.ask("call it__ping"), "called read-only").toContain("ping was called");
		expect(await scene.ask("call it__unsaid"), "nothing is said of it").toContain("Call the tool unsaid");
		expect(await scene.ask("call it__write")).toContain("Call the tool write");
	});
});

describe("I18: whose tools they are", () => {
	test("roles, profiles and lists decide who sees a server", async () => {
		await scene.start({
			mine: scene.rogue("good", { confirm: "never" }),
			ours: scene.rogue("good", { confirm: "never", roles: ["owner", "member"], tools: ["ping"] }),
			theirs: scene.rogue("good", { profiles: [] }),
		});
		const seen = async (user: string) =>
			(await scene.ask("which", user)).split(" ").filter((name) => name.includes("__"));
		expect((await seen("8")).every((name) => name === "ours__ping")).toBe(true);
		expect(await seen("7")).toEqual(expect.arrayContaining(["mine__ping", "ours__ping"]));
		expect((await seen("7")).some((name) => name.startsWith("theirs__"))).toBe(false);
		expect(await scene.ask("call mine__ping", "8")).toContain("There is no tool named mine__ping");
		expect(await scene.ask("which", "8")).not.toContain("mcp_resource");
		expect(await scene.ask("/mcp", "8")).not.toContain("mine");
	});
});

test("it is one program per server, ended with Keryx", async () => {
	await scene.start({ one: scene.rogue("good", { confirm: "never" }), two: scene.rogue() });
	await connected("one");
	await connected("two");
	expect(running(scene.folder)).toHaveLength(2);
	await scene.keryx.stop();
	expect(running(scene.folder)).toHaveLength(0);
});
