import { expect, test } from "vitest";
import { eventually } from "../../../test/support/soon.ts";
import type { Divisible } from "../operations/search/newest.ts";
import type { Request } from "./messages.ts";
import { Readers } from "./readers.ts";

const READ = { id: 0, kind: "read", name: "nodes", args: {} } as const;

/** Threads that answer when told to; a search with its halves, then with what was found. */
function threads(idleMs: number) {
	const state = { started: 0, open: 0, now: 0, answers: [] as (() => void)[], of: [] as number[] };
	const asked: string[] = [];
	const readers = new Readers(
		async () => {
			const own = ++state.started;
			state.open++;
			return {
				ask: (request) =>
					new Promise((resolve) => {
						state.of.push(own);
						asked.push(request.kind);
						state.answers.push(() => resolve(answerTo(request)));
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
	return { state, asked, readers, answer };
}

const LARGE: Divisible = { fts: "", low: 1, middle: 2, top: 3, rows: 500_000 };

function answerTo(request: Request): unknown {
	if (request.kind === "half") return request.half === "older" ? [{ id: 1 }, { id: 2 }] : [{ id: 3 }];
	if (request.kind !== "search") return "read";
	const { known } = request;
	if (typeof known === "object") return { kind: "result", result: known.hits.map(({ id }) => id) };
	return LARGE.rows >= known ? { kind: "halves", read: LARGE } : { kind: "result", result: "alone" };
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

test("reads in passing do not keep a reader, and are answered before it ends", async () => {
	const { state, readers, answer } = threads(0);
	const due = readers.ask(READ);
	await answer(1);
	await due;
	const passing = readers.ask(READ, "in passing");
	await eventually(() => expect(readers.isRunning).toBe(false));
	await answer(1);
	expect(await passing).toBe("read");
	await eventually(() => expect(state.open).toBe(0));
	expect(state.started).toBe(1);
});

test("a reader whose last answer was in passing ends, too", async () => {
	const { state, readers, answer } = threads(0);
	const both = [readers.ask(READ), readers.ask(READ, "in passing")];
	await eventually(() => expect(state.answers.length).toBe(2));
	state.answers.shift()?.();
	await both[0];
	await answer(1);
	await both[1];
	await eventually(() => expect(state.open).toBe(0));
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

test("the first search is not shared, but starts a second reader; the next one is", async () => {
	const { state, asked, readers, answer } = threads(60_000);
	const first = readers.search({});
	await answer(1);
	await answer(1);
	expect(await first).toBe("alone");
	await eventually(() => expect(state.open).toBe(2));
	const second = readers.search({});
	await answer(1);
	await answer(2);
	await answer(1);
	expect(await second).toEqual([1, 2, 3]);
	expect(asked.slice(2)).toEqual(["search", "half", "half", "search"]);
	expect(state).toMatchObject({ of: [1, 1, 1, 1, 2, 1], started: 2 });
	await readers.close();
	expect(state.open).toBe(0);
});

test("a search among fewer rows is not shared, and starts no second reader", async () => {
	const { state, asked, readers, answer } = threads(60_000);
	const search = readers.search({}, LARGE.rows + 1);
	await answer(1);
	expect(await search).toBe("alone");
	expect(asked).toEqual(["search"]);
	expect(state.started).toBe(1);
	await readers.close();
});

test("a search is not shared with a reader that has work", async () => {
	const { state, asked, readers, answer } = threads(60_000);
	const first = readers.search({});
	await answer(1);
	await answer(1);
	await first;
	const search = readers.search({});
	await eventually(() => expect(state.answers.length).toBe(1));
	const read = readers.ask(READ);
	await eventually(() => expect(state.answers.length).toBe(2));
	(state.answers.shift() as () => void)();
	await answer(2);
	expect(await search).toBe("alone");
	await read;
	expect(asked).not.toContain("half");
	await readers.close();
});

test("a reader that is still starting is not waited for", async () => {
	let starts = 0;
	const readers = new Readers(async () => {
		if (++starts === 2) await new Promise(() => {});
		return { ask: async (request) => answerTo(request), close: async () => {}, onGone: () => {} };
	}, 60_000);
	expect(await readers.search({})).toBe("alone");
	expect(await readers.search({})).toBe("alone");
	expect(starts).toBe(2);
});

test("a second reader that gets nothing to do ends", async () => {
	const { state, readers, answer } = threads(0);
	const search = readers.search({});
	await answer(1);
	await answer(1);
	await search;
	await eventually(() => expect(state).toMatchObject({ started: 2, open: 0 }));
	await readers.close();
});

test("the end waits for a search with halves still to be read", async () => {
	const { state, readers, answer } = threads(60_000);
	const first = readers.search({});
	await answer(1);
	await answer(1);
	await first;
	const search = readers.search({});
	await eventually(() => expect(state.answers.length).toBe(1));
	const closing = readers.close();
	await answer(1);
	await answer(2);
	await answer(1);
	expect(await search).toEqual([1, 2, 3]);
	await closing;
	expect(state.open).toBe(0);
	await expect(readers.search({})).rejects.toMatchObject({ code: "store.closed" });
});

test("if a reader dies during its half, the search fails, and nothing is left open", async () => {
	let open = 0;
	const readers = new Readers(async () => {
		const own = ++open;
		const ask = async (request: Request) => {
			if (request.kind === "half" && own === 2) throw new Error("died");
			return answerTo(request);
		};
		return { ask, close: async () => void open--, onGone: () => {} };
	}, 60_000);
	await readers.search({});
	await eventually(() => expect(open).toBe(2));
	await expect(readers.search({})).rejects.toThrow("died");
	await readers.close();
	expect(open).toBe(0);
});
