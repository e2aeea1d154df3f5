// One owner per store: a second one is refused and told who, the kernel frees the lock on kill -9, and readers cost nothing.
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { hostname } from "node:os";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { type Child, hello, killed, lines, open, refusal, Workbench } from "./crash/support.ts";

const OPERATOR = { kind: "operator" } as const;
const bench = new Workbench();
afterAll(() => bench.end());

/** A program that wants to own the store, with what it says. */
interface Contender {
	readonly child: Child;
	readonly said: AsyncGenerator<string>;
}

async function contender(path: string): Promise<Contender> {
	const child = bench.start("./own-child.ts", [path]);
	const said = lines(child);
	expect((await said.next()).value).toBe("waiting");
	return { child, said };
}

interface Attempt {
	readonly epoch?: number;
	readonly pid?: number;
	readonly code?: string;
	readonly message?: string;
}

async function attempt(
	{ child, said }: Contender,
	then: "hold" | "write" | "steal" = "hold",
): Promise<Attempt> {
	child.stdin.write(`${then}\n`);
	return JSON.parse((await said.next()).value as string) as Attempt;
}

test("a second owner in another process is refused, and told the host and the pid of the first", async () => {
	const path = bench.file("owned.db");
	const first = await contender(path);
	const { pid } = await attempt(first);
	expect(pid).toBe(first.child.pid);
	const error = await refusal(open(path));
	expect(error.code).toBe("store.owned");
	expect(error.message).toContain(`${hostname()} pid ${pid} since `);
	expect(error.hint).not.toBe("");
	const closed = once(first.child, "close");
	first.child.stdin.end();
	await closed;
	const store = await open(path);
	expect(store.epoch).toBe(2);
	await store.close();
});

test("a second owner in the same process is refused, whatever path it comes by, and takes nothing from the first", async () => {
	const path = bench.file("same.db");
	const store = await open(path);
	symlinkSync(path, bench.file("link.db"));
	for (const way of [path, bench.file("link.db")]) {
		const error = await refusal(open(way));
		expect(error.code).toBe("store.owned");
		expect(error.message).toContain(`pid ${process.pid} since `);
	}
	const apart = await attempt(await contender(path));
	expect(apart.code).toBe("store.owned");
	expect(await store.accept(hello("1"))).toMatchObject({ duplicate: false });
	await store.close();
	expect(existsSync(`${path}.owner.txt`)).toBe(false);
});

test("after kill -9 of the owner the next one opens at once, with the next epoch, and has everything", async () => {
	const path = bench.file("killed.db");
	for (let epoch = 1; epoch <= 3; epoch++) {
		const owner = await contender(path);
		expect(await attempt(owner, "write")).toMatchObject({ epoch });
		const acknowledged: number[] = [];
		for (let n = 0; n < 20; n++) acknowledged.push(Number((await owner.said.next()).value));
		await killed(owner.child);
		const reader = await open(path, "read");
		for (const id of acknowledged)
			expect(await reader.inboxItem({ scope: OPERATOR, id })).toMatchObject({
				platformMessage: expect.stringContaining(`${owner.child.pid} `),
			});
		await reader.close();
	}
	const store = await open(path);
	expect(store.epoch).toBe(4);
	await store.close();
});

test("of several processes that race to own a store exactly one wins, each time", async () => {
	const path = bench.file("raced.db");
	for (let epoch = 1; epoch <= 3; epoch++) {
		const contenders = await Promise.all(Array.from({ length: 4 }, () => contender(path)));
		const attempts = await Promise.all(contenders.map((one) => attempt(one)));
		const winners = attempts.filter((one) => one.epoch !== undefined);
		expect(winners).toMatchObject([{ epoch }]);
		for (const { code, message } of attempts.filter((one) => one.epoch === undefined)) {
			expect(code).toBe("store.owned");
			expect(message).toMatch(new RegExp(`pid ${winners[0]?.pid} since|that has just started`));
		}
		await Promise.all(contenders.map(({ child }) => killed(child)));
	}
});

test("where the lock is deleted the newer owner wins: the older one acknowledges nothing more", async () => {
	const path = bench.file("stolen.db");
	const first = await contender(path);
	expect(await attempt(first, "write")).toMatchObject({ epoch: 1 });
	const acknowledged = [Number((await first.said.next()).value)];
	const second = await contender(path);
	const { epoch, pid } = await attempt(second, "steal");
	expect(epoch).toBe(2);
	// The second has begun: what the first says from its epoch on is at most what it had acknowledged before.
	const refused = await untilRefused(first, acknowledged);
	expect(refused.code).toBe("store.owner_lost");
	expect(pid).toBe(second.child.pid);
	for (let n = 0; n < 20; n++) acknowledged.push(Number((await second.said.next()).value));
	await killed(second.child);
	const store = await open(path);
	expect(store.epoch).toBe(3);
	await Promise.all(acknowledged.map((id) => store.inboxItem({ scope: OPERATOR, id })));
	expect(await store.checkIntegrity({ scope: OPERATOR })).toEqual({ problems: [] });
	await store.close();
});

test("of several that each delete the lock and open, no two get the same epoch, and one can write", async () => {
	const path = bench.file("stolen-often.db");
	const contenders = await Promise.all(Array.from({ length: 4 }, () => contender(path)));
	const attempts = await Promise.all(contenders.map((one) => attempt(one, "steal")));
	const epochs = attempts.flatMap(({ epoch }) => epoch ?? []);
	expect(new Set(epochs).size).toBe(epochs.length);
	const ends = contenders.map(async (one, n) =>
		attempts[n]?.epoch === undefined ? null : await untilRefused(one, []).catch(() => null),
	);
	// All but the last are refused; that one goes on until it is killed.
	const newest = attempts.findIndex(({ epoch }) => epoch === Math.max(...epochs));
	const refusals = await Promise.all(ends.filter((_, n) => n !== newest));
	for (const refused of refusals.filter((one) => one !== null)) expect(refused.code).toBe("store.owner_lost");
	await killed((contenders[newest] as Contender).child);
});

test("an owner that was succeeded names the next one, and leaves its name in its place", async () => {
	const path = bench.file("succeeded.db");
	const store = await open(path);
	const next = await contender(path);
	const { pid } = await attempt(next, "steal");
	const refused = await refusal(store.accept(hello("1")));
	expect(refused.code).toBe("store.owner_lost");
	expect(refused.message).toContain(`${hostname()} pid ${pid} since `);
	await store.close();
	expect(readFileSync(`${path}.owner.txt`, "utf8")).toContain(` pid ${pid} since `);
	expect(Number((await next.said.next()).value)).toBeGreaterThan(0);
	await killed(next.child);
});

test("every commit looks at the epoch in the database: a newer one refuses the whole group, for good", async () => {
	const path = bench.file("epoch.db");
	const store = await open(path);
	await store.accept(hello("1"));
	const other = new Database(path);
	other.exec("UPDATE settings SET value = '2' WHERE name = 'epoch'");
	const group = await Promise.allSettled([store.accept(hello("2")), store.accept(hello("3"))]);
	for (const one of group)
		expect(one).toMatchObject({ status: "rejected", reason: { code: "store.owner_lost" } });
	other.exec("UPDATE settings SET value = '1' WHERE name = 'epoch'");
	expect((await refusal(store.accept(hello("4")))).code).toBe("store.owner_lost");
	expect(other.prepare("SELECT count(*) FROM inbox").pluck().get()).toBe(1);
	other.close();
	await store.close();
});

/** Takes what an owner has acknowledged, up to what it was refused with. */
async function untilRefused({ said }: Contender, acknowledged: number[]): Promise<Attempt> {
	for await (const line of said) {
		if (line.startsWith("{")) return JSON.parse(line) as Attempt;
		acknowledged.push(Number(line));
	}
	throw new Error("it ended without being refused");
}

test("programs that open and close the files beside the owner cost no write", async () => {
	const path = bench.file("peeked.db");
	const owner = await contender(path);
	await attempt(owner, "write");
	const peekers = Array.from({ length: 2 }, () => bench.start("./peek-child.ts", [path]));
	const peeks = peekers.map((peeker) => lines(peeker));
	const acknowledged: number[] = [];
	for (let looks = 0; looks < 50; looks++) {
		for (const peek of peeks) await peek.next();
		acknowledged.push(Number((await owner.said.next()).value));
	}
	owner.child.kill("SIGKILL");
	for await (const id of owner.said) acknowledged.push(Number(id));
	for (const peek of peeks) expect(Number((await peek.next()).value)).toBeGreaterThan(0);
	await Promise.all(peekers.map(killed));
	const store = await open(path);
	await Promise.all(acknowledged.map((id) => store.inboxItem({ scope: OPERATOR, id })));
	expect(await store.checkIntegrity({ scope: { kind: "operator" } })).toEqual({ problems: [] });
	await store.close();
});

test("reading works beside an owner and without one, sees each commit, and writes nothing", async () => {
	const path = bench.file("read.db");
	const owner = await open(path);
	const reader = await open(path, "read");
	expect(await reader.conversations({ scope: OPERATOR, limit: 10 })).toEqual([]);
	const { id } = await owner.accept(hello("1"));
	expect(await reader.inboxItem({ scope: OPERATOR, id })).toMatchObject({ platformMessage: "1" });
	expect((await refusal(reader.accept(hello("2")))).code).toBe("store.readonly");
	await owner.close();
	expect(await reader.inboxItem({ scope: OPERATOR, id })).toMatchObject({ platformMessage: "1" });
	await reader.close();
	const alone = await open(path, "read");
	expect(alone.epoch).toBe(0);
	expect(await alone.conversations({ scope: OPERATOR, limit: 10 })).toHaveLength(1);
	const next = await open(path);
	expect(next.epoch).toBe(2);
	await next.close();
	await alone.close();
});
