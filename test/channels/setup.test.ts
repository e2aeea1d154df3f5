// Connecting a chat platform while Keryx runs: by the command line, by the API, and by a module of one's own.
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { createDiscordPeer } from "../peers/discord/index.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { call } from "../support/keryx.ts";

let home: string;
let keryx: Keryx | undefined;
let peer: TelegramPeer;
const said: string[] = [];
const report = { warn: (text: string) => void said.push(text), note: () => {} };

beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-setup-"));
	peer = await createTelegramPeer();
	said.length = 0;
});
afterEach(async () => {
	await keryx?.stop();
	keryx = undefined;
	await peer.close();
	rmSync(home, { recursive: true, force: true });
});

async function start(): Promise<Keryx> {
	keryx = await createKeryx({ home, report, env: { TZ: "UTC", XDG_DATA_HOME: `${home}/data` } });
	await keryx.start();
	return keryx;
}
const keryxCommand = (args: readonly string[], stdin = "") =>
	call(args, { stdin, env: { KERYX_HOME: home } });
const stateOf = async (running: Keryx, platform: string) => {
	const { channels } = await running.client.channels();
	return channels.find((one) => one.platform === platform)?.state ?? "none";
};

test("a channel that is added is connected at once, answers, and is gone when it is removed", async () => {
	writeFileSync(join(home, "config.yaml"), "auth: { telegram: { allow_all: true } } # mine\n", {
		mode: 0o600,
	});
	const running = await start();
	const added = await keryxCommand(
		["channels", "add", "telegram", "--api-root", peer.apiRoot],
		`${peer.bot.token}\n`,
	);
	expect(added).toMatchObject({ code: 0 });
	expect(added.stdout).toContain(`@${peer.bot.user.username} is connected as channels.telegram.`);
	expect(added.stdout + added.stderr + readFileSync(join(home, "config.yaml"), "utf8")).not.toContain(
		peer.bot.token,
	);
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("# mine");
	expect(statSync(join(home, "keys", "telegram.token")).mode & 0o777).toBe(0o600);
	await expect.poll(() => stateOf(running, "telegram")).toBe("connected");

	const ada = peer.user("Ada");
	const chat = peer.dm(ada);
	peer.say(ada, chat, "hello");
	await expect.poll(() => peer.answers(chat).length).toBeGreaterThan(0);

	expect(await keryxCommand(["channels", "test", "telegram"])).toMatchObject({ code: 0 });
	expect(await keryxCommand(["channels", "remove", "telegram"])).toMatchObject({ code: 0 });
	await expect.poll(() => stateOf(running, "telegram")).toBe("none");
	expect(existsSync(join(home, "keys", "telegram.token"))).toBe(false);
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("# mine");
});

test("Discord is set up from nothing by one command, and answers whoever is let in", async () => {
	const discord = await createDiscordPeer();
	writeFileSync(join(home, "config.yaml"), "auth: { discord: { allow_all: true } }\n", { mode: 0o600 });
	const running = await start();
	const added = await keryxCommand(
		["channels", "add", "discord", "--api-root", discord.apiRoot],
		`${discord.bot.token}\n`,
	);
	expect(added).toMatchObject({ code: 0 });
	expect(added.stdout).toContain("@keryx is connected as channels.discord.");
	expect(added.stderr).toContain(`client_id=${discord.bot.id}`);
	expect(added.stdout + added.stderr + readFileSync(join(home, "config.yaml"), "utf8")).not.toContain(
		discord.bot.token,
	);
	await expect.poll(() => stateOf(running, "discord")).toBe("connected");
	const ada = discord.user("Ada");
	const dm = discord.dm(ada);
	discord.say(ada, dm, "hello");
	await expect.poll(() => discord.answers(dm).length).toBeGreaterThan(0);
	const wrong = await keryxCommand(
		["channels", "add", "discord", "--name", "other", "--account", "other", "--api-root", discord.apiRoot],
		"not-a-token",
	);
	expect(wrong.code).toBe(1);
	expect(wrong.stderr).toContain("Discord does not accept the token");
	await running.stop();
	await discord.close();
});

test("a Telegram that posts is set up by one option, and leaves no webhook behind when it is removed", async () => {
	writeFileSync(join(home, "config.yaml"), "auth: { telegram: { allow_all: true } }\n", { mode: 0o600 });
	const running = await start();
	const front = await serveOnPort(running.api, { host: "127.0.0.1", port: 0 });
	const url = `http://127.0.0.1:${front.port}`;
	const add = ["channels", "add", "telegram", "--api-root", peer.apiRoot, "--webhook-url"];
	const added = await keryxCommand([...add, url], `${peer.bot.token}\n`);
	expect(added).toMatchObject({ code: 0 });
	// The address alone means Keryx, so the channel's path is added.
	expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain(
		`webhook_url: ${url}/channels/telegram/events`,
	);
	await expect.poll(() => stateOf(running, "telegram")).toBe("connected");
	expect(peer.bot.queue.pusher.webhook?.url).toBe(`${url}/channels/telegram/events`);
	const ada = peer.user("Ada");
	peer.say(ada, peer.dm(ada), "hello");
	await expect.poll(() => peer.answers(peer.dm(ada)).length).toBeGreaterThan(0);
	expect(peer.calls.some(({ method }) => method === "getUpdates")).toBe(false);
	expect(await keryxCommand(["channels", "remove", "telegram"])).toMatchObject({ code: 0 });
	await expect.poll(() => peer.bot.queue.pusher.webhook).toBeNull();
	await front.close();

	const other = await keryxCommand([...add, `${url}/hook`], `${peer.bot.token}\n`);
	expect(other.stderr).toContain(`must pass ${url}/hook on to Keryx as /channels/telegram/events`);
	await keryxCommand(["channels", "remove", "telegram"]);
	const wrong = await keryxCommand(["channels", "add", "discord", "--webhook-url", url], "token\n");
	expect(wrong.code).not.toBe(0);
	expect(wrong.stderr).toContain("webhook_url is for Telegram only");
});

test("a token that the platform refuses writes nothing", async () => {
	const refused = await keryxCommand(
		["channels", "add", "telegram", "--api-root", peer.apiRoot],
		"123456:not-a-token-that-anybody-knows",
	);
	expect(refused.code).toBe(1);
	expect(refused.stderr).toContain("Telegram does not accept the token");
	expect(existsSync(join(home, "config.yaml"))).toBe(false);
	expect(existsSync(join(home, "keys"))).toBe(false);
});

test("a name that is taken is refused", async () => {
	writeFileSync(join(home, "config.yaml"), "channels: { telegram: { platform: telegram, token_env: T } }\n");
	const refused = await keryxCommand(["channels", "add", "telegram"], peer.bot.token);
	expect(refused.code).not.toBe(0);
	expect(refused.stderr).toContain("channels.telegram already exists");
});

test("the API adds, tries and removes one, and never answers a token", async () => {
	const { client } = await start();
	expect(await client.channelPlatforms()).toEqual({
		platforms: ["telegram", "discord", "slack", "irc", "email", "xmpp", "matrix"],
		app_token: ["slack"],
		networks: ["irc", "email", "xmpp", "matrix"].map((platform) =>
			expect.objectContaining({ platform, packages: [] }),
		),
		public_url: null,
	});
	const added = await client.addChannel({
		platform: "telegram",
		token: peer.bot.token,
		api_root: peer.apiRoot,
	});
	expect(added).toMatchObject({ name: "telegram", who: `@${peer.bot.user.username}` });
	expect(JSON.stringify(added)).not.toContain(peer.bot.token);
	expect(await client.testChannel({ name: "telegram" })).toMatchObject({ name: "telegram" });
	expect(await client.removeChannel({ name: "telegram" })).toEqual({ name: "telegram", removed: true });
	await expect(client.testChannel({ name: "telegram" })).rejects.toMatchObject({ code: "store.not_found" });
});

test("a channel that cannot be made is told, and the others go on", async () => {
	writeFileSync(
		join(home, "config.yaml"),
		`channels:
  broken: { platform: fax, module: ./not-there.mjs }
  tg: { platform: telegram, token_file: tg.token, api_root: "${peer.apiRoot}" }
`,
	);
	writeFileSync(join(home, "tg.token"), peer.bot.token, { mode: 0o600 });
	const running = await start();
	expect(said.join("\n")).toContain("channels.broken is not connected");
	await expect.poll(() => stateOf(running, "telegram")).toBe("connected");
});

test("the channel of the guide works as it is written, and takes its entry while Keryx runs", async () => {
	const guide = readFileSync(
		fileURLToPath(new URL("../../docs/guides/adding-a-channel.md", import.meta.url)),
		"utf8",
	);
	const blocks = [...guide.matchAll(/```\w+ file=(\S+)\n([\s\S]*?)```/g)];
	const socketPath = join(home, "lines.sock");
	const { client } = await start();
	for (const [, file, text] of blocks)
		writeFileSync(join(home, file as string), (text as string).replace("/tmp/lines.sock", socketPath));
	await expect
		.poll(async () => (await client.channels()).channels.map(({ platform }) => platform))
		.toContain("lines");
	const socket = connect(socketPath);
	await once(socket, "connect");
	const lines = createInterface({ input: socket });
	const heard: string[] = [];
	lines.on("line", (line) => heard.push(line));
	socket.write("ada 1 hello\nada 1 hello\n");
	await expect.poll(() => heard.filter((line) => line === "ok 1").length).toBe(2);
	await expect.poll(() => heard.filter((line) => !line.startsWith("ok")).length).toBe(1);
	socket.destroy();
});
