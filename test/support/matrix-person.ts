// A person on a homeserver, with their own client: any server, plain or encrypted rooms. Their keys are in memory.
import { setTimeout as later } from "node:timers/promises";
import * as lib from "@matrix-org/matrix-sdk-crypto-wasm";

type Json = Record<string, unknown>;

export interface Seen {
	readonly room: string;
	readonly id: string;
	readonly sender: string;
	readonly type: string;
	readonly content: Json;
	/** It came encrypted. */
	readonly isEncrypted: boolean;
}

interface Event {
	readonly event_id: string;
	readonly sender: string;
	readonly type: string;
	readonly content: Json;
	readonly state_key?: string;
}

export class MatrixPerson {
	readonly id: string;
	readonly device: string;
	readonly seen: Seen[] = [];
	/** Encrypted messages without a key, so far. */
	readonly unread = new Map<string, Event & { readonly room: string }>();
	readonly #url: string;
	readonly #token: string;
	readonly #machine: lib.OlmMachine;
	#since: string | undefined;
	#running: Promise<void> = Promise.resolve();
	#isStopping = false;
	#transactions = 0;
	#last: Promise<unknown> = Promise.resolve();

	private constructor(
		url: string,
		session: { user_id: string; device_id: string; access_token: string },
		machine: lib.OlmMachine,
	) {
		this.#url = url;
		this.id = session.user_id;
		this.device = session.device_id;
		this.#token = session.access_token;
		this.#machine = machine;
	}

	static async logIn(url: string, user: string, password: string): Promise<MatrixPerson> {
		await lib.initAsync();
		const body = { type: "m.login.password", identifier: { type: "m.id.user", user }, password };
		const session = await call<{ user_id: string; device_id: string; access_token: string }>(
			`${url}/_matrix/client/v3/login`,
			"POST",
			"",
			body,
		);
		const machine = await lib.OlmMachine.initialize(
			new lib.UserId(session.user_id),
			new lib.DeviceId(session.device_id),
		);
		const person = new MatrixPerson(url, session, machine);
		await person.#flush();
		await person.sync(0);
		return person;
	}

	/** Follows everything until `leave`. */
	follow(): void {
		this.#running = (async () => {
			while (!this.#isStopping) await this.sync(500);
		})();
	}

	async leave(): Promise<void> {
		this.#isStopping = true;
		await this.#running;
		this.#machine.close();
	}

	async createRoom(options: Json): Promise<string> {
		return String((await this.post("createRoom", options)).room_id);
	}

	join(room: string): Promise<Json> {
		return this.post(`rooms/${encodeURIComponent(room)}/join`, {});
	}

	/** Returns the event's id. */
	say(room: string, text: string, more: Json = {}): Promise<string> {
		return this.send(room, "m.room.message", { msgtype: "m.text", body: text, ...more });
	}

	async send(room: string, type: string, content: Json): Promise<string> {
		const state = (await this.get(`rooms/${encodeURIComponent(room)}/state`)) as unknown as readonly Event[];
		if (!state.some((event) => event.type === "m.room.encryption")) return this.put(room, type, content);
		const users = state
			.filter(
				(event) => event.type === "m.room.member" && /join|invite/.test(String(event.content.membership)),
			)
			.map(({ state_key: user = "" }) => user);
		const encrypted = await this.#inTurn(async () => {
			const ids = () => users.map((user) => new lib.UserId(user));
			await this.#machine.updateTrackedUsers(ids());
			await this.#flush();
			const claim = await this.#machine.getMissingSessions(ids());
			if (claim) await this.#request(claim);
			const shared = await this.#machine.shareRoomKey(
				new lib.RoomId(room),
				ids(),
				new lib.EncryptionSettings(),
			);
			for (const request of shared) await this.#request(request);
			return this.#machine.encryptRoomEvent(new lib.RoomId(room), type, JSON.stringify(content));
		});
		return this.put(room, "m.room.encrypted", JSON.parse(encrypted) as Json);
	}

	async put(room: string, type: string, content: Json): Promise<string> {
		const path = `rooms/${encodeURIComponent(room)}/send/${type}/${this.device}.${++this.#transactions}`;
		return String((await this.#call("PUT", path, content)).event_id);
	}

	get(path: string): Promise<Json> {
		return this.#call("GET", path);
	}

	post(path: string, body: Json): Promise<Json> {
		return this.#call("POST", path, body);
	}

	/** Messages in a room, as they can read them. */
	texts(room: string, by: string): string[] {
		return this.seen
			.filter((event) => event.room === room && event.sender === by && event.type === "m.room.message")
			.filter(({ content }) => !("m.new_content" in content))
			.map(({ content }) => String(content.body));
	}

	async until(condition: () => boolean): Promise<void> {
		while (!condition()) await later(5);
	}

	/** One sync. */
	async sync(timeout: number): Promise<void> {
		const query = new URLSearchParams({
			timeout: String(timeout),
			...(this.#since !== undefined && { since: this.#since }),
		});
		const answer = (await this.get(`sync?${query}`)) as unknown as {
			next_batch: string;
			rooms?: { join?: Record<string, { timeline: { events: readonly Event[] } }> };
			to_device?: { events: readonly Json[] };
			device_lists?: { changed?: readonly string[]; left?: readonly string[] };
			device_one_time_keys_count?: Record<string, number>;
		};
		const { to_device: toDevice, device_lists: lists, device_one_time_keys_count: counts } = answer;
		const users = (ids: readonly string[] = []) => ids.map((id) => new lib.UserId(id));
		await this.#inTurn(async () => {
			await this.#machine.receiveSyncChanges(
				JSON.stringify(toDevice?.events ?? []),
				new lib.DeviceLists(users(lists?.changed), users(lists?.left)),
				new Map(Object.entries(counts ?? {})),
				undefined,
				UNTRUSTED(),
			);
			await this.#flush();
		});
		for (const [room, { timeline }] of Object.entries(answer.rooms?.join ?? {}))
			for (const event of timeline.events) await this.#saw({ ...event, room });
		if ((toDevice?.events.length ?? 0) > 0)
			for (const event of [...this.unread.values()]) await this.#saw(event);
		this.#since = answer.next_batch;
	}

	async #saw(event: Event & { readonly room: string }): Promise<void> {
		const { room, event_id: id, sender, type, content } = event;
		if (type !== "m.room.encrypted") {
			this.seen.push({ room, id, sender, type, content, isEncrypted: false });
			return;
		}
		try {
			const { event: read } = await this.#machine.decryptRoomEvent(
				JSON.stringify(event),
				new lib.RoomId(room),
				UNTRUSTED(),
			);
			const { type: inner, content: words } = JSON.parse(read) as Event;
			this.unread.delete(id);
			this.seen.push({ room, id, sender, type: inner, content: words, isEncrypted: true });
		} catch (error) {
			if (!(error instanceof lib.MegolmDecryptionError)) throw error;
			this.unread.set(id, event);
		}
	}

	#inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
		const turn = this.#last.catch(() => undefined).then(work);
		this.#last = turn;
		return turn;
	}

	async #flush(): Promise<void> {
		for (const request of await this.#machine.outgoingRequests()) await this.#request(request);
	}

	async #request(request: object): Promise<void> {
		const { id, type, body, event_type, txn_id } = request as {
			id: string;
			type: lib.RequestType;
			body: string;
			event_type?: string;
			txn_id?: string;
		};
		const json = JSON.parse(body) as Json;
		const answer =
			type === lib.RequestType.ToDevice
				? await this.#call("PUT", `sendToDevice/${event_type}/${txn_id}`, json)
				: await this.post(PATHS[type] ?? "", json);
		await this.#machine.markRequestAsSent(id, type, JSON.stringify(answer));
	}

	#call(method: string, path: string, body?: Json): Promise<Json> {
		return call(`${this.#url}/_matrix/client/v3/${path}`, method, this.#token, body);
	}
}

const UNTRUSTED = () => new lib.DecryptionSettings(lib.TrustRequirement.Untrusted);

const PATHS: Readonly<Record<number, string>> = {
	0: "keys/upload",
	1: "keys/query",
	2: "keys/claim",
	4: "keys/signatures/upload",
};

export async function call<Answer = Json>(
	url: string,
	method: string,
	token: string,
	body?: Json,
): Promise<Answer> {
	const response = await fetch(url, {
		method,
		headers: {
			"content-type": "application/json",
			...(token !== "" && { authorization: `Bearer ${token}` }),
		},
		...(body && { body: JSON.stringify(body) }),
	});
	const answer = (await response.json()) as Json;
	if (!response.ok)
		throw new Error(`${method} ${new URL(url).pathname}: ${response.status} ${JSON.stringify(answer)}`);
	return answer as Answer;
}
