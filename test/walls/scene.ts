// A home with a secret, a workspace, and programs behind walls. Everything lies below one folder in /var/tmp: /tmp is each wall's own.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ReadStream } from "node:tty";
import {
	type Machine,
	newWall,
	readMachine,
	startBehindWall,
	type Wall,
	type Walled,
	type WalledExit,
	type WalledStart,
	type WallKind,
	type WallLimits,
} from "../../src/walls/index.ts";

/** Nobody on any machine has it, so nothing of anybody is reached by it. */
const ORDINARY = 61_234;
export const PATH = "/usr/local/bin:/usr/bin:/bin";

/** This process is an ordinary user's from now on, for good. Where it was already, nothing happens. */
export function becomeOrdinary(): void {
	if (process.getuid?.() !== 0) return;
	process.setgroups?.([ORDINARY]);
	process.setgid?.(ORDINARY);
	process.setuid?.(ORDINARY);
}

export interface Outcome {
	readonly exit: WalledExit;
	readonly out: string;
	readonly errors: string;
}

export class WallScene {
	/** Its owner's; Keryx's home lies below it, as it does for real. */
	readonly top = mkdtempSync("/var/tmp/keryx-walls-");
	readonly user = join(this.top, "user");
	readonly home = join(this.user, ".local/share/keryx");
	readonly workspace = join(this.top, "work/ws");
	readonly tmp = join(this.home, "tmp/c1");
	readonly secret = `secret-${randomBytes(12).toString("hex")}`;
	readonly machine: Machine;
	readonly #running = new Set<Walled>();
	#starts = 0;

	/** `changes`: what is different on this machine, such as its shell. */
	constructor(changes: Partial<Machine> = {}) {
		const machine = readMachine();
		if (!machine) throw new Error("bubblewrap is not installed");
		this.machine = { ...machine, ...changes };
		for (const folder of [this.home, this.workspace, this.tmp]) mkdirSync(folder, { recursive: true });
		writeFileSync(join(this.home, "operator.secret"), this.secret);
		writeFileSync(join(this.user, "notes.txt"), "somebody's notes");
	}

	wall(
		kind: WallKind,
		changes: Partial<Omit<Wall, "limits">> & { readonly limits?: Partial<WallLimits> } = {},
	): Wall {
		const { home, workspace, tmp } = this;
		return newWall({ kind, home, workspace, tmp, outlivesStarter: true, ...changes });
	}

	async start(
		wall: Wall,
		argv: readonly string[],
		options: Partial<Pick<WalledStart, "cwd" | "env" | "streams" | "mark" | "outside">> = {},
	): Promise<Walled> {
		const statusFile = join(this.home, `status-${this.#starts++}`);
		const start: WalledStart = {
			wall,
			argv,
			cwd: this.workspace,
			env: { PATH },
			statusFile,
			streams: ["ignore", "pipe", "pipe"],
			...options,
		};
		const walled = await startBehindWall(start, this.machine);
		this.#running.add(walled);
		void walled.exit.then(() => this.#running.delete(walled));
		return walled;
	}

	/** The cgroups of what was started here: their names begin with a digest of the home. */
	cgroups(): string[] {
		const { pids, memory } = this.machine.cgroups;
		const prefix = `keryx-${createHash("sha256").update(this.home).digest("hex").slice(0, 12)}-`;
		return [pids, memory].flatMap((folder) =>
			folder === null
				? []
				: readdirSync(folder)
						.filter((name) => name.startsWith(prefix))
						.map((name) => join(folder, name)),
		);
	}

	get lastStatus(): string {
		return join(this.home, `status-${this.#starts - 1}`);
	}

	async run(
		wall: Wall,
		script: string,
		options: Partial<Pick<WalledStart, "cwd" | "env" | "mark">> = {},
	): Promise<Outcome> {
		const { child, exit } = await this.start(wall, ["bash", "-c", script], options);
		const [out, errors, told] = await Promise.all([
			text(child.stdout as NonNullable<typeof child.stdout>),
			text(child.stderr as NonNullable<typeof child.stderr>),
			exit,
		]);
		return { exit: told, out, errors };
	}

	/** On a terminal of its own. */
	async onTerminal(wall: Wall, argv: readonly string[]): Promise<WalledTerminal> {
		const { master, slave, pty } = binary.open(80, 24);
		const walled = await this.start(wall, argv, {
			streams: { terminal: pty, descriptor: slave },
			env: { PATH, TERM: "xterm", PS1: "$ " },
		});
		closeSync(slave);
		return new WalledTerminal(walled, master);
	}

	async close(): Promise<void> {
		for (const walled of this.#running) walled.kill();
		await Promise.all([...this.#running].map(({ exit }) => exit));
		rmSync(this.top, { recursive: true, force: true });
	}
}

interface Pty {
	open(
		columns: number,
		rows: number,
	): { readonly master: number; readonly slave: number; readonly pty: string };
	resize(descriptor: number, columns: number, rows: number): void;
}

const require = createRequire(createRequire(import.meta.url).resolve("@lydell/node-pty"));
const binary = require(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as Pty;

export class WalledTerminal {
	readonly walled: Walled;
	readonly #master: number;
	readonly #stream: ReadStream;
	#seen = "";
	#wake: () => void = () => {};

	constructor(walled: Walled, master: number) {
		this.walled = walled;
		this.#master = master;
		this.#stream = new ReadStream(master);
		this.#stream.on("data", (data) => {
			this.#seen += data.toString();
			this.#wake();
		});
		// A terminal whose last program is gone answers with an error.
		this.#stream.on("error", () => {});
		this.#stream.on("close", () => this.#wake());
	}

	type(typed: string): void {
		this.#stream.write(typed);
	}

	resize(columns: number, rows: number): void {
		binary.resize(this.#master, columns, rows);
	}

	/** Waits for it; what is on the terminal up to there is not looked at again. */
	async shows(expected: string | RegExp): Promise<string> {
		for (;;) {
			const at = typeof expected === "string" ? this.#seen.indexOf(expected) : this.#seen.search(expected);
			if (at >= 0) {
				const seen = this.#seen;
				const length =
					typeof expected === "string" ? expected.length : (expected.exec(seen)?.[0].length ?? 0);
				this.#seen = seen.slice(at + length);
				return seen.slice(0, at + length);
			}
			if (this.#stream.destroyed) throw new Error(`the terminal ended after ${JSON.stringify(this.#seen)}`);
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}
}

/** Everything on this machine whose environment holds a text, as seen from outside. */
export function processesWith(text: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => ["environ", "cmdline"].some((file) => read(`/proc/${pid}/${file}`).includes(text)))
		.map(Number)
		.filter((pid) => pid !== process.pid && !/\) [ZX] /.test(read(`/proc/${pid}/stat`)));
}

/** Empty where there is nothing to read. */
export function read(file: string): string {
	try {
		return readFileSync(file, "latin1");
	} catch {
		return "";
	}
}
