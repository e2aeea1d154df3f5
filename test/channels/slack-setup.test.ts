// Connecting Slack from nothing, as its guide says, against the peer.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { identifySlack } from "../../src/channels/slack/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { TakingHost } from "../../src/testing/index.ts";
import { createSlackPeer, type SlackPeer } from "../peers/slack/index.ts";
import { call } from "../support/keryx.ts";
import { channelOn, QUICK } from "./slack-scene.ts";

let home: string;
let keryx: Keryx | undefined;
let peer: SlackPeer;
beforeEach(async () => {
	home = mkdtempSync(join(tmpdir(), "keryx-slack-"));
	peer = await createSlackPeer(QUICK);
});
afterEach(async () => {
	await keryx?.stop();
	keryx = undefined;
	await peer.close();
	rmSync(home, { recursive: true, force: true });
});

const keryxCommand = (args: readonly string[], stdin = "") =>
	call(args, { stdin, env: { KERYX_HOME: home } });

test("Slack is added with its two tokens, connected at once, answers, and is gone with its keys when it is removed", async () => {
	const file = join(home, "config.yaml");
	writeFileSync(file, "auth: { slack: { allow_all: true } }\n", { mode: 0o600 });
	const report = { warn: () => {}, note: () => {} };
	keryx = await createKeryx({ home, report, env: { TZ: "UTC", XDG_DATA_HOME: `${home}/data` } });
	await keryx.start();
	const { client } = keryx;
	const add = ["channels", "add", "slack", "--api-root", peer.apiRoot];
	const added = await keryxCommand(add, `${peer.botToken}\n${peer.appToken}\n`);
	expect(added).toMatchObject({ code: 0 });
	expect(added.stdout).toContain("@keryx in Greenhouse is connected as channels.slack.");
	for (const token of [peer.botToken, peer.appToken])
		expect(added.stdout + added.stderr + readFileSync(file, "utf8")).not.toContain(token);
	for (const key of ["slack.token", "slack.app-token"])
		expect(statSync(join(home, "keys", key)).mode & 0o777).toBe(0o600);
	const state = async () =>
		(await client.channels()).channels.find(({ platform }) => platform === "slack")?.state ?? "none";
	await expect.poll(state).toBe("connected");

	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	peer.say(ada, dm, "hello");
	await expect.poll(() => peer.answers(dm).length).toBeGreaterThan(0);

	expect(await keryxCommand(["channels", "test", "slack"])).toMatchObject({ code: 0 });
	expect(await keryxCommand(["channels", "remove", "slack"])).toMatchObject({ code: 0 });
	await expect.poll(state).toBe("none");
	await expect.poll(() => peer.sockets.open.size).toBe(0);
	for (const key of ["slack.token", "slack.app-token"])
		expect(existsSync(join(home, "keys", key))).toBe(false);
});

test("a Slack that posts is added with its signing secret, answers, and its key is gone when it is removed", async () => {
	const file = join(home, "config.yaml");
	writeFileSync(file, "auth: { slack: { allow_all: true } }\n", { mode: 0o600 });
	const report = { warn: () => {}, note: () => {} };
	keryx = await createKeryx({ home, report, env: { TZ: "UTC", XDG_DATA_HOME: `${home}/data` } });
	await keryx.start();
	const { client } = keryx;
	const add = ["channels", "add", "slack", "--signing-secret", "--api-root", peer.apiRoot];
	const added = await keryxCommand(add, `${peer.botToken}\n${peer.signingSecret}\n`);
	expect(added).toMatchObject({ code: 0 });
	expect(added.stderr).toContain("/channels/slack/events");
	expect(added.stderr).toContain("turn Socket Mode off");
	expect(added.stdout + added.stderr + readFileSync(file, "utf8")).not.toContain(peer.signingSecret);
	expect(statSync(join(home, "keys", "slack.signing-secret")).mode & 0o777).toBe(0o600);
	const state = async () =>
		(await client.channels()).channels.find(({ platform }) => platform === "slack")?.state ?? "none";
	await expect.poll(state).toBe("connected");
	const front = await serveOnPort(keryx.api, { host: "127.0.0.1", port: 0 });
	expect(await peer.subscribe(`http://127.0.0.1:${front.port}/channels/slack/events`)).toBe(true);
	const ada = peer.user("Ada");
	const dm = peer.dm(ada);
	peer.say(ada, dm, "hello");
	await expect.poll(() => peer.answers(dm).length).toBeGreaterThan(0);
	expect(peer.sockets.opened).toBe(0);
	expect(await keryxCommand(["channels", "test", "slack"])).toMatchObject({ code: 0 });
	expect(await keryxCommand(["channels", "remove", "slack"])).toMatchObject({ code: 0 });
	expect(existsSync(join(home, "keys", "slack.signing-secret"))).toBe(false);
	await front.close();
	const missing = await keryxCommand(add, `${peer.botToken}\n`);
	expect(missing.stderr).toContain("the signing secret is empty");
});

test("a token that Slack refuses, or of the wrong kind, writes nothing and is named", async () => {
	const add = ["channels", "add", "slack", "--api-root", peer.apiRoot];
	const swapped = await keryxCommand(add, `${peer.appToken}\n${peer.botToken}\n`);
	expect(swapped.code).toBe(1);
	expect(swapped.stderr).toMatch(/bot token \(xoxb-\).*different kind/s);
	const wrong = await keryxCommand(add, `${peer.botToken}\nxapp-wrong\n`);
	expect(wrong.stderr).toContain("Slack does not accept the app-level token (xapp-)");
	const missing = await keryxCommand(add, `${peer.botToken}\n`);
	expect(missing.stderr).toContain("the app-level token is empty");
	expect(existsSync(join(home, "config.yaml"))).toBe(false);
	expect(existsSync(join(home, "keys"))).toBe(false);
});

test("a token that no header can hold is never shown, neither when Slack is added nor while it runs", async () => {
	const broken = `${peer.botToken}\nxoxb-second-line`;
	await expect(
		identifySlack({ token: broken, appToken: peer.appToken, apiRoot: peer.apiRoot }),
	).rejects.toSatisfy(({ code, message }) => code === "channel.refused" && !/xoxb-\w/.test(message));
	const logged: string[] = [];
	const channel = channelOn(peer, { token: () => Promise.resolve(broken) }, logged);
	await channel.start(new TakingHost());
	await expect.poll(() => channel.health().state).toBe("needs_attention");
	await channel.stop();
	expect(`${logged}${JSON.stringify(channel.health())}`).not.toMatch(/xoxb-\w/);
});

test("a password in api_root is not shown when Slack cannot be asked", async () => {
	const apiRoot = peer.apiRoot.replace("//", "//ada:passw0rd@");
	await expect(identifySlack({ token: peer.botToken, appToken: peer.appToken, apiRoot })).rejects.toSatisfy(
		({ message }) => !message.includes("passw0rd"),
	);
});
