import { expect, test } from "vitest";
import { eventually } from "../../../test/support/soon.ts";
import { Readers } from "./readers.ts";

const READ = { id: 0, kind: "read", name: "nodes", args: {} } as const;

/** Threads that answer when told to. */
function threads(idleMs: number) {
	const state = { started: 0, open: 0, now: 0, answers: [] as (() => void)[], of: [] as number[] };
	const readers = new Readers(
		async () => {
			const own = ++state.started;
			state.open++;
			return {
				ask: () =>
					new Promise((resolve) => {
						state.of.push(own);
						state.answers.push(() => resolve("read"));
					}),
				close: async () => void state.open--,
				onGone: () => {},
			};
		},
		idleMs,
		() => state.now,
	);
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

test("a second reader starts only beside one in a long read, and neither ends before its answer", async () => {
	const { state, readers, answer } = threads(0);
	const first = [readers.ask(READ), readers.ask(READ)];
	await eventually(() => expect(state.answers.length).toBe(2));
	state.now += 99;
	const soon = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(3));
	expect(state).toMatchObject({ started: 1, open: 1 });
	state.now += 1;
	const more = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(4));
	expect(state).toMatchObject({ started: 2, open: 2 });
	await answer(4);
	expect(await Promise.all([...first, soon, more])).toEqual(Array(4).fill("read"));
	await readers.close();
	expect(state.open).toBe(0);
});

test("small reads that follow each other need one reader, however long they go on", async () => {
	const { state, readers, answer } = threads(1000);
	let last = readers.ask(READ);
	for (let n = 0; n < 10; n++) {
		await eventually(() => expect(state.answers.length).toBe(1));
		state.now += 50;
		const next = readers.ask(READ);
		await eventually(() => expect(state.answers.length).toBe(2));
		(state.answers.shift() as () => void)();
		await last;
		last = next;
	}
	await answer(1);
	await last;
	expect(state.started).toBe(1);
	await readers.close();
});

test("with both at work, a read goes to the one that answers, even if more wait there", async () => {
	const { state, readers, answer } = threads(1000);
	const reads = [readers.ask(READ)];
	await eventually(() => expect(state.answers.length).toBe(1));
	state.now += 100;
	for (let n = 2; n <= 4; n++) {
		reads.push(readers.ask(READ));
		await eventually(() => expect(state.answers.length).toBe(n));
	}
	expect(state.of).toEqual([1, 2, 2, 2]);
	await answer(4);
	await Promise.all(reads);
	await readers.close();
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

test("after a long read the second reader gets nothing more to do", async () => {
	const { state, readers, answer } = threads(60_000);
	const long = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(1));
	state.now += 100;
	const beside = readers.ask(READ);
	await answer(2);
	await Promise.all([long, beside]);
	const next = Array.from({ length: 3 }, () => readers.ask(READ));
	await answer(3);
	await Promise.all(next);
	expect(state.of).toEqual([1, 2, 1, 1, 1]);
	await readers.close();
});

test("a reader that does not keep up shares its work with the second", async () => {
	const { state, readers, answer } = threads(60_000);
	const long = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(1));
	state.now += 100;
	const second = readers.ask(READ);
	await answer(2);
	await Promise.all([long, second]);
	const many = Array.from({ length: 70 }, () => readers.ask(READ));
	await answer(70);
	await Promise.all(many);
	expect(state.of.slice(2).filter((own) => own === 2).length).toBe(6);
	await readers.close();
});
