// Another machine for processes. A host with its own home here holds the ssh clients, so that connections, logs and records outlive
// Keryx. Nothing connects before something starts there, or is known to have run there.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { KeryxError } from "../../errors.ts";
import type { ProcessBackend } from "../backend.ts";
import { localMachine } from "../local.ts";
import type { ProcessMachine } from "../machine.ts";
import type { LogPiece, ProcessInfo } from "../types.ts";
import { createSshBackend } from "./backend.ts";
import type { SshTarget } from "./target.ts";

export interface SshMachineOptions extends SshTarget {
	/** Recorded on each process started there. */
	readonly name: string;
	/** Keryx's home, on this machine. */
	readonly home: string;
	/** How long reconnecting is tried before its process is lost; two minutes. */
	readonly reconnectMs?: number;
	log?(message: string, error: unknown): void;
}

export function sshMachine({ home, ...options }: SshMachineOptions): ProcessMachine {
	const held = localMachine(home);
	const folder = join(home, "records");
	let shared: { readonly backend: Promise<ProcessBackend>; users: number } | null = null;
	/** One shared backend: two would each record the same ends. It closes with its last user. */
	const open = async (): Promise<ProcessBackend> => {
		shared ??= {
			backend: held.connect().then((local) => createSshBackend({ ...options, local, folder })),
			users: 0,
		};
		const mine = shared;
		mine.users++;
		let isOpen = true;
		const leave = () => {
			const isLast = isOpen && --mine.users === 0;
			isOpen = false;
			if (isLast && shared === mine) shared = null;
			return isLast;
		};
		try {
			const backend = await mine.backend;
			return { ...bound(backend), close: async () => (leave() ? backend.close() : undefined) };
		} catch (error) {
			leave();
			throw error;
		}
	};
	/** For a process with a record here. Reads the records, and starts nothing. */
	const asked = async <Value>(
		id: string,
		work: (backend: ProcessBackend) => Promise<Value>,
		otherwise: Value,
	): Promise<Value> => {
		if (!existsSync(join(folder, `${id}.told`))) return otherwise;
		const backend = await open();
		try {
			return await work(backend);
		} catch (error) {
			if (error instanceof KeryxError && error.code === "process.unknown") return otherwise;
			throw error;
		} finally {
			await backend.close();
		}
	};
	return {
		name: options.name,
		connect: open,
		find: open,
		inspect: async (ids) => {
			if (!ids) {
				const backend = await open();
				const listed = await backend.list();
				await backend.close();
				return listed;
			}
			const found = await Promise.all(
				ids.map((id) => asked<ProcessInfo | null>(id, (one) => one.get(id), null)),
			);
			return found.filter((info) => info !== null);
		},
		read: (id, range) => asked(id, (backend) => backend.read(id, range), nothing(range.from)),
		lost: (id) => held.lost(id).catch(() => 0),
		// A start there is answered or fails; it is never pending unknown.
		giveUp: (id) => asked(id, async (backend) => (await backend.get(id)).identity === null, true),
		killLost: ({ id }, kill) =>
			asked(id, (backend) => backend.kill(id, kill), { result: "already_exited" as const, survivors: [] }),
		forget: (id) => asked(id, (backend) => backend.forget(id), undefined),
		remove: (id) => asked(id, (backend) => backend.remove(id), undefined),
	};
}

function nothing(from: number): LogPiece {
	return { from, data: Buffer.alloc(0), lost: 0, next: from, size: 0 };
}

/** Its methods, without the object. */
function bound(backend: ProcessBackend): ProcessBackend {
	return {
		name: backend.name,
		spawn: (request) => backend.spawn(request),
		list: () => backend.list(),
		get: (id) => backend.get(id),
		silent: (ids) => backend.silent(ids),
		read: (id, options) => backend.read(id, options),
		follow: (id, options) => backend.follow(id, options),
		write: (id, data) => backend.write(id, data),
		endInput: (id) => backend.endInput(id),
		resize: (id, size) => backend.resize(id, size),
		signal: (id, signal) => backend.signal(id, signal),
		kill: (id, options) => backend.kill(id, options),
		forget: (id) => backend.forget(id),
		remove: (id) => backend.remove(id),
		onEnd: (listener) => backend.onEnd(listener),
		onGone: (listener) => backend.onGone(listener),
		close: () => backend.close(),
	};
}
