// A channel's encryption: the library's requests, keys for the readers of a room, messages in and out. A key is on disk before
// a message encrypted with it leaves, and received keys are on disk before the sync moves on.
import { type Api, MatrixError, path } from "./api.ts";
import type { KeyRequest } from "./crypto/calls.ts";
import { CryptoThread } from "./crypto/thread.ts";
import type { MatrixOptions } from "./options.ts";
import { reasonOf } from "./outcome.ts";
import type { Room } from "./rooms.ts";
import { NeedsAttention } from "./trouble.ts";
import { type MatrixEvent, objectOf, readEvent, type SyncAnswer } from "./wire.ts";

/** Messages whose key has not arrived by then are given up. */
const WAITING_MS = 7 * 24 * 60 * 60_000;
const ALGORITHM = "m.megolm.v1.aes-sha2";
/** The library's numbers for kinds of requests. */
const TYPE = { upload: 0, query: 1, claim: 2, toDevice: 3, signatures: 4, message: 5 } as const;
/** Answering a request may lead to more requests; this many rounds are made. */
const ROUNDS = 5;

export interface EncryptionOptions extends NonNullable<MatrixOptions["encryption"]> {
	readonly api: Api;
	readonly user: string;
	readonly device: string;
	readonly now: () => number;
	readonly log: (message: string, error?: unknown) => void;
}

/** Rejects with NeedsAttention if only a person can help. */
export async function openEncryption(options: EncryptionOptions): Promise<Encryption> {
	const { file, library, api, user, device } = options;
	if (device === "")
		throw new NeedsAttention(
			"this access token belongs to no device, so encrypted rooms cannot be read: log in with `keryx channels add matrix`, or set matrix.encryption to false",
		);
	const thread = await CryptoThread.start({ file, library: await library(), user, device });
	try {
		await refuseForeignDevice(thread, api, user, device);
		return new Encryption(thread, options);
	} catch (error) {
		await thread.close();
		throw error;
	}
}

/** Others know this device by different keys, so their messages could never be read. */
async function refuseForeignDevice(
	thread: CryptoThread,
	api: Api,
	user: string,
	device: string,
): Promise<void> {
	const answer = objectOf(
		await api.post("/_matrix/client/v3/keys/query", { device_keys: { [user]: [device] } }),
	);
	const keys = objectOf(objectOf(objectOf(objectOf(answer.device_keys)[user])[device]).keys);
	const known = keys[`ed25519:${device}`];
	if (known !== undefined && known !== (await thread.call("fingerprint")))
		throw new NeedsAttention(
			`the device ${device} of ${user} has other keys than those in Keryx's home, so encrypted messages cannot be read: log in again with \`keryx channels add matrix\``,
		);
}

export class Encryption {
	readonly #thread: CryptoThread;
	readonly #options: EncryptionOptions;
	/** Device messages received since this position of the sync. */
	readonly #received = new Set<string>();
	#receivedSince: string | null | undefined;
	#last: Promise<unknown> = Promise.resolve();
	#unread = 0;
	#isSigned: "unknown" | "yes" | "no" = "unknown";
	/** Requests that the server refused, reported once. */
	readonly #refused = new Set<number>();

	constructor(thread: CryptoThread, options: EncryptionOptions) {
		this.#thread = thread;
		this.#options = options;
	}

	/** Problems that do not stop it. */
	remark(): string | undefined {
		const { device } = this.#options;
		const remarks = [
			...(this.#unread > 0
				? [
						`${this.#unread} encrypted ${this.#unread === 1 ? "message" : "messages"} cannot be read yet: the sender's program has not given Keryx the key`,
					]
				: []),
			...(this.#isSigned === "no"
				? [`the device ${device} is not verified: verify it from another session of this account`]
				: []),
		];
		return remarks.length === 0 ? undefined : remarks.join("; ");
	}

	/** Takes keys and devices from a sync. On disk when it resolves. */
	async receive(answer: SyncAnswer, since: string | null): Promise<void> {
		if (this.#receivedSince !== since) this.#received.clear();
		this.#receivedSince = since;
		// A repeated sync brings them again, and a used message cannot be read twice.
		const toDevice = answer.to_device.events.filter((event) => !this.#received.has(JSON.stringify(event)));
		const { changed, left } = answer.device_lists;
		const fallback = answer.device_unused_fallback_key_types;
		await this.#inTurn(async () => {
			await this.#thread.call("receive", {
				toDevice,
				changed,
				left,
				counts: answer.device_one_time_keys_count,
				...(fallback && { fallback }),
			});
			for (const event of toDevice) this.#received.add(JSON.stringify(event));
			await this.#flush();
			if (this.#isSigned === "unknown") await this.#sign();
		});
	}

	/** Null: its key is missing. */
	async decrypt(room: string, event: MatrixEvent): Promise<MatrixEvent | null> {
		if (event.content.algorithm !== ALGORITHM) return null;
		const read = await this.#thread.call("decrypt", room, JSON.stringify(event));
		if (!("event" in read)) return null;
		// The server says who wrote it and which event it is.
		const { type, content } = objectOf(JSON.parse(read.event));
		// The server could not check whose message this deletes, because it is encrypted: nothing is deleted.
		if (type === "m.room.redaction") return readEvent({ ...event, type: "m.dummy", content: {} });
		return readEvent({ ...event, type, content });
	}

	/** Gives everyone in the room the key, then encrypts with it. Rejects before anything visible was sent. */
	encrypt(room: Room, type: string, content: object): Promise<Readonly<Record<string, unknown>>> {
		const { encryption } = room;
		if (encryption?.algorithm !== ALGORITHM)
			return Promise.reject(new Error(`the room's encryption is unknown to Keryx: ${encryption?.algorithm}`));
		const { rotationMs, rotationMessages } = encryption;
		return this.#inTurn(async () => {
			const users = room.readers();
			await this.#thread.call("track", users);
			await this.#flush();
			const claim = await this.#thread.call("missing", users);
			if (claim) await this.#request(claim);
			const shared = await this.#thread.call("share", room.id, users, {
				visibility: room.visibility,
				...(rotationMs !== undefined && { rotationMs }),
				...(rotationMessages !== undefined && { rotationMessages }),
			});
			for (const request of shared) await this.#request(request);
			const encrypted = await this.#thread.call("encrypt", room.id, type, JSON.stringify(content));
			return objectOf(JSON.parse(encrypted));
		});
	}

	/** Whether Keryx has ever seen the room encrypted. */
	isEncrypted(room: string): Promise<boolean> {
		return this.#thread.call("isEncrypted", room);
	}

	/** Keeps a message that cannot be read yet. On disk when it resolves. */
	async keep(room: string, event: MatrixEvent): Promise<void> {
		await this.#thread.call("keep", room, event.event_id, JSON.stringify(event), this.#options.now());
		this.#unread++;
	}

	async forget(room: string, event: string): Promise<void> {
		await this.#thread.call("forget", room, event);
		this.#unread = Math.max(0, this.#unread - 1);
	}

	async waiting(): Promise<readonly { readonly room: string; readonly event: MatrixEvent }[]> {
		const kept = await this.#thread.call("waiting", this.#options.now() - WAITING_MS);
		this.#unread = kept.length;
		return kept.flatMap(({ room, body }) => {
			const event = readEvent(JSON.parse(body));
			return event ? [{ room, event }] : [];
		});
	}

	async close(): Promise<void> {
		await this.#last.catch(() => undefined);
		await this.#thread.close();
	}

	/** One at a time: each changes what the library wants sent. */
	#inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
		const turn = this.#last.catch(() => undefined).then(work);
		this.#last = turn;
		return turn;
	}

	/** Sends the library's pending requests. */
	async #flush(): Promise<void> {
		for (let round = 0; round < ROUNDS; round++) {
			const requests = await this.#thread.call("outgoing");
			let isDone = requests.length === 0;
			for (const request of requests) isDone = !(await this.#tried(request)) || isDone;
			if (isDone) return;
		}
	}

	/** False if the server refuses it: it is tried again with the next sync. */
	async #tried(request: KeyRequest): Promise<boolean> {
		try {
			await this.#request(request);
			return true;
		} catch (error) {
			if (
				!(error instanceof MatrixError) ||
				error.status >= 500 ||
				error.status === 429 ||
				error.status === 401
			)
				throw error;
			if (!this.#refused.has(request.type))
				this.#options.log(`the homeserver refuses a request about encryption keys: ${reasonOf(error)}`);
			this.#refused.add(request.type);
			return false;
		}
	}

	async #request(request: KeyRequest): Promise<void> {
		const answer = await this.#send(request);
		await this.#thread.call("sent", { id: request.id, type: request.type }, JSON.stringify(answer));
	}

	#send({ type, body, eventType = "", transaction = "", room = "" }: KeyRequest): Promise<unknown> {
		const { api } = this.#options;
		const json: unknown = JSON.parse(body);
		switch (type) {
			case TYPE.upload:
				return api.post("/_matrix/client/v3/keys/upload", json);
			case TYPE.query:
				return api.post("/_matrix/client/v3/keys/query", json);
			case TYPE.claim:
				return api.post("/_matrix/client/v3/keys/claim", json);
			case TYPE.toDevice:
				return api.put(path`/_matrix/client/v3/sendToDevice/${eventType}/${transaction}`, json);
			case TYPE.signatures:
				return api.post("/_matrix/client/v3/keys/signatures/upload", json);
			case TYPE.message:
				return api.put(path`/_matrix/client/v3/rooms/${room}/send/${eventType}/${transaction}`, json);
			default:
				return Promise.reject(
					new Error(`the encryption library wants a request of the unknown kind ${type}`),
				);
		}
	}

	/** Signs its own device, so that other people's programs trust it; if another session of the account has signed, a person must. */
	async #sign(): Promise<void> {
		const { isOurs, isKnown, isSigned } = await this.#thread.call("crossSigning");
		if (isSigned || (isKnown && !isOurs)) {
			this.#isSigned = isSigned ? "yes" : "no";
			return;
		}
		const { keys, signing, signatures } = await this.#thread.call("bootstrap");
		try {
			if (keys) await this.#request(keys);
			if (!isKnown)
				await this.#options.api.post("/_matrix/client/v3/keys/device_signing/upload", JSON.parse(signing));
			await this.#send(signatures);
			this.#isSigned = "yes";
		} catch (error) {
			if (!(error instanceof MatrixError) || error.status >= 500 || error.status === 429) throw error;
			// The server wants a password for this.
			this.#options.log(`the homeserver does not let Keryx sign its device: ${reasonOf(error)}`);
			this.#isSigned = "no";
		}
	}
}
