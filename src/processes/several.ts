// The processes of a store on several machines, each with what keeps the store true about it. Which machine a process is on stands in its
// row: it is started there, and never looked for anywhere else.
import { KeryxError } from "../errors.ts";
import { OPERATOR, type ProcessScope } from "../store/index.ts";
import type { ProcessMachine } from "./machine.ts";
import { createProcesses } from "./processes.ts";
import type { ListedProcess, Processes, ProcessesOptions } from "./registry.ts";

export interface SeveralOptions extends Omit<ProcessesOptions, "machine"> {
	/** The first one is where programs run that name no machine. */
	readonly machines: readonly [ProcessMachine, ...ProcessMachine[]];
}

export function createProcessesOn({ machines, ...options }: SeveralOptions): Processes {
	const [first, ...rest] = machines;
	if (rest.length === 0) return createProcesses({ ...options, machine: first });
	/** What is old is removed by whoever finds it first, wherever it ran. */
	const remove = async (id: string): Promise<void> => {
		for (const machine of machines) await machine.remove(id);
	};
	const all = new Map(
		machines.map((machine) => [
			machine.name,
			createProcesses({ ...options, machine: { ...machine, remove } }),
		]),
	);
	const usual = all.get(first.name) as Processes;
	const on = (name: string): Processes => {
		const found = all.get(name);
		if (found) return found;
		throw new KeryxError(
			"process.unreachable",
			`it runs on ${name}, which was not in the configuration when Keryx started`,
			{
				hint: "name that machine in terminal, and restart Keryx",
			},
		);
	};
	const of = async (scope: ProcessScope, id: string, signal?: AbortSignal): Promise<Processes> =>
		on((await usual.find(scope, id, signal)).backend);
	const each = async (work: (one: Processes) => Promise<unknown>): Promise<void> => {
		for (const one of all.values()) await work(one);
	};
	return {
		open: () => each((one) => one.open()),
		close: () => each((one) => one.close()),
		start: (request, owner) => on(request.machine ?? first.name).start(request, owner),
		list: async (scope, limit) => {
			const lists = await Promise.all(
				[...all].map(async ([name, one]) => [name, await one.list(scope, limit)] as const),
			);
			const known = new Map<string, ListedProcess>();
			for (const [name, rows] of lists)
				for (const row of rows) if (row.backend === name || !known.has(row.id)) known.set(row.id, row);
			return [...known.values()];
		},
		leftBehind: async (id) => (await of(OPERATOR, id)).leftBehind(id),
		isUnreachable: (process) => on(process.backend).isUnreachable(process),
		adopt: (id) => usual.adopt(id),
		discard: (id) => {
			of(OPERATOR, id).then(
				(one) => one.discard(id),
				(error: unknown) => options.log?.(`files left by ${id} cannot be removed yet`, error),
			);
		},
		find: (scope, id, signal) => usual.find(scope, id, signal),
		poll: async (scope, id, most) => (await of(scope, id)).poll(scope, id, most),
		tail: async (scope, id, most) => (await of(scope, id)).tail(scope, id, most),
		output: async (scope, id, given) => (await of(scope, id, given.signal)).output(scope, id, given),
		log: async (scope, id, given) => (await of(scope, id)).log(scope, id, given),
		part: async (scope, id, given) => (await of(scope, id)).part(scope, id, given),
		read: async (scope, id, given) => (await of(scope, id)).read(scope, id, given),
		attach: async (scope, id) => (await of(scope, id)).attach(scope, id),
		wait: async (scope, id, given) => (await of(scope, id, given.signal)).wait(scope, id, given),
		kill: async (actor, id, given) => (await of(actor, id)).kill(actor, id, given),
		killAll: async (actor, conversation) => {
			const killed = await Promise.all([...all.values()].map((one) => one.killAll(actor, conversation)));
			return killed.flat();
		},
		write: async (actor, id, data) => (await of(actor, id)).write(actor, id, data),
		endInput: async (actor, id, signal) => (await of(actor, id, signal)).endInput(actor, id, signal),
		resize: async (actor, id, size) => (await of(actor, id)).resize(actor, id, size),
		onWoken: (listener) => {
			const offs = [...all.values()].map((one) => one.onWoken(listener));
			return () => {
				for (const off of offs) off();
			};
		},
	};
}
