// One client's connection: the token first, then requests, each answered, with events in between. A bad client harms no other.
import { timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { KeryxError } from "../../errors.ts";
import { encodeFrame, type Frame, FrameReader, MAX_PAYLOAD } from "../frames.ts";
import { readLog } from "../log/files.ts";
import {
	type EndNews,
	type FollowNews,
	type Hello,
	isServed,
	PROTOCOL,
	type Reply,
	type WireError,
} from "../protocol.ts";
import type { ProcessInfo } from "../types.ts";
import { Follower } from "./follower.ts";
import { number, readId, readKill, readSignal, readSize, readSpawn } from "./requests.ts";
import type { ProcessTable } from "./table.ts";

/** A silent client is not waited for. */
const HELLO_MS = 5000;
/** Before authentication, a client may send at most this much. */
const MAX_HELLO = 4096;
/** Output waits in the files while this much waits in the socket. */
const MAX_WAITING = 1024 * 1024;
/** A client that asks and never reads is disconnected. */
const MAX_UNREAD = 64 * 1024 * 1024;

type Fields = Frame["header"];

export interface ConnectionOptions {
	readonly socket: Socket;
	readonly home: string;
	readonly token: Buffer;
	readonly table: ProcessTable;
}

export class Connection {
	readonly #options: ConnectionOptions;
	readonly #followers = new Map<number, Follower>();
	#isLetIn = false;

	constructor(options: ConnectionOptions) {
		this.#options = options;
		const { socket } = options;
		let reader = new FrameReader({ maxHeader: MAX_HELLO });
		socket.setTimeout(HELLO_MS, () => socket.destroy());
		socket.on("error", () => {});
		socket.on("drain", () => this.#resume());
		socket.on("close", () => {
			for (const follower of this.#followers.values()) follower.stop();
			this.#followers.clear();
		});
		socket.on("data", (chunk: Buffer) => {
			try {
				for (const frame of reader.read(chunk)) {
					if (this.#isLetIn) this.#obey(frame);
					else {
						if (!this.#letIn(frame.header)) return;
						reader = new FrameReader();
					}
				}
			} catch {
				socket.destroy();
			}
		});
	}

	tellEnd(ended: ProcessInfo): void {
		if (this.#isLetIn) this.#send({ ended } satisfies EndNews);
		this.#resume();
	}

	/** A client waits for the answer before it continues, so nothing can follow the first frame. */
	#letIn({ hello, token }: Fields): boolean {
		const { socket } = this.#options;
		if (!isServed(hello)) {
			const message = `this host speaks versions up to ${PROTOCOL}, not ${String(hello)}`;
			this.#send({ seq: 0, error: { code: "process.host_version", message } } satisfies Reply);
			socket.end();
			return false;
		}
		const given = Buffer.from(typeof token === "string" ? token : "");
		const expected = this.#options.token;
		if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
			socket.destroy();
			return false;
		}
		this.#isLetIn = true;
		socket.setTimeout(0);
		this.#send({ hello, pid: process.pid, walls: true } satisfies Hello);
		return true;
	}

	#obey({ header, payload }: Frame): void {
		const seq = number(header.seq, "seq", 0);
		if (header.op === "taken") this.#followers.get(seq)?.acknowledge(number(header.bytes, "bytes", 0));
		else if (header.op === "unfollow") this.#unfollow(seq);
		else void this.#answer(seq, header, payload);
	}

	async #answer(seq: number, header: Fields, payload: Buffer): Promise<void> {
		try {
			const { value = null, data } = await this.#perform(seq, header, payload);
			this.#send({ seq, value } satisfies Reply, data);
		} catch (error) {
			this.#send({ seq, error: wireError(error) } satisfies Reply);
		}
	}

	async #perform(seq: number, header: Fields, payload: Buffer): Promise<{ value?: unknown; data?: Buffer }> {
		const { table, home } = this.#options;
		if (header.op === "list") return { value: await table.list() };
		if (header.op === "spawn") return { value: await table.spawn(readSpawn(header)) };
		const id = readId(header.id);
		switch (header.op) {
			case "get":
				return { value: await table.get(id) };
			case "read": {
				const limit = Math.min(number(header.limit, "limit", 0), MAX_PAYLOAD);
				const { data, ...value } = await readLog({ home, id, from: number(header.from, "from", 0), limit });
				return { value, data };
			}
			case "follow":
				await this.#follow(seq, id, number(header.from, "from", 0));
				return {};
			case "write":
				await (await table.running(id)).write(payload);
				return {};
			case "endInput":
				(await table.running(id)).endInput();
				return {};
			case "resize":
				(await table.running(id)).resize(readSize(header));
				return {};
			case "signal":
				(await table.running(id)).signal(readSignal(header.signal));
				return {};
			case "kill":
				return { value: await table.kill(id, readKill(header)) };
			case "forget":
				await table.forget(id);
				return {};
			case "remove":
				await table.remove(id);
				return {};
			default:
				throw new KeryxError("argument.invalid", `op: a host cannot ${String(header.op)}`, { field: "op" });
		}
	}

	async #follow(seq: number, id: string, from: number): Promise<void> {
		await readLog({ home: this.#options.home, id, from, limit: 0 });
		if (this.#options.socket.destroyed) return;
		const news = (piece: { from: number; lost: number; size: number; done: boolean }, data?: Buffer) =>
			this.#send({ follow: seq, ...piece } satisfies FollowNews, data);
		const follower = new Follower({
			home: this.#options.home,
			id,
			from,
			process: this.#options.table.heldOf(id),
			hasRoom: () => this.#options.socket.writableLength < MAX_WAITING,
			send: ({ data, from, lost, size }) => news({ from, lost, size, done: false }, data),
			finish: (error) => {
				this.#followers.delete(seq);
				if (error === undefined) news({ from: 0, lost: 0, size: 0, done: true });
				else this.#send({ seq, error: wireError(error) } satisfies Reply);
			},
		});
		this.#followers.set(seq, follower);
	}

	#unfollow(seq: number): void {
		this.#followers.get(seq)?.stop();
		this.#followers.delete(seq);
	}

	#resume(): void {
		for (const follower of this.#followers.values()) follower.resume();
	}

	#send(header: object, data?: Buffer): void {
		const { socket } = this.#options;
		if (socket.destroyed) return;
		socket.cork();
		for (const part of encodeFrame(header, data)) socket.write(part);
		socket.uncork();
		if (socket.writableLength > MAX_UNREAD) socket.destroy();
	}
}

function wireError(error: unknown): WireError {
	if (error instanceof KeryxError)
		return { code: error.code, message: error.message, ...(error.field && { field: error.field }) };
	process.stderr.write(
		`${new Date().toISOString()} ${error instanceof Error ? error.stack : String(error)}\n`,
	);
	return { code: "process.failed", message: error instanceof Error ? error.message : String(error) };
}
