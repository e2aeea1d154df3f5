// A gateway on a chat platform in a process of its own, with its store on disk, until somebody kills it or it is told to drain.
import "../../support/keep-compiled.ts";
import type { Agent } from "../../../src/agents/index.ts";
import { NO_USAGE } from "../../../src/agents/types.ts";
import { createDiscordChannel } from "../../../src/channels/discord/index.ts";
import { createEmailChannel, type Libraries } from "../../../src/channels/email/index.ts";
import { createIrcChannel } from "../../../src/channels/irc/index.ts";
import { createMatrixChannel } from "../../../src/channels/matrix/index.ts";
import { createSlackChannel } from "../../../src/channels/slack/index.ts";
import { createTelegramChannel } from "../../../src/channels/telegram/index.ts";
import { createXmppChannel } from "../../../src/channels/xmpp/index.ts";
import { configSchema } from "../../../src/config/schema.ts";
import { contentText } from "../../../src/domain/index.ts";
import { createGateway, systemClock } from "../../../src/gateway/index.ts";
import { NO_SECRETS, systemIds } from "../../../src/store/index.ts";
import { openSqlite } from "../../../src/store/sqlite/engine.ts";
import { storeOn } from "../../../src/store/store.ts";
import { createScriptedAgent } from "../../../src/testing/index.ts";
import { createTools } from "../../../src/tools/index.ts";
import { AUDIT_KEY, confirmationsOn, dangerOnFile } from "../../gateway/support.ts";
import { until } from "../../support/until.ts";
import { serveChannel } from "../receiving.ts";
import { COMMANDS, DANGER, type Orders, postedTo, type Report, SCRIPT } from "./scene.ts";

const {
	platform,
	path,
	apiRoot,
	token,
	appToken = "",
	owner,
	members,
	dangers,
	posted,
	seen,
	irc = { port: 0, join: [] },
	email = { imap: 0, smtp: 0, address: "", authservId: "" },
	xmpp = { port: 0, jid: "", join: [] },
	keys,
	commits = Number.POSITIVE_INFINITY,
} = JSON.parse(process.argv[2] ?? "") as Orders;
const scope = { kind: "operator" } as const;

const config = configSchema.parse({
	session_reset: { mode: "none", max_messages: 0, timezone: "UTC" },
	gateway: { batch_ms: 4, batch_cap_ms: 20 },
	// By default ten an hour, and a storm asks for more.
	confirmations: { rate_limit: 100_000, global_limit: 100_000 },
	auth: { [platform]: { allow: [{ id: owner, role: "owner" }, ...members] } },
});
const options = {
	name: platform,
	token: () => Promise.resolve(token),
	apiRoot,
	clock: systemClock,
	log: () => {},
	firstPauseMs: 5,
	longestPauseMs: 50,
};
const fast = { burst: 1000, everyMs: 1 };
const CREATE = {
	telegram: () => createTelegramChannel({ ...options, ...(posted && { webhookUrl: postedTo(posted.port) }) }),
	discord: () => createDiscordChannel({ ...options, voidPauseMs: 5 }),
	slack: () =>
		createSlackChannel({
			...options,
			events: posted
				? { signingSecret: () => Promise.resolve(posted.signingSecret ?? "") }
				: { appToken: () => Promise.resolve(appToken) },
			settleMs: 200,
			allowed: { message: fast, channel: fast, change: fast, read: fast },
		}),
	irc: () =>
		createIrcChannel({
			...options,
			server: { host: "127.0.0.1", port: irc.port, tls: false },
			nick: "keryx",
			secrets: async () => ({ keys: new Map(), ...(irc.login !== undefined && { password: token }) }),
			join: irc.join,
			flood: fast,
			nickMs: 20,
		}),
	email: () =>
		createEmailChannel({
			...options,
			...email,
			imap: { host: "127.0.0.1", port: email.imap, encryption: "none" },
			smtp: { host: "127.0.0.1", port: email.smtp, encryption: "none" },
			password: options.token,
			load: mailLibraries,
		}),
	xmpp: () =>
		createXmppChannel({
			...options,
			jid: xmpp.jid,
			server: { host: "127.0.0.1", port: xmpp.port, tls: "none" },
			nick: "keryx",
			secrets: async () => ({ password: token, roomPasswords: new Map() }),
			join: xmpp.join,
			flood: fast,
		}),
	matrix: () =>
		createMatrixChannel({
			...options,
			homeserver: apiRoot,
			...(keys !== undefined && {
				encryption: {
					file: keys,
					library: () => Promise.resolve(import.meta.resolve("@matrix-org/matrix-sdk-crypto-wasm")),
				},
			}),
		}),
};
const channel = CREATE[platform]();

async function mailLibraries(): Promise<Libraries> {
	const { ImapFlow } = await import("imapflow");
	const { simpleParser } = await import("mailparser");
	const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
	const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
	return { ImapFlow, simpleParser, MailComposer, SMTPConnection };
}
let committed = 0;
let isToldToEnd = false;
let look = () => {};
const engine = await openSqlite({
	path,
	startedAt: systemClock.now(),
	access: "own",
	auditKey: AUDIT_KEY,
});
const store = storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
const confirmations = confirmationsOn(store, systemClock, config);
const gateway = createGateway({
	store,
	confirmations,
	agent: asking(createScriptedAgent({ script: SCRIPT, clock: systemClock })),
	tools: createTools([dangerOnFile(dangers)]),
	channels: [
		{
			...channel,
			start: (host) =>
				channel.start({
					...host,
					accept: async (inbound) => {
						const told = {
							message: inbound.platformMessage,
							chat: String(inbound.source.chat_id),
							text: contentText(inbound.content),
						};
						if (platform === "xmpp") say({ say: "coming", ...told });
						const admission = await host.accept(inbound);
						if (admission.duplicate) say({ say: "duplicate" });
						else if (++committed >= commits) process.kill(process.pid, "SIGKILL");
						say({ say: "taken", ...told });
						return admission;
					},
				}),
		},
	],
	config,
	clock: systemClock,
	pseudonymKey: new Uint8Array(32),
	log: (message, error) => say({ say: "log", message: `${message}: ${String(error)}` }),
});
if (seen !== undefined) await reportCommitted(seen);
if (posted) await serveChannel(channel, posted.port);
await gateway.start();
confirmations.start();
say({ say: "started" });
if (platform === "email") {
	await until(() => channel.health().state === "connected");
	say({ say: "connected" });
}
process.stdin.setEncoding("utf8").on("data", (line: string) => {
	if (line.includes(COMMANDS.drain)) void drain();
	if (!line.includes(COMMANDS.end)) return;
	isToldToEnd = true;
	look();
});

async function reportCommitted(after: string): Promise<void> {
	for (let cursor = after; ; ) {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		if (page.events.length === 0) return say({ say: "seen", cursor });
		for (const { type, subject } of page.events) {
			if (type !== "inbound.accepted" && type !== "inbound.observed") continue;
			const { platformMessage } = await store.inboxItem({ scope, id: Number(subject) });
			say({ say: "taken", message: platformMessage, chat: "", text: "" });
		}
		cursor = page.cursor;
	}
}

/** Asks for what is dangerous where a message wants it, and answers as it would otherwise. */
function asking(agent: Agent): Agent {
	if (agent.kind !== "step") return agent;
	return {
		...agent,
		async *step(input) {
			const last = input.history.at(-1);
			// What became of a question comes as a note, and the agent goes on.
			const isAsked = last?.role === "user" && last.kind === "person";
			const [, what] = DANGER.exec(isAsked ? JSON.stringify(last.content) : "") ?? [];
			if (isAsked && what === undefined) return yield* agent.step(input);
			const call = { id: `c${input.history.length}`, name: "danger", input: { what } };
			yield {
				type: "done",
				message: isAsked
					? { content: "", toolCalls: [call], finishReason: "tool_calls" }
					: { content: "went on", toolCalls: [], finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "storm", model: "storm" },
			};
		},
	};
}

/** Says whenever every message has its end and nothing waits in the outbox; looks again after every commit. */
async function drain(): Promise<void> {
	const open = new Set<number>();
	let cursor = "";
	store.onCommit(() => look());
	const isDone = async (): Promise<boolean> => {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		cursor = page.cursor;
		for (const { type, subject } of page.kind === "events" ? page.events : [])
			if (type === "inbound.accepted") open.add(Number(subject));
		if (page.kind === "events" && page.events.length > 0) return false;
		for (const id of open) {
			const item = await store.inboxItem({ scope, id });
			if (item.disposition === null || item.command !== null) return false;
			open.delete(id);
		}
		return (await store.deliveries({ scope, which: "waiting", limit: 1 })).length === 0;
	};
	for (let before = ""; ; before = cursor) {
		const committed = new Promise<void>((resolve) => {
			look = resolve;
		});
		const mayEnd = isToldToEnd;
		const isQuiet = await isDone();
		// Still: a press may have come after the last look, and then there is more to do.
		if (isQuiet && mayEnd) return end();
		if (!isQuiet) isToldToEnd = false;
		else if (!isToldToEnd) say({ say: "quiet" });
		if (isQuiet || before === cursor) await committed;
	}
}

async function end(): Promise<void> {
	await gateway.stop();
	await store.close();
	say({ say: "drained" });
	process.exit();
}

function say(report: Report): void {
	process.stdout.write(`${JSON.stringify(report)}\n`);
}
