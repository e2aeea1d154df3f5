// A place for processes in which nothing runs: each prints a word and ends after as many seconds as its command names, by the test's clock.
import { KeryxError } from "../../../src/errors.ts";
import type { ProcessMachine } from "../../../src/processes/index.ts";
import type { Clock } from "../../../src/time/index.ts";

type Backend = Awaited<ReturnType<ProcessMachine["connect"]>>;
type Info = Awaited<ReturnType<Backend["get"]>>;

const PRINTED = Buffer.from("finished\n");

/** Outlives the gateway, as programs do. */
export class ScriptedPlace {
	readonly #processes = new Map<string, Info>();
	readonly #listeners = new Set<(info: Info) => void>();
	/** As often as each was started. */
	readonly starts: string[] = [];

	on(clock: Clock): ProcessMachine {
		const read: ProcessMachine["read"] = (id, { from, limit }) => {
			const printed = this.#processes.get(id)?.end ? PRINTED : Buffer.alloc(0);
			const data = printed.subarray(from, from + limit);
			return Promise.resolve({ from, data, lost: 0, next: from + data.length, size: printed.length });
		};
		const listed = () => Promise.resolve([...this.#processes.values()]);
		const forget = (id: string) => {
			if (!this.#processes.delete(id)) return Promise.reject(unknown(id));
			return Promise.resolve();
		};
		const backend: Backend = {
			name: "scripted",
			spawn: ({ id, argv, cwd, pty }) => {
				this.starts.push(id);
				const identity = { bootId: "here", pid: 1000 + this.starts.length, startTime: "now" };
				const startedAt = clock.now();
				const info: Info = {
					...{ id, argv, cwd, pty, startedAt, identity },
					status: "running",
					end: null,
					survivors: [],
					logSize: 0,
				};
				this.#processes.set(id, info);
				const seconds = Number(/\d+/.exec(argv.at(-1) ?? "")?.[0] ?? 0);
				clock.after(seconds * 1000, () => this.#end(info, clock.now()));
				return Promise.resolve(info);
			},
			list: listed,
			get: (id) => {
				const info = this.#processes.get(id);
				return info ? Promise.resolve(info) : Promise.reject(unknown(id));
			},
			read,
			follow: () => {
				throw new Error("nobody follows here");
			},
			write: () => Promise.resolve(),
			endInput: () => Promise.resolve(),
			resize: () => Promise.resolve(),
			signal: () => Promise.resolve(),
			kill: () => Promise.resolve({ result: "already_exited", survivors: [] }),
			forget,
			remove: forget,
			onEnd: (listener) => {
				this.#listeners.add(listener);
				return () => this.#listeners.delete(listener);
			},
			onGone: () => () => {},
			close: () => Promise.resolve(),
		};
		return {
			name: "scripted",
			connect: () => Promise.resolve(backend),
			find: () => Promise.resolve(backend),
			inspect: listed,
			read,
			lost: () => Promise.resolve(0),
			giveUp: (id) => Promise.resolve(!this.#processes.has(id)),
			killLost: () => Promise.resolve({ result: "already_exited", survivors: [] }),
			forget,
			remove: forget,
		};
	}

	#end(info: Info, endedAt: number): void {
		const end = { cause: "exited" as const, code: 0, signal: null, reason: null, endedAt };
		const ended: Info = { ...info, status: "exited", end, logSize: PRINTED.length };
		this.#processes.set(info.id, ended);
		for (const listener of this.#listeners) listener(ended);
	}
}

function unknown(id: string): KeryxError {
	return new KeryxError("process.unknown", `no process ${id}`);
}
