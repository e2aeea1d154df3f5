// Containers of one image as a machine. A host with its own home here holds the engine's clients.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ProcessBackend } from "../backend.ts";
import { localMachine } from "../local.ts";
import type { ProcessMachine } from "../machine.ts";
import { ContainerEngine, type ContainerEngineOptions, containerBackend } from "./backend.ts";

export interface ContainerMachineOptions extends Omit<ContainerEngineOptions, "label" | "folder"> {
	/** Recorded on each process started there. */
	readonly name: string;
	/** Keryx's home, on this machine. */
	readonly home: string;
	log?(message: string, error: unknown): void;
}

export function containerMachine({ name, home, log, ...options }: ContainerMachineOptions): ProcessMachine {
	const held = localMachine(home);
	const label = createHash("sha256").update(home).digest("hex").slice(0, 16);
	const engine = new ContainerEngine({ ...options, label, folder: join(home, "environments") });
	const clients = new WeakMap<ProcessBackend, ProcessBackend>();
	let isReaped = false;
	const wrapped = (local: ProcessBackend): ProcessBackend => {
		const backend = containerBackend(name, local, engine);
		clients.set(backend, local);
		return backend;
	};
	/** Once: cleans up after a dead client. */
	const reap = async (local: ProcessBackend): Promise<void> => {
		if (isReaped) return;
		isReaped = true;
		const listed = await local.list();
		const running = listed.filter(({ status }) => status === "running").map(({ id }) => id);
		await engine
			.reap(new Set(running))
			.catch((error: unknown) => log?.("containers that were left behind cannot be removed", error));
	};
	return {
		...held,
		name,
		connect: async () => {
			const local = await held.connect();
			await reap(local);
			return wrapped(local);
		},
		find: async () => {
			const local = await held.find();
			return local && wrapped(local);
		},
		giveUp: (id, backend) => held.giveUp(id, clients.get(backend) ?? backend),
		killLost: async (process, kill) => {
			const outcome = await held.killLost(process, kill);
			await engine.end(process.id);
			return outcome;
		},
	};
}
