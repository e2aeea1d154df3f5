import { expect, test } from "vitest";
import { eventually } from "../../../test/support/soon.ts";
import { Readers } from "./readers.ts";

const READ = { id: 0, kind: "read", name: "nodes", args: {} } as const;

/** Threads that answer when told to. */
function threads(idleMs: number) {
	const state = { started: 0, open: 0, answers: [] as (() => void)[] };
	const readers = new Readers(async () => {
		state.started++;
		state.open++;
		return {
			ask: () => new Promise((resolve) => state.answers.push(() => resolve("read"))),
			close: async () => void state.open--,
			onGone: () => {},
		};
	}, idleMs);
	const answer = async (count: number): Promise<void> => {
		await eventually(() => expect(state.answers.length).toBe(count));
		for (const one of state.answers.splice(0)) one();
	};
	return { state, readers, answer };
}

test("a reader without work ends, and the next read starts another", async () => {
	const { state, readers, answer } = threads(0);
	for (let n = 1; n <= 3; n++) {
		const read = readers.ask(READ);
		await answer(1);
		expect(await read).toBe("read");
		await eventually(() => expect(state.open).toBe(0));
		expect(state.started).toBe(n);
	}
	await readers.close();
});

test("a second reader starts only beside one that is at work, and neither ends before its answer", async () => {
	const { state, readers, answer } = threads(0);
	const first = [readers.ask(READ), readers.ask(READ)];
	await eventually(() => expect(state.answers.length).toBe(2));
	expect(state.started).toBe(1);
	const more = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(3));
	expect(state).toMatchObject({ started: 2, open: 2 });
	await answer(3);
	expect(await Promise.all([...first, more])).toEqual(["read", "read", "read"]);
	await readers.close();
	expect(state.open).toBe(0);
});

test("the end waits for every reader, also for one that ends already", async () => {
	const { state, readers, answer } = threads(0);
	const read = readers.ask(READ);
	await answer(1);
	await read;
	await readers.close();
	expect(state.open).toBe(0);
	await expect(readers.ask(READ)).rejects.toMatchObject({ code: "store.closed" });
});

test("one that cannot start fails its reads, and the next read tries again", async () => {
	let starts = 0;
	const readers = new Readers(async () => {
		starts++;
		throw new Error("no disk");
	}, 0);
	await expect(readers.ask(READ)).rejects.toThrow("no disk");
	await expect(readers.ask(READ)).rejects.toThrow("no disk");
	expect(starts).toBe(2);
	await readers.close();
});
