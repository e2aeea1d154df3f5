// `channels.<name>`: what an entry may be, and what is said of one that cannot work.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readToken } from "../src/app/setup/channel-token.ts";
import { checkConfig, connections, describeProblem, unreached } from "../src/config/index.ts";
import { createSecrets } from "../src/secrets/index.ts";

const TOKEN = "123456789:AAF-a-token-of-some-length-0123456";
let home: string;
beforeAll(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-channels-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function check(text: string, env: Record<string, string> = {}) {
	return checkConfig({ home, env, text });
}
const problemsOf = (text: string) => check(text).problems.map((problem) => describeProblem(problem));

describe("an entry", () => {
	test.each([
		"token_env: WORD",
		"app_token_env: WORD",
		"signing_secret_env: WORD",
		"server_password_env: WORD",
		"irc: { join: ['#open', { channel: '#c', key_env: WORD }] }",
		"xmpp: { join: [{ room: r@x.example, password_env: WORD }] }",
	])("I12: makes the variable in `%s` a secret", (setting) => {
		const { secrets } = check(`channels: { c: { platform: irc, ${setting} } }`, { WORD: TOKEN });
		expect(secrets.get("WORD")).toBe(TOKEN);
	});

	test.each([
		"token_file: it",
		"app_token_file: it",
		"signing_secret_file: it",
		"server_password_file: it",
		"irc: { certificate_file: it }",
		"irc: { join: ['#open', { channel: '#c', key_file: it }] }",
		"xmpp: { join: [{ room: r@x.example, password_file: it }] }",
	])("I12: makes the content of the file in `%s` a secret, also if others can read it", (setting) => {
		const file = join(home, "it");
		for (const mode of [0o600, 0o644]) {
			writeFileSync(file, `${TOKEN}\n`);
			chmodSync(file, mode);
			const { secrets } = check(`channels: { c: { platform: irc, ${setting} } }`);
			expect([...secrets.values()]).toContain(TOKEN);
		}
		rmSync(file);
	});

	test("may name a file that is missing, a folder, or too long for a key: it is no secret", () => {
		writeFileSync(join(home, "long"), "x".repeat(100_000));
		const { secrets } = check(
			"channels: { a: { token_file: none }, b: { token_file: . }, c: { token_file: long } }",
		);
		expect([...secrets.keys()].filter((name) => ["none", ".", "long"].includes(name))).toEqual([]);
	});

	test("has defaults for everything but its platform and where its token is", () => {
		const { config, problems } = check("channels: { tg: { platform: telegram, token_env: TG } }");
		expect(problems).toEqual([]);
		expect(config?.values.channels.tg).toEqual({
			platform: "telegram",
			account: "",
			token_env: "TG",
			bridge: false,
			decides: false,
			message_limit: 4000,
			markup: "plain",
			shows: [],
			options: {},
			require_mention: true,
			free_chats: [],
			edits: "note",
			notices: {
				dms: ["answer", "question", "warning", "status"],
				groups: ["answer", "question", "warning"],
			},
			alive_seconds: 60,
			confirm_by_reaction: false,
			thread_replies: false,
		});
	});

	test("is a connection: what is set for its platform has an effect", () => {
		const { config } = check(
			`channels: { tg: { platform: telegram, token_env: TG } }
auth: { telegram: { allow: ["1"] } }
home_channels: { telegram: { chat_id: "2", name: home } }
confirmations: { notify: [{ platform: telegram, chat_id: "3" }, { platform: telegram, account: b, chat_id: "4" }] }`,
		);
		if (!config) throw new Error("not taken");
		expect(connections(config.values)).toContainEqual({ platform: "telegram", account: "" });
		expect(unreached(config.values)).toEqual([
			"confirmations.notify: telegram 4 is not notified: there is no channel for telegram with the account b",
		]);
	});

	test.each([
		[
			"channels: { tg: { platform: telegram } }",
			"channels.tg.token_env or token_file must say where the token is",
		],
		["channels: { tg: { platform: telegram, token_env: A, token_file: b } }", "one of the two"],
		["channels: { fax: { platform: fax, token_env: A } }", "any other platform needs a module"],
		["channels: { x: { platform: web, token_env: A } }", "this one needs no channel"],
		["channels: { local: { platform: telegram, token_env: A } }", "a name that Keryx uses itself"],
		[
			"channels: { x: { platform: telegram, token_env: A, profile: work } }",
			"must be one of the names in profiles",
		],
		[
			"channels: { a: { platform: telegram, token_env: A }, b: { platform: telegram, token_env: B } }",
			"channels.b.account must differ from that of channels.a",
		],
		[
			"channels: { x: { platform: xmpp, token_env: A } }",
			"must say which server to connect to: set xmpp.jid",
		],
		["channels: { x: { platform: xmpp, xmpp: { jid: a@b } } }", "where the password of the account is"],
		["channels: { x: { platform: xmpp, token_env: A, xmpp: { jid: nobody } } }", "must be an address"],
		[
			"channels: { x: { platform: xmpp, token_env: A, xmpp: { jid: a@b, join: [a@b/c] } } }",
			"channels.x.xmpp.join.0",
		],
		[
			"channels: { x: { platform: xmpp, token_env: A, xmpp: { jid: a@b, join: [{ room: r@b }] } } }",
			"must say where the room's password is",
		],
		[
			"channels: { x: { platform: xmpp, token_env: A, xmpp: { jid: a@b, tls: false, direct_tls: true } } }",
			"needs xmpp.tls: true",
		],
		["channels: { i: { platform: irc } }", "must say which server to connect to"],
		["channels: { i: { platform: irc, irc: { server: a.b, nick: 9k } } }", "starting with no digit"],
		["channels: { i: { platform: irc, irc: { server: a b, nick: k } } }", "must be a host name"],
		["channels: { i: { platform: irc, irc: { server: a.b, nick: k, login: k } } }", "needs a password"],
		[
			'channels: { i: { platform: irc, irc: { server: a.b, nick: k, join: ["#a,#b"] } } }',
			"channels.i.irc.join.0",
		],
		[
			'channels: { i: { platform: irc, irc: { server: a.b, nick: k, join: [{ channel: "#a" }] } } }',
			"set key_env or key_file",
		],
		[
			"channels: { t: { platform: telegram, token_env: A, irc: { server: a.b, nick: k } } }",
			"is for IRC only",
		],
		[
			"channels: { t: { platform: telegram, token_env: A, decides: true } }",
			"is for bridges, IRC, E-mail and XMPP",
		],
		[`channels: { x: { platform: telegram, token_env: "${TOKEN}" } }`, "not its value"],
	])("is refused with its remedy: %s", (text, said) => {
		const problems = problemsOf(text).join("\n");
		expect(problems).toContain(said);
		expect(problems).not.toContain(TOKEN);
	});

	test("two accounts of one platform are two connections", () => {
		const { problems } = check(
			"channels: { a: { platform: telegram, token_env: A }, b: { platform: telegram, account: b, token_env: B } }",
		);
		expect(problems).toEqual([]);
	});

	test("the value of its variable is a secret", () => {
		const { config } = check("channels: { tg: { platform: telegram, token_env: TG } }", { TG: TOKEN });
		expect(config?.secrets.hide(`the bot ${TOKEN} is here`)).not.toContain(TOKEN);
	});
});

describe("a token in a file", () => {
	const read = (file: string) =>
		readToken("tg", { token_file: file }, { env: {}, home, secrets: createSecrets() });

	test("is read from Keryx's home, and hidden from then on", async () => {
		writeFileSync(join(home, "tg.token"), `${TOKEN}\n`, { mode: 0o600 });
		const secrets = createSecrets();
		expect(await readToken("tg", { token_file: "tg.token" }, { env: {}, home, secrets })).toBe(TOKEN);
		expect(secrets.hide(TOKEN)).not.toContain(TOKEN);
	});

	test("that others can read is not used", async () => {
		const file = join(home, "open.token");
		writeFileSync(file, TOKEN);
		chmodSync(file, 0o640);
		await expect(read(file)).rejects.toMatchObject({ code: "channel.token_exposed" });
	});

	test.each(["missing.token", "empty.token"])("%s is told", async (file) => {
		writeFileSync(join(home, "empty.token"), "\n", { mode: 0o600 });
		await expect(read(file)).rejects.toMatchObject({ code: "channel.token_missing" });
	});
});
