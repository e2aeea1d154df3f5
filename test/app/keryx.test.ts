// A Keryx in a program of one's own: everything injectable is used, nothing listens, and secure defaults hold.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createKeryx, defineTool, type Keryx, type KeryxOptions } from "../../src/app/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { openEngine } from "../../src/store/index.ts";
import { createScriptedAgent, createScriptedChannel } from "../../src/testing/index.ts";

let folder: string;
let home: string;
const opened: Keryx[] = [];

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "keryx-embed-"));
	home = join(folder, "home");
	mkdirSync(join(folder, "data"));
});
afterEach(async () => {
	await Promise.all(opened.splice(0).map((keryx) => keryx.stop()));
	rmSync(folder, { recursive: true, force: true });
});

const QUIET = { warn: () => {}, note: () => {} };
/** In the home, where the others are in memory. */
const KEPT = { store: openEngine };

async function create(options: Partial<KeryxOptions> = {}): Promise<Keryx> {
	const keryx = await createKeryx({
		home,
		env: { HOME: folder, XDG_DATA_HOME: join(folder, "data"), TZ: "UTC" },
		store: "sqlite::memory:",
		report: QUIET,
		config: { auth: { pigeon: { allow: [{ id: "7", role: "owner" }] } } },
		...options,
	});
	opened.push(keryx);
	return keryx;
}

/** A program's own channel, and what its user sees. */
function pigeons() {
	const channel = createScriptedChannel({ platform: "pigeon", clock: systemClock, edit: false });
	const { world } = channel;
	return {
		channel,
		ask: async (text: string) => {
			const before = world.visible("42").length;
			world.say({ chat: "42", user: "7", text });
			await world.until(() => world.visible("42").length > before);
			return world.visible("42").at(-1)?.text;
		},
	};
}

const echo = createScriptedAgent({
	script: { otherwise: [{ text: "You said {{input}}" }] },
	clock: systemClock,
});

describe("what a program brings", () => {
	test("its channel, agent and command are used, and nothing is written outside the home", async () => {
		const { channel, ask } = pigeons();
		const keryx = await create({
			...KEPT,
			channels: [channel],
			agent: echo,
			commands: [
				{
					name: "weather",
					usage: "/weather <town>",
					about: "how it is there",
					answer: ({ args }) => `Rain in ${args}.`,
				},
			],
		});
		await keryx.start();
		expect(await ask("hello")).toBe("You said hello");
		expect(await ask("/weather Oslo")).toBe("Rain in Oslo.");
		expect(await ask("/help")).toMatch(/\/weather <town> +how it is there/);
		expect((await keryx.client.commands()).commands.at(-1)).toEqual({
			name: "weather",
			usage: "/weather <town>",
			about: "how it is there",
		});
		await keryx.stop();
		expect(readdirSync(folder).sort()).toEqual(["data", "home"]);
		expect(readdirSync(join(folder, "data"))).toEqual([]);
		const sockets = readdirSync(home).filter((name) => statSync(join(home, name)).isSocket());
		expect(sockets).toEqual([]);
	});

	test("its tool is called by the agent, and the agent's files are in the home", async () => {
		const { channel, ask } = pigeons();
		const rolled: number[] = [];
		const roll = defineTool({
			name: "roll",
			description: "rolls a die",
			input: z.object({ sides: z.number() }),
			repeatable: true,
			run: async ({ sides }) => {
				rolled.push(sides);
				return { content: "4" };
			},
		});
		const agent = createScriptedAgent({
			script: { otherwise: [{ tools: [{ name: "roll", input: { sides: 6 } }] }, { text: "done" }] },
			clock: systemClock,
		});
		const keryx = await create({ channels: [channel], agent, tools: [roll] });
		await keryx.start();
		expect(await ask("roll")).toBe("done");
		expect(rolled).toEqual([6]);
		const [conversation] = (await keryx.client.conversations()).conversations;
		const workspace = await keryx.gateway.workspaceOf(conversation?.id as never);
		expect(workspace.startsWith(join(home, "files"))).toBe(true);
	});

	test("what it says of its platform decides how an answer is cut", async () => {
		const { channel } = pigeons();
		const { world } = channel;
		const keryx = await create({
			channels: [channel],
			agent: createScriptedAgent({
				script: { otherwise: [{ text: "word ".repeat(60) }] },
				clock: systemClock,
			}),
			platforms: [
				{
					name: "pigeon",
					label: "Pigeon post",
					messageLimit: { max: 100, unit: "utf16" },
					piiSafe: false,
					notifyBoundaries: true,
					markup: "plain",
				},
			],
		});
		await keryx.start();
		world.say({ chat: "42", user: "7", text: "hello" });
		await world.until(() => world.visible("42").length >= 3);
		const shown = world.visible("42").map(({ text }) => text);
		for (const text of shown) expect(text.length).toBeLessThanOrEqual(100);
	});

	test("a command that is there already, or that nobody could write, is refused", async () => {
		const answer = () => "";
		for (const name of ["help", "Weather", "two words", ""])
			await expect(create({ ...KEPT, commands: [{ name, about: "", answer }] })).rejects.toMatchObject({
				code: "argument.invalid",
				field: "commands",
			});
		// What was opened before that is free again.
		await create(KEPT);
	});

	test("its engine is opened with what the home keeps outside the store", async () => {
		let opened = 0;
		const keryx = await create({
			store: (options) => {
				opened++;
				expect(options).toMatchObject({ url: `sqlite:${home}/keryx.db`, access: "own" });
				return openEngine({ ...options, url: "sqlite::memory:" });
			},
		});
		await keryx.start();
		expect([opened, existsSync(join(home, "keryx.db"))]).toEqual([1, false]);
	});

	test("a store in memory can be begun anew, without a word on the audit of the last one", async () => {
		const warnings: string[] = [];
		const report = { warn: (text: string) => void warnings.push(text), note: () => {} };
		for (let n = 0; n < 2; n++) {
			const keryx = await create({ report });
			await keryx.start();
			await keryx.client.createToken({ name: "ci", role: "agent" });
			await keryx.stop();
		}
		expect(warnings.filter((text) => text.includes("audit"))).toEqual([]);
	});
});

describe("the configuration", () => {
	test("an object is checked like the file, and its error names the key alone", async () => {
		await expect(create({ config: { turn: { max_minuts: 3 } } as never })).rejects.toMatchObject({
			code: "config.invalid",
			field: "turn.max_minuts",
			message: expect.stringMatching(/^createKeryx: .*did you mean/),
		});
		await expect(create({ config: { gateway: { max_turns: 0 } } })).rejects.toMatchObject({
			field: "gateway.max_turns",
		});
	});

	test("what the program gave holds: neither config.yaml nor a variable changes it", async () => {
		const env = { KERYX_TURN_MAX_MINUTES: "7" };
		const keryx = await create({ config: { turn: { max_minutes: 3 } }, env });
		const { entries } = await keryx.client.config();
		expect(entries.find(({ key }) => key === "turn.max_minutes")?.value).toBe(3);
	});

	test("a channel that the program brings is no unreached platform; without one, it is", async () => {
		const warnings: string[] = [];
		const report = { warn: (text: string) => void warnings.push(text), note: () => {} };
		const keryx = await create({ channels: [pigeons().channel], report });
		await keryx.start();
		await keryx.stop();
		expect(warnings).toEqual([]);
		await (await create({ report })).start();
		expect(warnings).toEqual([expect.stringContaining("no channel for pigeon")]);
	});
});

describe("who may do what", () => {
	test("a stranger in a program's channel is not answered unless the configuration lets them in", async () => {
		const { channel } = pigeons();
		const keryx = await create({
			channels: [channel],
			config: {},
			agent: echo,
		});
		await keryx.start();
		channel.world.say({ chat: "42", user: "7", text: "hello" });
		await channel.world.until(() => channel.world.acknowledged === 1);
		expect((await keryx.client.conversations()).conversations).toEqual([]);
	});

	test("whoever calls the mounted API needs a token, and no foreign name leads to it", async () => {
		const keryx = await create();
		await keryx.start();
		const call = (host: string, authorization?: string) =>
			keryx.api.fetch(
				new Request("http://127.0.0.1:3000/api/conversations", {
					headers: { host, ...(authorization && { authorization }) },
				}),
			);
		expect((await call("127.0.0.1:3000")).status).toBe(401);
		const { token: secret } = await keryx.client.createToken({ name: "page", role: "operator" });
		expect((await call("127.0.0.1:3000", `Bearer ${secret}`)).status).toBe(200);
		expect((await call("evil.example", `Bearer ${secret}`)).status).toBe(421);
		for (const host of ["b[ad", ""]) expect((await call(host, `Bearer ${secret}`)).status).toBe(421);
	});

	test("with an address it is reached by that name", async () => {
		const keryx = await create({ url: "https://bot.example.org" });
		const { token: secret } = await keryx.client.createToken({ name: "page", role: "operator" });
		const call = (host: string) =>
			keryx.api.fetch(
				new Request(`https://${host}/api/conversations`, {
					headers: { host, authorization: `Bearer ${secret}` },
				}),
			);
		expect([(await call("bot.example.org")).status, (await call("evil.example")).status]).toEqual([200, 421]);
	});
});

describe("start and stop", () => {
	test("each happens once; a stopped one is not started again", async () => {
		const keryx = await create();
		await Promise.all([keryx.start(), keryx.start()]);
		await Promise.all([keryx.stop(), keryx.stop()]);
		const never = await create();
		await never.stop();
		await expect(never.start()).rejects.toMatchObject({ code: "gateway.stopped" });
	});

	test("a start that fails leaves nothing behind once it is stopped", async () => {
		const keryx = await create({
			...KEPT,
			config: { webhooks: { ci: { secret_env: "CI_SECRET" } } },
		});
		await expect(keryx.start()).rejects.toMatchObject({
			code: "config.invalid",
			field: "webhooks.ci.secret_env",
		});
		await keryx.stop();
		await (await create(KEPT)).start();
	});

	test("one that only reads sees what the owner wrote, and cannot be started", async () => {
		const { channel, ask } = pigeons();
		const owner = await create({ ...KEPT, channels: [channel], agent: echo });
		await owner.start();
		await ask("hello");
		const reader = await create({ ...KEPT, access: "read" });
		expect((await reader.client.conversations()).conversations).toHaveLength(1);
		await expect(reader.start()).rejects.toMatchObject({ code: "argument.invalid", field: "access" });
	});
});
