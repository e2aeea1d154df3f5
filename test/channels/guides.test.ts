// Each platform set up from nothing with the commands that its guide shows, and nothing else: an empty home, the bot's token, a first message,
// the code, an answer. Against the peers, or a real server, whose address is the only thing that a reader would not give.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Keryx, openKeryx } from "../page/support.ts";
import { createDiscordPeer } from "../peers/discord/index.ts";
import { createSlackPeer } from "../peers/slack/index.ts";
import { createTelegramPeer } from "../peers/telegram/index.ts";
import { PASSWORD, startDovecot } from "../support/dovecot.ts";
import { IrcPerson } from "../support/irc-person.ts";
import { call } from "../support/keryx.ts";
import { startNgircd } from "../support/ngircd.ts";
import { AUTHSERV, openPostOffice } from "../support/post-office.ts";
import { startProsody, PASSWORD as XMPP_PASSWORD } from "../support/prosody.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import { QUICK } from "./slack-scene.ts";

interface Stage {
	/** Options that a reader would not give: where the peer is. */
	readonly where: readonly string[];
	/** In the order in which they are asked for. */
	readonly tokens: readonly string[];
	say(text: string): void;
	answers(): readonly string[];
	close(): Promise<void>;
}

const STAGES: Readonly<Record<string, () => Promise<Stage>>> = {
	telegram: async () => {
		const peer = await createTelegramPeer();
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		return {
			where: ["--api-root", peer.apiRoot],
			tokens: [peer.bot.token],
			say: (text) => void peer.say(ada, dm, text),
			answers: () => peer.answers(dm).map(({ text }) => text),
			close: () => peer.close(),
		};
	},
	discord: async () => {
		const peer = await createDiscordPeer();
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		return {
			where: ["--api-root", peer.apiRoot],
			tokens: [peer.bot.token],
			say: (text) => void peer.say(ada, dm, text),
			answers: () => peer.answers(dm).map(({ text }) => text),
			close: () => peer.close(),
		};
	},
	slack: async () => {
		const peer = await createSlackPeer(QUICK);
		const ada = peer.user("Ada");
		const dm = peer.dm(ada);
		return {
			where: ["--api-root", peer.apiRoot],
			tokens: [peer.botToken, peer.appToken],
			say: (text) => void peer.say(ada, dm, text),
			answers: () => peer.answers(dm).map(({ text }) => text),
			close: () => peer.close(),
		};
	},
	irc: async () => {
		const server = await startNgircd();
		const ada = await IrcPerson.connect({ port: server.port, nick: "ada" });
		return {
			where: ["--server", "127.0.0.1", "--port", String(server.port), "--no-tls"],
			tokens: [],
			say: (text) => ada.say("keryx", text),
			answers: () => ada.lines("keryx"),
			close: async () => {
				ada.leave();
				await server.remove();
			},
		};
	},
	email: async () => {
		const dovecot = await startDovecot();
		const office = await openPostOffice(dovecot);
		const ada = "ada@home.test";
		let said = 0;
		const at = (name: string, port: number) => [
			`--${name}-server`,
			"127.0.0.1",
			`--${name}-port`,
			String(port),
		];
		return {
			where: [
				...["--address", "keryx@keryx.test", "--authserv-id", AUTHSERV, "--no-tls"],
				...at("imap", dovecot.port),
				...at("smtp", office.port),
			],
			tokens: [PASSWORD],
			say: (text) => {
				const references = said > 0 ? { references: ["a1@home.test"] } : {};
				void office.write({
					from: ada,
					to: "keryx@keryx.test",
					text,
					id: `a${++said}@home.test`,
					...references,
				});
			},
			answers: () => office.to(ada).map(({ mail }) => mail.text ?? ""),
			close: async () => {
				await office.close();
				await dovecot.remove();
			},
		};
	},
	xmpp: async () => {
		const server = await startProsody();
		const ada = await XmppPerson.connect(server, "ada");
		const bot = server.account("keryx");
		return {
			where: ["--jid", bot, "--server", "127.0.0.1", "--port", String(server.port), "--no-tls"],
			tokens: [XMPP_PASSWORD],
			say: (text) => void ada.say(bot, text),
			answers: () => ada.shown(bot).map(({ text }) => text),
			close: async () => {
				await ada.leave();
				await server.remove();
			},
		};
	},
};

let keryx: Keryx | undefined;
let stage: Stage | undefined;
afterEach(async () => {
	await keryx?.close();
	await stage?.close();
	keryx = undefined;
	stage = undefined;
});

/** The first command of a guide that begins so. */
function commandIn(platform: string, beginning: string): readonly string[] {
	const guide = readFileSync(join(import.meta.dirname, `../../docs/guides/${platform}.md`), "utf8");
	const line = [...guide.matchAll(/```sh example\n([\s\S]*?)```/g)]
		.flatMap(([, block = ""]) => block.split("\n"))
		.find((one) => one.trim().startsWith(`keryx ${beginning}`));
	return (line ?? `keryx ${beginning}: not in the guide`)
		.trim()
		.split(/\s+/)
		.slice(1)
		.map((part) => part.replaceAll("'", ""));
}

test.each(Object.keys(STAGES))("%s is set up from nothing by its guide alone", async (platform) => {
	const home = mkdtempSync(join(tmpdir(), "keryx-guide-"));
	const open = await (STAGES[platform] as () => Promise<Stage>)();
	stage = open;
	keryx = await openKeryx({ home, firstRun: true });
	const record: string[] = [];
	const run = async (args: readonly string[], more: readonly string[] = [], stdin = "") => {
		const done = await call([...args, ...more], { stdin, env: { KERYX_HOME: home } });
		record.push(`$ keryx ${args.join(" ")}`, `${done.stdout}${done.stderr}`.trim());
		expect(done, record.join("\n")).toMatchObject({ code: 0 });
	};
	const said = async (text: string) => {
		const before = open.answers().length;
		open.say(text);
		await expect.poll(() => open.answers().length).toBeGreaterThan(before);
		const answer = open.answers().at(-1) ?? "";
		record.push(`Ada: ${text}`, `Keryx: ${answer}`);
		return answer;
	};

	const add = commandIn(platform, "channels add");
	await run(add, open.where, `${open.tokens.join("\n")}\n`);
	const { client } = keryx;
	const state = async () =>
		(await client.channels()).channels.find((one) => one.platform === platform)?.state;
	await expect.poll(state).toBe("connected");
	const code = /\b[A-Z0-9]{8}\b/.exec(await said("hello"))?.[0] ?? "no code";
	const approve = commandIn(platform, "pair approve").map((part) => (part === "<code>" ? code : part));
	await run(approve);
	await expect.poll(() => open.answers().at(-1)).toMatch(/^You are in/);
	const answer = await said("hello again");
	expect(answer).not.toContain(code);
	expect(answer).toMatch(/No model is connected/);
	expect((await client.pairings()).pairings).toMatchObject([{ platform, state: "approved", role: "owner" }]);
	console.log(record.join("\n"));
});
