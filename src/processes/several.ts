// The processes of a store on several machines, each with its keeper. A process's row names its machine: it starts there, and is never
// looked for elsewhere. Programs of another gateway are read and killed by asking that gateway.
import { KeryxError } from "../errors.ts";
import { OPERATOR, type Process, type ProcessEnd, type ProcessScope, type Woken } from "../store/index.ts";
import { ProgramsElsewhere } from "./elsewhere.ts";
import type { ProcessMachine } from "./machine.ts";
import { createProcesses, mayTouch, refused } from "./processes.ts";
import type { KilledProcess, ListedProcess, ProcessActor, Processes, ProcessesOptions } from "./registry.ts";
import { completionNote } from "./words.ts";

export interface SeveralOptions extends Omit<ProcessesOptions, "machine"> {
	/** The first one is the default machine. */
	readonly machines: readonly [ProcessMachine, ...ProcessMachine[]];
}

/** As many as are killed at once elsewhere. */
const MOST_KILLED = 1000;

export function createProcessesOn({ machines, ...options }: SeveralOptions): Processes {
	const [first, ...rest] = machines;
	const { store } = options;
	if (rest.length === 0 && !store.cluster) return createProcesses({ ...options, machine: first });
	/** Old ones are removed by whichever watch finds them first. */
	const remove = async (id: string): Promise<void> => {
		for (const machine of machines) await machine.remove(id);
	};
	/** Gateways that use the same other machine each know their own programs there, and no others. */
	const nameOf = (name: string): string =>
		store.cluster && name !== first.name ? `${name}@${first.name}` : name;
	const all = new Map(
		machines.map((machine) => {
			const name = nameOf(machine.name);
			return [name, createProcesses({ ...options, machine: { ...machine, name, remove } })];
		}),
	);
	const usual = all.get(first.name) as Processes;
	const on = (name: string): Processes => {
		const found = all.get(name);
		if (found) return found;
		if (store.cluster)
			throw new KeryxError("process.unreachable", `it runs at the gateway ${name}`, {
				hint: "do this there; if that gateway is gone, its programs are found again when it is back, or killing them gives them up",
			});
		throw new KeryxError(
			"process.unreachable",
			`it runs on ${name}, which was not in the configuration when Keryx started`,
			{
				hint: "name that machine in terminal, and restart Keryx",
			},
		);
	};
	/** For a program on none of this gateway's machines; null: it has ended, or there are no other gateways. */
	const elsewhere = async (
		rows: readonly Process[],
	): Promise<ReadonlyMap<string, ListedProcess["elsewhere"]>> => {
		const running = rows.filter(({ endedAt, backend }) => endedAt === null && !all.has(backend));
		if (!store.cluster || running.length === 0) return new Map();
		const nodes = await store.nodes({ scope: OPERATOR });
		return new Map(
			running.map(({ id, backend }) => {
				const living = nodes.find((node) => isOf(node, backend));
				return [id, { node: living?.name ?? backend, lives: living !== undefined }];
			}),
		);
	};
	const others =
		store.cluster &&
		new ProgramsElsewhere({
			store,
			cluster: store.cluster,
			clock: options.clock,
			at: (name) => all.get(name),
		});
	/** Its living gateway; null: it is this gateway's, or its gateway is gone. */
	const otherOf = async ({ backend }: Process): Promise<number | null> => {
		if (!others || all.has(backend)) return null;
		return (await store.nodes({ scope: OPERATOR })).find((node) => isOf(node, backend))?.epoch ?? null;
	};
	const of = async (scope: ProcessScope, id: string, signal?: AbortSignal): Promise<Processes> =>
		on((await usual.find(scope, id, signal)).backend);
	const listeners = new Set<(woken: Woken) => void>();
	/** Its gateway is gone, perhaps for ever: it cannot be controlled, and is not listed as running. */
	const giveUp = async (actor: ProcessActor, process: Process, node: string): Promise<KilledProcess> => {
		if (!mayTouch(actor, process)) throw refused(process);
		const { id } = process;
		const cause = `its gateway ${node} is gone, and it was given up on request`;
		const end: ProcessEnd = { status: "lost", exitCode: null, signal: null, cause };
		const at = options.clock.now();
		const output = { text: "", to: 0, cut: false };
		const note =
			actor.kind === "conversation" ? null : completionNote(process, end, { at, output, survivors: [] });
		const ended = await store.endProcess({ id, end, at, logBytes: 0, logLost: 0, note });
		if (ended?.woken) for (const listener of listeners) listener(ended.woken);
		return { process: await usual.find(OPERATOR, id), result: "already_exited", survivors: [] };
	};
	/** What a silent gateway runs is reported as still running. */
	const killElsewhere = async (
		actor: ProcessActor,
		conversation: Process["conversation"],
	): Promise<readonly KilledProcess[]> => {
		if (!others) return [];
		const rows = await store.processes({ scope: { kind: "conversation", conversation }, limit: MOST_KILLED });
		const killed = rows
			.filter((row) => row.endedAt === null && mayTouch(actor, row))
			.map(async (process) => {
				const node = await otherOf(process);
				if (node === null) return [];
				const survivors = process.identity ? [process.identity.pid] : [];
				return others
					.kill(node, actor, process)
					.catch((): KilledProcess => ({ process, result: "survived", survivors }));
			});
		return (await Promise.all(killed)).flat();
	};
	const each = async (work: (one: Processes) => Promise<unknown>): Promise<void> => {
		for (const one of all.values()) await work(one);
	};
	return {
		open: () => each((one) => one.open()),
		close: () => each((one) => one.close()),
		start: (request, owner) => on(nameOf(request.machine ?? first.name)).start(request, owner),
		list: async (scope, limit) => {
			const lists = await Promise.all(
				[...all].map(async ([name, one]) => [name, await one.list(scope, limit)] as const),
			);
			const known = new Map<string, ListedProcess>();
			for (const [name, rows] of lists)
				for (const row of rows) if (row.backend === name || !known.has(row.id)) known.set(row.id, row);
			const others = await elsewhere([...known.values()]);
			return [...known.values()].map((row) => {
				const other = others.get(row.id);
				return other ? { ...row, elsewhere: other, isUnreachable: !other.lives } : row;
			});
		},
		// Only its own gateway knows.
		leftBehind: async (id) => (await all.get((await usual.find(OPERATOR, id)).backend)?.leftBehind(id)) ?? [],
		isUnreachable: async (process) => {
			const other = (await elsewhere([process])).get(process.id);
			if (other) return !other.lives;
			// One of another gateway that has ended.
			if (store.cluster && !all.has(process.backend)) return false;
			return on(process.backend).isUnreachable(process);
		},
		elsewhere: async (process) => (await elsewhere([process])).get(process.id) ?? null,
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
		hide: (text) => usual.hide(text),
		hideLines: (text) => usual.hideLines(text),
		log: async (scope, id, given) => (await of(scope, id)).log(scope, id, given),
		part: async (scope, id, given) => {
			const process = await usual.find(scope, id);
			const node = await otherOf(process);
			return node !== null && others
				? await others.part(node, process, given)
				: await on(process.backend).part(scope, id, given);
		},
		read: async (scope, id, given) => (await of(scope, id)).read(scope, id, given),
		attach: async (scope, id) => (await of(scope, id)).attach(scope, id),
		wait: async (scope, id, given) => (await of(scope, id, given.signal)).wait(scope, id, given),
		kill: async (actor, id, given) => {
			const process = await usual.find(actor, id);
			const other = (await elsewhere([process])).get(process.id);
			if (other && !other.lives) return giveUp(actor, process, other.node);
			const node = await otherOf(process);
			return node !== null && others
				? others.kill(node, actor, process, given)
				: on(process.backend).kill(actor, id, given);
		},
		killAll: async (actor, conversation) => {
			const killed = await Promise.all([
				...[...all.values()].map((one) => one.killAll(actor, conversation)),
				killElsewhere(actor, conversation),
			]);
			return killed.flat();
		},
		write: async (actor, id, data) => (await of(actor, id)).write(actor, id, data),
		endInput: async (actor, id, signal) => (await of(actor, id, signal)).endInput(actor, id, signal),
		resize: async (actor, id, size) => (await of(actor, id)).resize(actor, id, size),
		onWoken: (listener) => {
			const offs = [...all.values()].map((one) => one.onWoken(listener));
			listeners.add(listener);
			return () => {
				listeners.delete(listener);
				for (const off of offs) off();
			};
		},
	};
}

function isOf({ name }: { readonly name: string }, backend: string): boolean {
	return backend === name || backend.endsWith(`@${name}`);
}
