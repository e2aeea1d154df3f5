// One terminal in a browser, on one process. Bytes are sent as fast as the browser takes them: at most one piece waits here and one
// window at the process host. Everything ends with the socket, the process, the token or the server.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import {
	drawnSoFar,
	type LogPiece,
	type ProcessBackend,
	type Processes,
	type PtySize,
	piecesBetween,
	resizeTerminal,
	TerminalModes,
} from "../../processes/index.ts";
import { OPERATOR, type Process } from "../../store/index.ts";
import { toKeryxError } from "../errors.ts";
import type { Audience, Audiences } from "./audience.ts";

/** Shown first for a process on pipes. */
const FIRST_SHOWN = 128 * 1024;
/** How long the recorded end is waited for after the output has ended. */
const RECORD_MS = 5000;
const BEAT_MS = 15_000;
const CLOSING_MS = 1000;
/** Input not passed on yet; beyond it, the socket is not read. */
const MOST_WAITING = 256 * 1024;
const NOT_FOR_YOU =
	"with your role you cannot watch it: what it prints may hold secrets of whoever started it";
const CLOSED = { done: 1000, server: 1001, refused: 1008, failed: 1011 } as const;

/** The used part of a WebSocket. */
export interface TerminalSocket {
	send(data: string | Uint8Array, sent: (error?: Error | null) => void): void;
	close(code: number, reason: string): void;
	terminate(): void;
	ping(): void;
	pause(): void;
	resume(): void;
	on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): unknown;
	on(event: "pong" | "close" | "error", listener: () => void): unknown;
}

export interface TerminalOptions {
	readonly socket: TerminalSocket;
	readonly processes: Processes;
	readonly process: Process;
	/** Null: the current screen, or the end of the output. */
	readonly from: number | null;
	readonly audiences: Audiences;
	/** False: the reason is told, and nothing else. */
	readonly mayWatch: boolean;
	mayType(): Promise<boolean>;
	/** Records an attempt that is not allowed. */
	refused(what: string): Promise<void>;
	readonly revoked: AbortSignal;
	readonly closing: AbortSignal;
}

const typed = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("input"), data: z.string().min(1).max(65_536) }),
	z.strictObject({ type: z.literal("end") }),
	z.strictObject({
		type: z.literal("resize"),
		cols: z.int().min(1).max(1000),
		rows: z.int().min(1).max(1000),
	}),
]);

/** Resolves when nothing of it is left. */
export function serveTerminal(options: TerminalOptions): Promise<void> {
	return new Terminal(options).run();
}

class Terminal {
	readonly #options: TerminalOptions;
	readonly #id: string;
	readonly #left = new AbortController();
	/** Until its backend is known; earlier input waits. */
	readonly #ready = Promise.withResolvers<void>();
	#backend: ProcessBackend | null = null;
	#audience: Audience | null = null;
	#typing: Promise<void> = Promise.resolve();
	#waiting = 0;
	#wasRefused = false;
	#isAlive = true;

	constructor(options: TerminalOptions) {
		this.#options = options;
		this.#id = options.process.id;
	}

	async run(): Promise<void> {
		const { socket, revoked, closing, mayWatch } = this.#options;
		this.#left.signal.addEventListener("abort", () => void this.#backend?.close());
		socket.on("close", () => this.#left.abort());
		// A broken connection ends it, and its close says why.
		socket.on("error", () => {});
		socket.on("pong", () => {
			this.#isAlive = true;
		});
		socket.on("message", (data, isBinary) => this.#hear(data, isBinary));
		const beat = setInterval(() => this.#beat(), BEAT_MS);
		const onRevoked = () => this.#hangUp(CLOSED.refused, "the token was revoked");
		const onClosing = () => this.#hangUp(CLOSED.server, "Keryx is stopping");
		revoked.addEventListener("abort", onRevoked, { once: true });
		closing.addEventListener("abort", onClosing, { once: true });
		if (revoked.aborted) onRevoked();
		if (closing.aborted) onClosing();
		try {
			if (mayWatch) {
				await this.#show();
				this.#hangUp(CLOSED.done, "the process has ended");
			} else {
				await this.#tellError(
					new KeryxError("http.forbidden", NOT_FOR_YOU, { hint: "read its log: they are hidden there" }),
				);
				this.#hangUp(CLOSED.refused, "your role may read its log");
			}
		} catch (error) {
			if (!this.#left.signal.aborted) await this.#tellError(error).catch(() => {});
			this.#hangUp(CLOSED.failed, "it can no longer be shown");
		} finally {
			clearInterval(beat);
			this.#ready.resolve();
			revoked.removeEventListener("abort", onRevoked);
			closing.removeEventListener("abort", onClosing);
			await this.#typing;
			this.#left.abort();
			await this.#leave();
		}
	}

	async #show(): Promise<void> {
		const { processes, audiences, from } = this.#options;
		const read = (id: string, options: { readonly from: number; readonly limit: number }) =>
			processes.read(OPERATOR, id, options);
		const backend = await this.#attached();
		// It may have just ended and been forgotten.
		const info = await backend?.get(this.#id).catch(() => null);
		if (info?.pty) {
			this.#audience = audiences.enter(this.#id, info.pty, this);
			await this.#tell({ type: "size", ...this.#audience.size });
		}
		this.#ready.resolve();
		let at = from ?? (await this.#showSoFar(read));
		await this.#tell({ type: "position", at });
		const put = async (piece: LogPiece) => {
			if (piece.lost > 0) {
				await this.#tell({ type: "lost", bytes: piece.lost });
				await this.#tell({ type: "position", at: piece.from });
			}
			if (piece.data.length > 0) await this.#send(piece.data);
			at = piece.next;
		};
		try {
			if (info?.status === "running" && backend)
				for await (const piece of backend.follow(this.#id, { from: at })) await put(piece);
		} catch (error) {
			// A dead host has left its files.
			if (!isGone(error) || this.#left.signal.aborted) throw error;
		}
		const { size } = await read(this.#id, { from: 0, limit: 0 });
		for await (const piece of piecesBetween(read, this.#id, at, size)) await put(piece);
		await this.#tellEnd();
	}

	/** A separate connection, as for `keryx attach`; null if it is not running. */
	async #attached(): Promise<ProcessBackend | null> {
		this.#backend = await this.#options.processes.attach(OPERATOR, this.#id);
		if (this.#left.signal.aborted) await this.#backend?.close();
		return this.#backend;
	}

	async #showSoFar(read: Parameters<typeof drawnSoFar>[0]): Promise<number> {
		if (!this.#options.process.pty) {
			const { size } = await read(this.#id, { from: 0, limit: 0 });
			return Math.max(0, size - FIRST_SHOWN);
		}
		const { data, at } = await drawnSoFar(read, this.#id, new TerminalModes());
		if (data.length > 0) await this.#send(data);
		return at;
	}

	async #tellEnd(): Promise<void> {
		const waiting = { ms: RECORD_MS, signal: this.#left.signal };
		const { status, exitCode, signal, cause, endedAt } = await this.#options.processes.wait(
			OPERATOR,
			this.#id,
			waiting,
		);
		if (endedAt === null)
			throw new KeryxError("process.host_gone", "it runs where this Keryx cannot reach it");
		await this.#tell({ type: "exit", state: status, exit_code: exitCode, signal, cause });
	}

	/** In order, each after the previous. */
	#hear(data: Buffer, isBinary: boolean): void {
		const { socket } = this.#options;
		this.#waiting += data.length;
		if (this.#waiting > MOST_WAITING) socket.pause();
		this.#typing = this.#typing
			.then(() => this.#obey(data, isBinary))
			.catch((error: unknown) => this.#tellError(error))
			.catch(() => {})
			.finally(() => {
				this.#waiting -= data.length;
				if (this.#waiting <= MOST_WAITING) socket.resume();
			});
	}

	async #obey(data: Buffer, isBinary: boolean): Promise<void> {
		const { mayType, refused } = this.#options;
		await this.#ready.promise;
		const backend = this.#backend;
		if (this.#left.signal.aborted) return;
		if (!(await mayType())) {
			if (!this.#wasRefused) await refused("type into");
			this.#wasRefused = true;
			throw new KeryxError("http.forbidden", "with your role you can watch, but not type");
		}
		const control = isBinary ? null : parsed(data);
		if (!control) throw new KeryxError("argument.invalid", "this is not a terminal frame", FRAME);
		if (!backend) throw new KeryxError("process.ended", "it no longer accepts input");
		if (control.type === "input") await backend.write(this.#id, Buffer.from(control.data));
		else if (control.type === "end") await backend.endInput(this.#id);
		else await this.#audience?.resize(backend, this, { rows: control.rows, cols: control.cols });
	}

	tellSize(size: PtySize): void {
		this.#tell({ type: "size", ...size }).catch(() => {});
	}

	async #leave(): Promise<void> {
		const { processes, audiences } = this.#options;
		const back = this.#audience && audiences.leave(this.#id, this);
		if (!back) return;
		const backend = await processes.attach(OPERATOR, this.#id).catch(() => null);
		try {
			if (backend) await resizeTerminal(backend, this.#id, back);
		} catch {
			// Its host is gone: there is no size any more.
		} finally {
			await backend?.close();
		}
	}

	#tellError(error: unknown): Promise<void> {
		return this.#tell({ type: "error", error: toKeryxError(error).toJSON() });
	}

	#tell(frame: object): Promise<void> {
		return this.#send(JSON.stringify(frame));
	}

	/** Resolves when the system has taken it. */
	#send(data: string | Uint8Array): Promise<void> {
		return new Promise((resolve, reject) => {
			this.#options.socket.send(data, (error) => (error ? reject(error) : resolve()));
		});
	}

	/** Silent for this long means gone or not reading. */
	#beat(): void {
		const { socket } = this.#options;
		if (this.#isAlive) socket.ping();
		else socket.terminate();
		this.#isAlive = false;
	}

	/** Then the connection is closed for it. */
	#hangUp(code: number, reason: string): void {
		const { socket } = this.#options;
		socket.close(code, reason);
		this.#left.abort();
		setTimeout(() => socket.terminate(), CLOSING_MS).unref();
	}
}

const FRAME = {
	field: "type",
	hint: "send JSON of type input, end or resize: docs/reference/api.md",
} as const;

function isGone(error: unknown): boolean {
	return error instanceof KeryxError && error.code === "process.host_gone";
}

function parsed(data: Buffer): z.output<typeof typed> | null {
	try {
		return typed.safeParse(JSON.parse(data.toString("utf8"))).data ?? null;
	} catch {
		return null;
	}
}
