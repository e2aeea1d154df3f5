// A client of one process host. It keeps only its requests: the host's files tell what it misses.
import type { Socket } from "node:net";
import { KeryxError } from "../errors.ts";
import type { ProcessBackend } from "./backend.ts";
import { encodeFrame, type Frame, FrameReader, MAX_PAYLOAD } from "./frames.ts";
import { Listeners } from "./listeners.ts";
import { type FollowNews, PROTOCOL, type WireError } from "./protocol.ts";
import type { KillOptions, KillOutcome, LogPiece, ProcessInfo, PtySize, SpawnRequest } from "./types.ts";

/** A host's answer may be long: it lists everything. */
const MAX_ANSWER = 256 * 1024 * 1024;
/** A host silent for this long does not answer: it is stopped, or its machine hangs. */
const HELLO_MS = 1000;
const ANSWER_MS = 15_000;
/** The same, for a mere liveness check. */
const SILENT_MS = 5000;
/** A kill takes its grace period, then up to this much for slow ones. */
const KILL_MS = 12_000;
const GRACE_MS = 5000;

export interface EnterOptions {
	/** The home the host is known to serve. */
	readonly version?: number;
	readonly helloMs?: number;
	/** A request without an answer by then rejects with process.host_silent; its outcome is unknown. */
	readonly answerMs?: number;
}

interface Waiting {
	readonly resolve: (answer: { readonly value: unknown; readonly data: Buffer }) => void;
	readonly reject: (error: KeryxError) => void;
}

export class HostClient implements ProcessBackend {
	readonly name = "local";
	readonly hostPid: number;
	/** Whether its host knows walls: an older one does not. */
	readonly canWall: boolean;
	readonly #socket: Socket;
	readonly #waiting = new Map<number, Waiting>();
	readonly #following = new Map<number, Following>();
	readonly #ended = new Listeners<[process: ProcessInfo]>();
	readonly #gone = new Listeners<[]>();
	readonly onEnd = this.#ended.add;
	readonly onGone = this.#gone.add;
	readonly #answerMs: number;
	#next = 1;
	/** A request got no answer, and nothing was received since. */
	#isSilent = false;
	#isLeaving = false;
	#isClosed = false;

	private constructor(
		socket: Socket,
		reader: FrameReader,
		answer: Frame["header"],
		{ answerMs = ANSWER_MS }: EnterOptions,
	) {
		this.#socket = socket;
		this.#answerMs = answerMs;
		this.hostPid = Number(answer.pid);
		this.canWall = answer.walls === true;
		socket.on("data", (chunk: Buffer) => {
			try {
				for (const frame of reader.read(chunk)) this.#hear(frame);
			} catch (error) {
				socket.destroy(error as Error);
			}
		});
		socket.on("error", () => {});
		socket.on("close", () => this.#lose());
	}

	/**
	 * Null if the host left before answering, or did not know the token; rejects if it speaks another version, and with
	 * process.host_silent if it is silent.
	 */
	static async enter(socket: Socket, token: string, options: EnterOptions = {}): Promise<HostClient | null> {
		const { version = PROTOCOL, helloMs = HELLO_MS } = options;
		for (const part of encodeFrame({ hello: version, token })) socket.write(part);
		const reader = new FrameReader({ maxHeader: MAX_ANSWER });
		return new Promise((resolve, reject) => {
			const stop = () => {
				clearTimeout(timer);
				socket.off("data", hear);
				socket.off("close", leave);
				socket.off("error", ignore);
			};
			const ignore = () => {};
			const timer = setTimeout(() => {
				stop();
				socket.on("error", ignore);
				socket.destroy();
				reject(silent("the process host does not answer"));
			}, helloMs);
			const leave = () => {
				stop();
				resolve(null);
			};
			const hear = (chunk: Buffer) => {
				const answer = firstHeader(reader, chunk);
				if (!answer) return;
				stop();
				if (typeof answer.hello === "number") return resolve(new HostClient(socket, reader, answer, options));
				socket.destroy();
				reject(fromWire((answer.error as WireError | undefined) ?? NO_HOST));
			};
			socket.on("data", hear);
			socket.on("close", leave);
			socket.on("error", ignore);
		});
	}

	async spawn(request: SpawnRequest): Promise<ProcessInfo> {
		if (request.wall && !this.canWall)
			throw new KeryxError(
				"process.host_version",
				"the running process host is older and cannot make walls, so nothing was started",
				{
					hint: "wait until its processes have ended: it exits a minute later, and the next one makes walls",
				},
			);
		return (await this.#ask({ op: "spawn", ...request })).value as ProcessInfo;
	}

	async list(): Promise<readonly ProcessInfo[]> {
		return (await this.#ask({ op: "list" })).value as ProcessInfo[];
	}

	async get(id: string): Promise<ProcessInfo> {
		return (await this.#ask({ op: "get", id })).value as ProcessInfo;
	}

	async silent(ids: readonly string[]): Promise<ReadonlySet<string>> {
		const [id] = ids;
		// The open request is answered when the host continues: no need for another.
		if (id === undefined || (!this.#isSilent && (await this.#answers(id)))) return new Set();
		return new Set(ids);
	}

	async read(
		id: string,
		{ from, limit }: { readonly from: number; readonly limit: number },
	): Promise<LogPiece> {
		const { value, data } = await this.#ask({ op: "read", id, from, limit });
		return { ...(value as Omit<LogPiece, "data">), data };
	}

	async *follow(id: string, { from = 0 }: { readonly from?: number } = {}): AsyncGenerator<LogPiece> {
		const seq = this.#next++;
		const following = new Following();
		this.#following.set(seq, following);
		try {
			await this.#ask({ op: "follow", id, from }, { seq });
			for (;;) {
				const piece = await following.next();
				if (!piece) return;
				yield piece;
				this.#send({ op: "taken", seq, bytes: piece.data.length });
			}
		} finally {
			this.#following.delete(seq);
			this.#send({ op: "unfollow", seq });
			this.#closeIfLeft();
		}
	}

	async write(id: string, data: Uint8Array): Promise<void> {
		if (data.length > MAX_PAYLOAD)
			throw new KeryxError("process.input_full", `at most ${MAX_PAYLOAD} bytes can be written at once`);
		await this.#ask({ op: "write", id }, { data });
	}

	async endInput(id: string): Promise<void> {
		await this.#ask({ op: "endInput", id });
	}

	async resize(id: string, { rows, cols }: PtySize): Promise<void> {
		await this.#ask({ op: "resize", id, rows, cols });
	}

	async signal(id: string, signal: string): Promise<void> {
		await this.#ask({ op: "signal", id, signal });
	}

	async kill(id: string, { signal, graceMs }: KillOptions = {}): Promise<KillOutcome> {
		const withinMs = this.#answerMs + (graceMs ?? GRACE_MS) + KILL_MS;
		return (await this.#ask({ op: "kill", id, signal, graceMs }, { withinMs })).value as KillOutcome;
	}

	async forget(id: string): Promise<void> {
		await this.#ask({ op: "forget", id });
	}

	async remove(id: string): Promise<void> {
		await this.#ask({ op: "remove", id });
	}

	/** Closes once all requests are answered and nothing is followed. */
	leave(): void {
		this.#isLeaving = true;
		this.#closeIfLeft();
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		if (this.#socket.destroyed) return;
		const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
		this.#socket.destroy();
		await closed;
	}

	/** Any answer will do, even that it does not know this one. */
	async #answers(id: string): Promise<boolean> {
		try {
			await this.#ask({ op: "get", id }, { withinMs: Math.min(SILENT_MS, this.#answerMs) });
			return true;
		} catch (error) {
			return !(error instanceof KeryxError && error.code === "process.host_silent");
		}
	}

	#ask(
		question: object,
		{
			seq = this.#next++,
			data,
			withinMs = this.#answerMs,
		}: { seq?: number; data?: Uint8Array; withinMs?: number } = {},
	): Promise<{ readonly value: unknown; readonly data: Buffer }> {
		return new Promise((resolve, reject) => {
			if (this.#socket.destroyed) return reject(gone());
			const timer = setTimeout(() => {
				this.#waiting.delete(seq);
				this.#isSilent = true;
				reject(silent(`the process host (pid ${this.hostPid}) does not answer`));
				this.#closeIfLeft();
			}, withinMs);
			this.#waiting.set(seq, {
				resolve: (answer) => {
					clearTimeout(timer);
					resolve(answer);
				},
				reject: (error) => {
					clearTimeout(timer);
					reject(error);
				},
			});
			this.#send({ ...question, seq }, data);
		});
	}

	#send(header: object, data?: Uint8Array): void {
		if (this.#socket.destroyed) return;
		for (const part of encodeFrame(header, data)) this.#socket.write(part);
	}

	#hear({ header, payload }: Frame): void {
		this.#isSilent = false;
		if (header.ended) {
			this.#ended.tell(header.ended as ProcessInfo);
			return;
		}
		if (typeof header.follow === "number") {
			this.#following.get(header.follow)?.add(header as unknown as FollowNews, payload);
			return;
		}
		const seq = Number(header.seq);
		const waiting = this.#waiting.get(seq);
		this.#waiting.delete(seq);
		const error = header.error ? fromWire(header.error as WireError) : null;
		if (!error) waiting?.resolve({ value: header.value, data: payload });
		else if (waiting) waiting.reject(error);
		else this.#following.get(seq)?.fail(error);
		this.#closeIfLeft();
	}

	#closeIfLeft(): void {
		if (this.#isLeaving && this.#waiting.size === 0 && this.#following.size === 0) void this.close();
	}

	#lose(): void {
		for (const { reject } of this.#waiting.values()) reject(gone());
		this.#waiting.clear();
		for (const following of this.#following.values()) following.fail(gone());
		if (this.#isClosed) return;
		this.#gone.tell();
	}
}

/** Received output of one log, not yet consumed; the host sends at most a window. */
class Following {
	readonly #pieces: LogPiece[] = [];
	#wake: () => void = () => {};
	#isDone = false;
	#error: KeryxError | null = null;

	add({ from, lost, size, done }: FollowNews, data: Buffer): void {
		if (done) this.#isDone = true;
		else this.#pieces.push({ from, data, lost, next: from + data.length, size });
		this.#wake();
	}

	fail(error: KeryxError): void {
		this.#error = error;
		this.#wake();
	}

	/** Null after the last one. */
	async next(): Promise<LogPiece | null> {
		for (;;) {
			const piece = this.#pieces.shift();
			if (piece) return piece;
			if (this.#error) throw this.#error;
			if (this.#isDone) return null;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}
}

const NO_HOST: WireError = {
	code: "process.host_failed",
	message: "the program that answers is not a process host",
};

function firstHeader(reader: FrameReader, chunk: Buffer): Frame["header"] | null {
	try {
		for (const { header } of reader.read(chunk)) return header;
		return null;
	} catch {
		return {};
	}
}

function fromWire({ code, message, field }: WireError): KeryxError {
	return new KeryxError(code, message, field === undefined ? {} : { field });
}

function silent(message: string): KeryxError {
	return new KeryxError("process.host_silent", message);
}

function gone(): KeryxError {
	return new KeryxError("process.host_gone", "the connection to the process host was lost");
}
