// Moves a whole store from one engine to another: every row of every table, page by page in key order, then compared by count and digest.
// The target records the progress, so that an interrupted move can continue. Nobody may own either store meanwhile.
import { createHash } from "node:crypto";
import { KeryxError } from "../../errors.ts";
import type { Clock } from "../../time/index.ts";
import type { Value } from "../query.ts";
import type { MoveSide, TableShape } from "./side.ts";

export interface MoveOptions {
	readonly from: string;
	readonly to: string;
	readonly clock: Pick<Clock, "now">;
	readonly onProgress?: (progress: MoveProgress) => void;
	/** Rows per transaction; default 1000. */
	readonly pageRows?: number;
}

export interface MoveProgress {
	readonly step: "copying" | "comparing";
	readonly table: string;
	readonly rows: number;
	readonly of: number;
}

export interface MovedTable {
	readonly table: string;
	readonly rows: number;
	readonly digest: string;
}

const PAGE = 1000;
/** Tables with large values: fewer rows fit in one statement. */
const PAGE_OF_CHUNKS = 8;

/** References to rows of the same table that may come later. */
const LATE: Readonly<Record<string, string>> = { principals: "merged_into" };
/** Written last, by name: the target has some of its own. */
const SETTINGS = "settings";
const OWN_SETTINGS: ReadonlySet<string> = new Set(["schema", "moving", "telling_key"]);

/** Throws store.owned while one of them is in use, and store.conflict if the two differ in the end. */
export async function moveStore(options: MoveOptions): Promise<readonly MovedTable[]> {
	const source = await openSide(options.from, "source", options.clock);
	try {
		const target = await openSide(options.to, "target", options.clock);
		try {
			return await moveBetween(source, target, options);
		} finally {
			await target.close();
		}
	} finally {
		await source.close();
	}
}

async function openSide(url: string, as: "source" | "target", clock: Pick<Clock, "now">): Promise<MoveSide> {
	if (/^postgres(?:ql)?:/.test(url)) return (await import("../postgres/moving.ts")).openForMove(url, as);
	if (url.startsWith("sqlite:") && url.length > "sqlite:".length)
		return (await import("../sqlite/moving.ts")).openForMove(url.slice("sqlite:".length), as, clock.now());
	throw new KeryxError("store.url", "a store is sqlite:<path> or postgres://...", { field: as });
}

async function moveBetween(
	source: MoveSide,
	target: MoveSide,
	options: MoveOptions,
): Promise<readonly MovedTable[]> {
	const { from, onProgress = () => {}, pageRows = PAGE } = options;
	const tables = (await source.tables()).filter(({ name }) => name !== SETTINGS);
	const state = await target.state();
	if (!state) throw inUse();
	if (state.from !== "" && state.from !== nameOf(from))
		throw new KeryxError(
			"argument.invalid",
			`a move from ${state.from} to this store was started but not finished`,
			{
				field: "to",
				hint: "finish that move, or use an empty target",
			},
		);
	const begun = tables.findIndex(({ name }) => name === state.table);
	for (const table of tables.slice(Math.max(begun, 0))) {
		const of = await source.count(table);
		let after = table.name === state.table ? state.after : null;
		let rows = after === null ? 0 : await target.count(table);
		for (;;) {
			onProgress({ step: "copying", table: table.name, rows, of });
			const page = await source.rows(table, after, table.name === "blob_chunks" ? PAGE_OF_CHUNKS : pageRows);
			if (page.length === 0) break;
			after = keyOf(table, page.at(-1) as Value[]);
			await target.add(table, withoutLate(table, page), { from: nameOf(from), table: table.name, after });
			rows += page.length;
		}
	}
	await referLate(source, target, tables);
	const moved: MovedTable[] = [];
	for (const table of tables) {
		const [ours, theirs] = [
			await digestOf(source, table, onProgress),
			await digestOf(target, table, onProgress),
		];
		if (ours.digest !== theirs.digest)
			throw new KeryxError(
				"store.conflict",
				`the table ${table.name} differs after the move: ${ours.rows} rows in the source, ${theirs.rows} in the target`,
				{ hint: "the source was used during the move: empty the target and move again" },
			);
		moved.push(ours);
	}
	await target.finish(await settingsOf(source), await source.numbers());
	return moved;
}

function inUse(): KeryxError {
	return new KeryxError("argument.invalid", "the target already contains a store", {
		field: "to",
		hint: "name a file that does not exist, or a database or schema without a store",
	});
}

/** Without secrets, and stable for the same store. */
function nameOf(url: string): string {
	return createHash("sha256").update(url).digest("hex").slice(0, 16);
}

function keyOf({ columns, key }: TableShape, row: readonly Value[]): Value[] {
	return key.map((name) => row[columns.indexOf(name)] as Value);
}

function withoutLate(
	{ name, columns }: TableShape,
	rows: readonly (readonly Value[])[],
): readonly (readonly Value[])[] {
	const late = LATE[name];
	if (late === undefined) return rows;
	const at = columns.indexOf(late);
	return rows.map((row) => row.with(at, null));
}

async function referLate(source: MoveSide, target: MoveSide, tables: readonly TableShape[]): Promise<void> {
	for (const table of tables) {
		const column = LATE[table.name];
		if (column === undefined) continue;
		const at = table.columns.indexOf(column);
		for await (const page of pagesOf(source, table)) {
			const pairs = page
				.filter((row) => row[at] !== null)
				.map((row) => [keyOf(table, row)[0], row[at]] as [Value, Value]);
			if (pairs.length > 0) await target.refer(table.name, column, pairs);
		}
	}
}

async function* pagesOf(side: MoveSide, table: TableShape): AsyncGenerator<Value[][]> {
	for (let after: readonly Value[] | null = null; ; ) {
		const page = await side.rows(table, after, table.name === "blob_chunks" ? PAGE_OF_CHUNKS : PAGE);
		if (page.length === 0) return;
		yield page;
		after = keyOf(table, page.at(-1) as Value[]);
	}
}

/** A digest over all values by column name, because engines may order columns differently. */
async function digestOf(
	side: MoveSide,
	table: TableShape,
	onProgress: (progress: MoveProgress) => void,
): Promise<MovedTable> {
	const hash = createHash("sha256");
	const of = await side.count(table);
	let rows = 0;
	for await (const page of pagesOf(side, table)) {
		for (const row of page) hash.update(`${JSON.stringify(row.map(plainValue))}\n`);
		rows += page.length;
		onProgress({ step: "comparing", table: table.name, rows, of });
	}
	return { table: table.name, rows, digest: hash.digest("hex") };
}

/** PostgreSQL accepts neither NUL nor lone surrogates: compare what both can store. */
function plainValue(value: Value): unknown {
	if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
	return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value;
}

async function settingsOf(source: MoveSide): Promise<[name: string, value: string][]> {
	const shape = { name: SETTINGS, columns: ["name", "value"], key: ["name"] };
	const rows = await source.rows(shape, null, 10_000);
	return rows
		.map(([name, value]) => [String(name), String(value)] as [string, string])
		.filter(([name]) => !OWN_SETTINGS.has(name));
}
