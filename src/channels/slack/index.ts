// Slack: a channel on Socket Mode, or events over HTTP, and the Web API.
// The libraries' loops, acknowledgements and retries are not used: they acknowledge before Keryx has committed.
// Never here: a rule about who may speak, or anything of another platform.

import { platformTraits } from "../../domain/index.ts";
import type {
	Channel,
	ChannelHost,
	ChannelReply,
	ChannelRequest,
	ChannelTraits,
	Outgoing,
	SendResult,
} from "../../gateway/index.ts";
import { leaseLost } from "../lease.ts";
import type { PlatformOptions } from "../options.ts";
import { type CatchUpOptions, catchUp, readChat } from "./catch-up.ts";
import { change, type DeliverContext, deliver, isReceipt, TEXT_LIMIT } from "./deliver.ts";
import type { EventContext } from "./events.ts";
import { lookUp, type Read } from "./history.ts";
import { type Connection, Line } from "./line.ts";
import { askedPause, goneReason, outcomeOf } from "./outcome.ts";
import { ALLOWED, type Allowances, Pace } from "./pace.ts";
import { readPosted } from "./requests.ts";
import { chatTypeOf } from "./source.ts";
import { API_ROOT, Web } from "./web.ts";

export { identifySlack } from "./identify.ts";

const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };
/** How long a signing secret is used before it is read again. */
const SECRET_MS = 5000;
/** Threads and unsettled deliveries that a channel remembers. */
const REMEMBERED = 5000;

/** How events arrive: over connections that Keryx opens, or as requests to the channel's address. */
export type SlackEvents =
	/** The app-level token (xapp-), which opens connections. */
	| { readonly appToken: () => Promise<string> }
	/** The key Slack signs its requests with. */
	| { readonly signingSecret: () => Promise<string> };

export interface SlackOptions extends PlatformOptions {
	readonly events: SlackEvents;
	/** Between two checks of connection and token. */
	readonly pulseMs?: number;
	/** A message can still appear this long after a lost answer: before that, nobody looks for it. */
	readonly settleMs?: number;
	/** If Slack posts its events: how long one waits for those it overtook. */
	readonly orderMs?: number;
	readonly allowed?: Allowances;
}

export const SLACK_TRAITS: ChannelTraits = {
	...platformTraits("slack"),
	// A longer message is shown, but can never be edited.
	messageLimit: { max: TEXT_LIMIT, unit: "utf16" },
	shows: {
		attachments: true,
		buttons: true,
		edit: true,
		typing: false,
		threads: true,
		idempotentSend: false,
		lookup: true,
		drafts: false,
	},
};

export function createSlackChannel(options: SlackOptions): Channel {
	const { name, account = "", clock, log, random = Math.random, events } = options;
	const { pulseMs = 8000, aliveMs = 60_000, downloadMs = 60_000, settleMs = 2000, orderMs = 100 } = options;
	const { firstPauseMs = 500, longestPauseMs = 30_000 } = options;
	const apiRoot = `${(options.apiRoot ?? API_ROOT).replace(/\/+$/, "")}/`;
	const of = { account, ...(options.profile !== undefined && { profile: options.profile }) };
	const pace = new Pace(clock, options.allowed ?? ALLOWED);
	const threads = new Set<string>();
	/** Deliveries with files being sent, by id. */
	const files = new Map<string, readonly string[]>();
	/** When a delivery's outcome became unknown, by the monotonic clock. */
	const doubtful = new Map<string, number>();
	let host: ChannelHost | undefined;
	let known: { readonly secret: string; readonly until: number } | undefined;
	/** Read again now and then, so that a changed one is used. */
	const signing = async (): Promise<string> => {
		if (!("signingSecret" in events)) throw new Error("no request is taken");
		if (!known || known.until < clock.monotonic())
			known = { secret: (await events.signingSecret()).trim(), until: clock.monotonic() + SECRET_MS };
		return known.secret;
	};
	const hostNow = () => {
		if (!host) throw new Error("stopped");
		return host;
	};
	const note = (message: string, error?: unknown) => log(`${name}: ${message}`, error);

	const contextOf = ({ web, me, directory }: Connection): EventContext => ({
		host: hostNow(),
		me,
		of,
		web,
		directory,
		files: { web, host: hostNow(), clock, deadlineMs: downloadMs, isStopping: () => line.isStopping },
		isNewThread: (thread) => {
			if (threads.has(thread)) return false;
			threads.add(thread);
			forgetOldest(threads);
			return true;
		},
	});
	/** Waits for its turn and for requested pauses: reading has time. */
	const reader =
		({ web }: Connection): Read =>
		async (method, args) => {
			for (;;) {
				const slot = pace.take("read", method);
				if ("afterMs" in slot && slot.afterMs > 0) await line.pauses.sleep(slot.afterMs);
				if (line.isStopping) throw new Error("stopped");
				try {
					return await web.call(method, args);
				} catch (error) {
					const pause = askedPause(error);
					if (pause === null) throw error;
					await line.pauses.sleep(pause);
				}
			}
		};
	const catchingUp = (connection: Connection): CatchUpOptions => ({
		clock,
		host: hostNow(),
		read: reader(connection),
		contextOf,
		log: note,
	});
	const line: Line = new Line({
		clock,
		random,
		pulseMs,
		aliveMs,
		firstPauseMs,
		longestPauseMs,
		orderMs,
		log: note,
		host: hostNow,
		contextOf,
		open: async () => {
			const { WebClient } = await import("@slack/web-api");
			const web = (one: string) => new Web({ WebClient, token: one.trim(), apiRoot, clock });
			const bot = web(await options.token());
			if ("appToken" in events) return { bot, app: web(await events.appToken()) };
			// Report a missing one now, not with the first event.
			known = undefined;
			await signing();
			return { bot, app: null };
		},
		catchUp: (connection, of_, gap) => catchUp(connection, of_, gap, catchingUp(connection)),
		readChat: (location, connection, of_, gap) =>
			readChat(location, connection, of_, gap, catchingUp(connection)),
	});

	const call = async (
		{ id, destination }: Outgoing,
		work: (context: DeliverContext) => Promise<SendResult>,
	): Promise<SendResult> => {
		const { connection } = line;
		if (!connection) return NOT_CONNECTED;
		try {
			return await work({
				web: connection.web,
				onFiles: (delivery, ids) => {
					files.set(delivery, ids);
					forgetOldest(files);
				},
			});
		} catch (error) {
			line.suspect(error);
			const reason = goneReason(error);
			if (reason !== null) await host?.gone({ source: sourceFor(destination, connection), reason });
			const outcome = outcomeOf(error);
			if (outcome.kind === "unknown") {
				doubtful.set(id, clock.monotonic());
				forgetOldest(doubtful);
			}
			return outcome;
		}
	};
	const sourceFor = ({ chatId, userId }: Outgoing["destination"], { me }: Connection) => ({
		platform: "slack",
		account,
		scope_id: me.teamId,
		chat_id: chatId,
		chat_type: chatTypeOf(chatId, undefined),
		...(userId !== undefined && { user_id: userId }),
	});
	/** Waits for its turn, without effect on Slack; then it is sent, if the line still works. */
	const inTurn = async (
		{ destination }: Outgoing,
		kind: "message" | "change",
		go: () => Promise<SendResult>,
	): Promise<SendResult> => {
		if (!line.connection) return NOT_CONNECTED;
		const slot = pace.take(kind, destination.chatId);
		if ("askAfterMs" in slot)
			return { kind: "retry", afterMs: slot.askAfterMs, reason: "Slack's rate limit" };
		if (slot.afterMs > 0) await line.pauses.sleep(slot.afterMs);
		return leaseLost(host) ?? go();
	};

	return {
		name,
		platform: "slack",
		account,
		traits: SLACK_TRAITS,
		start: async (given) => {
			host = given;
			await line.start(await given.cursor());
		},
		stop: () => line.stop(),
		send: (outgoing) =>
			inTurn(outgoing, "message", () => call(outgoing, (context) => deliver(outgoing, context))),
		edit: (receipt, outgoing) => {
			if (!line.connection) return Promise.resolve(NOT_CONNECTED);
			if (!isReceipt(receipt))
				return Promise.resolve({ kind: "refused", reason: "this receipt is not from Slack" });
			return inTurn(outgoing, "change", () =>
				call(outgoing, (context) => change(receipt, outgoing, context)),
			);
		},
		lookup: async (id, { chatId, threadId }, madeAt) => {
			const since = doubtful.get(id);
			// The caller waits, so that later deliveries in the chat do, too.
			if (since !== undefined) await line.pauses.sleep(Math.max(0, settleMs - (clock.monotonic() - since)));
			const { connection } = line;
			if (!connection) return { kind: "unknown" };
			// Files are recorded before they are shown: an attempt of this run without a record had none.
			const shown = files.get(id) ?? (since === undefined ? undefined : []);
			const asked = { id, chat: chatId, thread: threadId, files: shown, madeAt, me: connection.me };
			const found = await lookUp(asked, reader(connection));
			if (found.kind !== "unknown") doubtful.delete(id);
			return found;
		},
		health: () => line.health(),
		...("signingSecret" in events && {
			receive: async (request: ChannelRequest): Promise<ChannelReply> => {
				const posted = await readPosted(request, signing, clock.now());
				switch (posted.kind) {
					case "challenge":
						return { kind: "taken", text: posted.text };
					case "nothing":
						return { kind: "taken" };
					case "refused":
						line.refused();
						return { kind: "refused" };
					case "happening":
						return { kind: (await line.post(posted.happening, posted.isRetry)) ? "taken" : "later" };
				}
			},
		}),
	};
}

function forgetOldest(kept: Set<string> | Map<string, unknown>): void {
	const [oldest] = kept.keys();
	if (kept.size > REMEMBERED && oldest !== undefined) kept.delete(oldest);
}
