// A shell on the other machine for short queries: is it there, what is alive, signal it. One connection, opened on demand and closed when
// idle; queries are serial, each with a time limit or `process.unreachable`.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import { type SshTarget, sshCommand, sshVariables } from "./target.ts";

const ANSWER_MS = 30_000;
const IDLE_MS = 60_000;
const MAX_ERRORS = 4096;

export class RemoteShell {
	readonly #target: SshTarget;
	#line: Line | null = null;
	#before: Promise<unknown> = Promise.resolve();
	#idle: NodeJS.Timeout | undefined;
	#isClosed = false;

	constructor(target: SshTarget) {
		this.#target = target;
	}

	/** The script's output. `once`: not repeated after a broken connection, because it may have been executed. */
	ask(script: string, { once = false }: { readonly once?: boolean } = {}): Promise<string> {
		const answer = this.#before.then(() => this.#ask(script, once));
		this.#before = answer.catch(() => {});
		return answer;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		clearTimeout(this.#idle);
		await this.#line?.close();
	}

	async #ask(script: string, once: boolean): Promise<string> {
		clearTimeout(this.#idle);
		try {
			const wasThere = this.#line?.isOpen ?? false;
			try {
				return await this.#connected().ask(script);
			} catch (error) {
				if (!wasThere || once) throw error;
				return await this.#connected().ask(script);
			}
		} finally {
			this.#idle = setTimeout(() => void this.#line?.close(), IDLE_MS).unref();
		}
	}

	#connected(): Line {
		if (this.#isClosed) throw new KeryxError("process.host_gone", "the backend was closed");
		if (!this.#line?.isOpen) this.#line = new Line(this.#target);
		return this.#line;
	}
}

class Line {
	readonly #destination: string;
	readonly #child: ChildProcessWithoutNullStreams;
	readonly #token = randomBytes(12).toString("hex");
	readonly #closed: Promise<void>;
	#isOpen = true;
	#errors = "";
	#count = 0;
	#received: Buffer = Buffer.alloc(0);
	#waiting: { readonly end: Buffer; done(answer: string): void; fail(error: KeryxError): void } | null = null;

	constructor(target: SshTarget) {
		this.#destination = target.destination;
		// The user's own shell only has to run this, whatever it is.
		const [program, ...args] = sshCommand(target, "exec sh");
		this.#child = spawn(program as string, args, { env: sshVariables(target), stdio: "pipe" });
		this.#child.stdin.on("error", () => {});
		this.#child.stdout.on("data", (data: Buffer) => this.#take(data));
		this.#child.stderr.on("data", (data: Buffer) => {
			this.#errors = (this.#errors + data.toString()).slice(-MAX_ERRORS);
		});
		this.#closed = new Promise((resolve) => {
			const leave = () => {
				this.#isOpen = false;
				this.#waiting?.fail(this.#unreachable());
				resolve();
			};
			this.#child.on("error", (error) => {
				this.#errors = error.message;
				leave();
			});
			this.#child.on("close", leave);
		});
	}

	get isOpen(): boolean {
		return this.#isOpen;
	}

	ask(script: string): Promise<string> {
		return new Promise((resolve, reject) => {
			if (!this.#isOpen) return reject(this.#unreachable());
			const mark = `${this.#token}.${this.#count++}`;
			const tooLate = setTimeout(() => {
				this.#errors ||= `no answer for ${ANSWER_MS / 1000} s`;
				this.#child.kill("SIGKILL");
			}, ANSWER_MS);
			const settle = () => {
				clearTimeout(tooLate);
				this.#waiting = null;
			};
			this.#waiting = {
				end: Buffer.from(`\n${mark} end\n`),
				done: (answer) => {
					settle();
					const start = answer.indexOf(`${mark} begin\n`);
					resolve(answer.slice(start + `${mark} begin\n`.length));
				},
				fail: (error) => {
					settle();
					reject(error);
				},
			};
			this.#received = Buffer.alloc(0);
			this.#child.stdin.write(
				`printf '%s begin\\n' ${mark}\n(\n${script}\n) </dev/null\nprintf '\\n%s end\\n' ${mark}\n`,
			);
		});
	}

	async close(): Promise<void> {
		this.#child.stdin.end();
		this.#child.kill("SIGTERM");
		await this.#closed;
	}

	#take(data: Buffer): void {
		if (!this.#waiting) return;
		this.#received = Buffer.concat([this.#received, data]);
		const at = this.#received.indexOf(this.#waiting.end);
		if (at >= 0) this.#waiting.done(this.#received.subarray(0, at).toString());
	}

	#unreachable(): KeryxError {
		const why = this.#errors.trim().replaceAll(/\s*\r?\n\s*/g, "; ");
		return new KeryxError(
			"process.unreachable",
			`${this.#destination} cannot be reached${why === "" ? "" : `: ${why}`}`,
		);
	}
}
