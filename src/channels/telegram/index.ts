// Telegram: a channel on grammY's Api class.
// Its bot loop, runner and retries are not used: they confirm before Keryx has committed.
// Never here: a rule about who may speak, or anything of another platform.

import type { Api } from "grammy";
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
import { Remembered } from "../remembered.ts";
import { Transport } from "../transport.ts";
import { CAPTION_LIMIT, change, type DeliverContext, deliver, followingMoves } from "./deliver.ts";
import { Line } from "./line.ts";
import { goneReason, reasonOf } from "./outcome.ts";
import { Pace } from "./pace.ts";
import { isReceipt, readReceipt } from "./receipts.ts";
import { handIn } from "./updates.ts";
import { isSecret, readUpdate, SECRET_HEADER, secretOf } from "./webhook.ts";

export { identifyTelegram } from "./identify.ts";

const API_ROOT = "https://api.telegram.org";
const CALL_MS = 30_000;
/** Below the outbox's limit for a delivery. */
const UPLOAD_MS = 55_000;
const UPLOADS = /^send(?:Photo|Document|Audio|MediaGroup)$/;
/** How many of its own messages a channel remembers, to recognise reactions to them. */
const REMEMBERED = 5000;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

export interface TelegramOptions extends PlatformOptions {
	/** The channel's public address: Telegram posts there. Absent: Keryx polls. */
	readonly webhookUrl?: string;
	/** How long a poll waits for news. Short, because a revoked token shows only at the next one. */
	readonly pollSeconds?: number;
}

export const TELEGRAM_TRAITS: ChannelTraits = {
	...platformTraits("telegram"),
	captionLimit: CAPTION_LIMIT,
	shows: {
		attachments: true,
		buttons: true,
		edit: true,
		typing: true,
		threads: true,
		idempotentSend: false,
		lookup: false,
		drafts: false,
	},
};

export function createTelegramChannel(options: TelegramOptions): Channel {
	const { name, account = "", clock, log, random = Math.random } = options;
	const { pollSeconds = 8, aliveMs = 60_000, downloadMs = 60_000 } = options;
	const { firstPauseMs = 500, longestPauseMs = 30_000, webhookUrl } = options;
	const apiRoot = (options.apiRoot ?? API_ROOT).replace(/\/+$/, "");
	const of = { account, ...(options.profile !== undefined && { profile: options.profile }) };
	const moves = new Map<string, string>();
	/** The newest messages sent from here. */
	const own = new Remembered(REMEMBERED);
	const pace = new Pace(clock);
	let host: ChannelHost | undefined;
	let grammy: typeof import("grammy") | undefined;

	const transport = new Transport({
		clock,
		deadlineOf: (method) => {
			if (method === "getUpdates") return (pollSeconds + 10) * 1000;
			return UPLOADS.test(method) ? UPLOAD_MS : CALL_MS;
		},
	});
	const note = (message: string, error?: unknown) => log(`${name}: ${message}`, error);
	const line = new Line({
		clock,
		random,
		transport,
		pollSeconds,
		aliveMs,
		firstPauseMs,
		longestPauseMs,
		log: note,
		open: async () => {
			grammy ??= await import("grammy");
			const fetch = transport.fetch as unknown as typeof globalThis.fetch;
			const token = (await options.token()).trim();
			return { api: new grammy.Api(token, { apiRoot, fetch }), secret: secretOf(token) };
		},
		keep: async (cursor) => {
			if (!host) throw new Error("stopped");
			await host.passed(cursor);
		},
		...(webhookUrl !== undefined && { webhookUrl }),
		onConnected: ({ api }) => void showCommands(api),
		handIn: async (update, cursor, { api, me }, batch, isLastTry) => {
			if (!host) throw new Error("stopped");
			await handIn(update, cursor, {
				host,
				bot: me,
				of,
				batch,
				files: {
					api,
					transport,
					apiRoot,
					host,
					clock,
					deadlineMs: downloadMs,
					isStopping: () => line.isStopping,
					isLastTry,
				},
				isOwn: (chat, message) => own.has(`${chat}/${message}`),
				onMoved: (chat, to) => moves.set(chat, to),
				answerPress: async (query, text) => {
					pace.count();
					// The button has taken effect; if the sentence is too late, only that is lost.
					await api
						.answerCallbackQuery(query, { text })
						.catch((error: unknown) => note("a button press was not answered", reasonOf(error)));
				},
			});
		},
	});

	const showCommands = async (api: Api) => {
		const commands = (host?.commands() ?? [])
			.filter(({ name: command }) => /^[a-z0-9_]{1,32}$/.test(command))
			.slice(0, 100)
			.map(({ name: command, description }) => ({
				command,
				description: description.slice(0, 256) || command,
			}));
		if (commands.length === 0) return;
		try {
			for (const type of ["all_private_chats", "all_group_chats"] as const)
				await api.setMyCommands(commands, { scope: { type } });
		} catch (error) {
			if (!line.isStopping) note("the menu of commands could not be set", reasonOf(error));
		}
	};
	const chatNow = (chatId: string) => moves.get(chatId) ?? chatId;
	const call = (
		{ destination }: Outgoing,
		work: (context: DeliverContext) => Promise<SendResult>,
	): Promise<SendResult> => {
		const { connection } = line;
		if (!connection || !grammy) return Promise.resolve(NOT_CONNECTED);
		const context = { api: connection.api, InputFile: grammy.InputFile, chatNow };
		const source = {
			platform: "telegram",
			account,
			chat_id: destination.chatId,
			chat_type: destination.chatId.startsWith("-") ? "group" : "dm",
			...(destination.userId !== undefined && { user_id: destination.userId }),
		};
		return followingMoves(
			() => work(context),
			async (toChatId) => {
				await host?.moved({ source, toChatId });
				moves.set(destination.chatId, toChatId);
			},
			async (error) => {
				line.suspect(error);
				const reason = goneReason(error);
				if (reason !== null) await host?.gone({ source, reason });
			},
		);
	};

	/** Waits for its turn, without effect on Telegram; then it is sent, if the line still works. */
	const inTurn = async (
		{ id, destination }: Outgoing,
		what: "message" | "change",
		go: () => Promise<SendResult>,
	): Promise<SendResult> => {
		if (!line.connection) return NOT_CONNECTED;
		const turn = await pace.turn({ id, chatId: destination.chatId, what });
		if (turn === "go") return leaseLost(host) ?? go();
		return { kind: "retry", afterMs: turn.askAfterMs, reason: "Telegram's rate limit" };
	};

	return {
		name,
		platform: "telegram",
		account,
		traits: TELEGRAM_TRAITS,
		start: async (given) => {
			host = given;
			await line.start(await given.cursor());
		},
		stop: async () => {
			await line.stop();
			pace.clear();
			transport.close();
		},
		send: async (outgoing) => {
			const result = await inTurn(outgoing, "message", () =>
				call(outgoing, (context) => deliver(outgoing, context)),
			);
			if (result.kind === "sent")
				for (const id of readReceipt(result.receipt).ids)
					own.add(`${chatNow(outgoing.destination.chatId)}/${id}`);
			return result;
		},
		room: () => pace.room(),
		edit: (receipt, outgoing) => {
			if (!line.connection) return Promise.resolve(NOT_CONNECTED);
			if (!isReceipt(receipt))
				return Promise.resolve({ kind: "refused", reason: "this receipt is not from Telegram" });
			return inTurn(outgoing, "change", () =>
				call(outgoing, (context) => change(receipt, outgoing, context)),
			);
		},
		typing: async ({ chatId, threadId }) => {
			if (!line.connection || !pace.fits()) return;
			await line.connection?.api.sendChatAction(chatNow(chatId), "typing", {
				...(threadId !== undefined && { message_thread_id: Number(threadId) }),
			});
		},
		health: () => line.health(),
		...(webhookUrl !== undefined && {
			receive: async (request: ChannelRequest): Promise<ChannelReply> => {
				const secret = line.secret;
				if (secret === null) return { kind: "later" };
				// Before the body is read: a stranger's is ignored.
				if (!isSecret(request.header(SECRET_HEADER), secret)) return { kind: "refused" };
				const update = readUpdate(await request.body());
				if (!update) return { kind: "refused" };
				return { kind: (await line.post(update)) ? "taken" : "later" };
			},
		}),
	};
}
