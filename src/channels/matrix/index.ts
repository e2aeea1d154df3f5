// Matrix: our own client of the client-server API. A library's sync would move on before Keryx has committed.
// Encryption is the library that other clients use, with its keys in Keryx's home.
// Never here: a rule about who may speak, or anything of another platform.

import { randomBytes } from "node:crypto";
import { platformTraits } from "../../domain/index.ts";
import type { Channel, ChannelHost, ChannelTraits, Outgoing, SendResult } from "../../gateway/index.ts";
import { leaseLost } from "../lease.ts";
import { Transport } from "../transport.ts";
import { Api, KIND, path } from "./api.ts";
import { change, type DeliverContext, deliver, isReceipt, PutError } from "./deliver.ts";
import { openEncryption } from "./encryption.ts";
import { type Connection, Line } from "./line.ts";
import { lookUp } from "./lookup.ts";
import type { MatrixOptions } from "./options.ts";
import { goneReason, outcomeBefore } from "./outcome.ts";
import { Past, type PastOptions } from "./past.ts";
import { Reading } from "./reading.ts";
import { Receipts } from "./receipts.ts";
import { type Room, Rooms } from "./rooms.ts";
import { sourceIn } from "./source.ts";
import { NeedsAttention } from "./trouble.ts";
import { whoamiSchema } from "./wire.ts";

export { identifyMatrix, logInToMatrix } from "./identify.ts";
export type { MatrixOptions } from "./options.ts";

const CALL_MS = 30_000;
/** Below the outbox's limit for a delivery. */
const UPLOAD_MS = 55_000;
const TYPING_MS = 10_000;
/** How many messages are sent at once. */
const MOST_SENDS = 20;
const NOT_CONNECTED: SendResult = { kind: "retry", afterMs: 1000, reason: "not connected" };

export const MATRIX_TRAITS: ChannelTraits = {
	...platformTraits("matrix"),
	shows: {
		attachments: true,
		buttons: false,
		edit: true,
		typing: true,
		threads: true,
		idempotentSend: true,
		lookup: true,
		drafts: false,
	},
};

export function createMatrixChannel(options: MatrixOptions): Channel {
	const { name, account = "", clock, log, random = Math.random } = options;
	const { pollSeconds = 8, aliveMs = 60_000, downloadMs = 60_000 } = options;
	const { firstPauseMs = 500, longestPauseMs = 30_000 } = options;
	const homeserver = options.homeserver.replace(/\/+$/, "");
	const of = { account, ...(options.profile !== undefined && { profile: options.profile }) };
	const note = (message: string, error?: unknown) => log(`${name}: ${message}`, error);
	/** The server accepts no messages until then (monotonic). */
	let pausedUntil = 0;
	/** Counts edits: each is a separate request. */
	let changes = 0;
	const life = `${clock.now().toString(36)}${Math.floor(random() * 36 ** 4).toString(36)}`;
	let given: ChannelHost | undefined;
	const host = () => {
		if (!given) throw new Error("stopped");
		return given;
	};

	const transport = new Transport({
		clock,
		deadlineOf: (kind) => {
			if (kind === KIND.sync) return (pollSeconds + 15) * 1000;
			return kind === KIND.upload ? UPLOAD_MS : CALL_MS;
		},
	});
	const receipts: Receipts = new Receipts((error) => line.suspect(error));
	const reading: Reading = new Reading({
		host,
		of,
		log: note,
		taken: (room, event, connection) => receipts.read(room, event, connection.api),
		context: ({ api, me, past }, isLastTry) => ({
			host: host(),
			me,
			of,
			past,
			files: {
				api,
				host: host(),
				clock,
				deadlineMs: downloadMs,
				isStopping: () => line.isStopping,
				isLastTry,
			},
		}),
	});
	const line: Line = new Line({
		clock,
		random,
		transport,
		pollSeconds,
		aliveMs,
		firstPauseMs,
		longestPauseMs,
		log: note,
		open: async () => {
			const api = new Api({ homeserver, token: (await options.token()).trim(), transport });
			const { user_id: id, device_id: device } = whoamiSchema.parse(
				await api.get("/_matrix/client/v3/account/whoami"),
			);
			refuseOther(id, options.user);
			const encryption = options.encryption
				? await openEncryption({
						...options.encryption,
						api,
						user: id,
						device,
						now: () => clock.now(),
						log: note,
					})
				: null;
			const decrypt: PastOptions["decrypt"] = async (room, event) =>
				(await encryption?.decrypt(room, event)) ?? null;
			const me = { id };
			return { api, me, rooms: new Rooms(api), past: new Past({ api, me, decrypt }), encryption };
		},
		read: (answer, since, connection) => reading.read(answer, since, connection),
		retry: (connection, intake) => reading.retry(connection, intake),
		keep: (cursor) => host().passed(cursor),
	});

	const contextOf = ({ api, encryption }: Connection, room: Room): DeliverContext => ({
		api,
		room,
		limit: MATRIX_TRAITS.messageLimit.max,
		encrypt:
			room.encryption && encryption ? (type, content) => encryption.encrypt(room, type, content) : null,
		randomBytes,
		lost: () => leaseLost(given),
	});
	/** Sends only to rooms whose state is known, so that nothing is sent unencrypted by mistake. */
	const inRoom = async (
		{ destination }: Outgoing,
		go: (context: DeliverContext, connection: Connection) => Promise<SendResult>,
	): Promise<SendResult> => {
		const { connection } = line;
		if (!connection) return NOT_CONNECTED;
		if (!destination.chatId.startsWith("!"))
			return { kind: "refused", reason: `${destination.chatId} is not a room's id` };
		let room: Room;
		try {
			room = await connection.rooms.of(destination.chatId);
			if (room.encryption === null && (await connection.encryption?.isEncrypted(room.id)) === true)
				return {
					kind: "refused",
					reason: "the server says that the room is no longer encrypted; Keryx does not believe it",
				};
		} catch (error) {
			line.suspect(error);
			const reason = goneReason(error);
			if (reason !== null) await host().gone({ source: sourceOf(destination), reason });
			return outcomeBefore(error);
		}
		if (room.encryption && !connection.encryption)
			return { kind: "refused", reason: "the room is encrypted, and encryption is off for this channel" };
		try {
			return await go(contextOf(connection, room), connection);
		} catch (error) {
			if (!(error instanceof PutError)) throw error;
			const { cause, result } = error;
			line.suspect(cause);
			if (result.kind === "retry" && result.afterMs !== undefined)
				pausedUntil = Math.max(pausedUntil, clock.monotonic() + result.afterMs);
			const reason = goneReason(cause);
			if (reason !== null) await host().gone({ source: sourceIn(room, of), reason });
			return result;
		}
	};
	const sourceOf = ({ chatId, group, userId }: Outgoing["destination"]) => ({
		platform: "matrix",
		account,
		chat_id: chatId,
		chat_type: group ? "group" : "dm",
		...(userId !== undefined && { user_id: userId }),
	});

	return {
		name,
		platform: "matrix",
		account,
		traits: MATRIX_TRAITS,
		start: async (own) => {
			given = own;
			await line.start(await own.cursor());
		},
		stop: async () => {
			await line.stop();
			transport.close();
		},
		send: (outgoing) =>
			inRoom(outgoing, async (context, { past }) => {
				const result = await deliver(outgoing, context);
				const { chatId, threadId } = outgoing.destination;
				if (result.kind === "sent")
					for (const id of result.receipt.split(",")) past.wrote(chatId, id, threadId);
				return result;
			}),
		room: () => {
			const afterMs = pausedUntil - clock.monotonic();
			return afterMs > 0 ? { free: 0, afterMs } : { free: MOST_SENDS, afterMs: 0 };
		},
		edit: (receipt, outgoing) => {
			if (!line.connection) return Promise.resolve(NOT_CONNECTED);
			if (!isReceipt(receipt))
				return Promise.resolve({ kind: "refused", reason: "this receipt is not from Matrix" });
			const transaction = `keryx.edit.${life}.${++changes}`;
			return inRoom(outgoing, (context) => change(receipt, outgoing, transaction, context));
		},
		typing: async ({ chatId }) => {
			const { connection } = line;
			if (!connection) return;
			const { api, me } = connection;
			await api.put(path`/_matrix/client/v3/rooms/${chatId}/typing/${me.id}`, {
				typing: true,
				timeout: TYPING_MS,
			});
		},
		lookup: async (id, { chatId }, madeAt) => {
			const { connection } = line;
			return connection ? lookUp(id, chatId, madeAt, connection.api) : { kind: "unknown" };
		},
		health: () => line.health(),
	};
}

/** Another account's token would read another account's messages. */
function refuseOther(id: string, user: string | undefined): void {
	if (user === undefined) return;
	const wanted = user.startsWith("@") ? user : `@${user}`;
	if (id === wanted || (!wanted.includes(":") && id.startsWith(`${wanted}:`))) return;
	throw new NeedsAttention(
		`the access token belongs to ${id}, not to ${user}: replace it, or change matrix.user`,
	);
}
