// A SQLite file as the source or target of a move. The owner's lock is held meanwhile.
import { existsSync } from "node:fs";
import { KeryxError } from "../../errors.ts";
import type { MoveSide, MoveState, TableShape } from "../move/side.ts";
import type { Value } from "../query.ts";
import { Connection } from "./connection.ts";
import { openingFault } from "./faults.ts";
import { createPrivately, followLinks } from "./files.ts";
import { takeOwnership } from "./ownership.ts";

/** Kept by the engine, or recreated. */
const OWN = new Set(["nodes"]);
const NOTHING_YET: MoveState = { from: "", table: "", after: null };

export function openForMove(given: string, as: "source" | "target", now: number): MoveSide {
	const path = followLinks(given);
	if (as === "source" && !existsSync(path))
		throw new KeryxError("store.unreachable", `there is no store at ${path}`, {
			hint: "check the path of the source",
		});
	const ownership = takeOwnership(path, now);
	try {
		const isNew = !existsSync(path);
		if (isNew) createPrivately(path);
		const { db } = Connection.writer(path);
		// Rows arrive in their own order; references are checked at the end.
		db.pragma("foreign_keys = OFF");
		if (isNew) note(NOTHING_YET);
		return side();

		function note(state: MoveState): void {
			db.prepare(
				"INSERT INTO settings (name, value) VALUES ('moving', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
			).run(JSON.stringify(state));
		}

		function side(): MoveSide {
			return {
				tables: async () => tablesIn(db),
				rows: async (table, after, limit) =>
					db
						.prepare(
							`SELECT ${table.columns.map(quoted).join(", ")} FROM ${quoted(table.name)}
							${after ? `WHERE (${table.key.map(quoted).join(", ")}) > (${table.key.map(() => "?").join(", ")})` : ""}
							ORDER BY ${table.key.map(quoted).join(", ")} LIMIT ?`,
						)
						.raw()
						.all(...(after ?? []), limit) as Value[][],
				count: async ({ name }) =>
					db
						.prepare(`SELECT count(*) FROM ${quoted(name)}`)
						.pluck()
						.get() as number,
				state: async () => {
					const value = db.prepare("SELECT value FROM settings WHERE name = 'moving'").pluck().get();
					return value === undefined ? null : (JSON.parse(value as string) as MoveState);
				},
				add: async (table, rows, state) => {
					const insert = db.prepare(
						`INSERT INTO ${quoted(table.name)} (${table.columns.map(quoted).join(", ")}) VALUES (${table.columns.map(() => "?").join(", ")})`,
					);
					db.transaction(() => {
						for (const row of rows) insert.run(...row);
						note(state);
					})();
				},
				refer: async (table, column, pairs) => {
					const update = db.prepare(`UPDATE ${quoted(table)} SET ${quoted(column)} = ? WHERE id = ?`);
					db.transaction(() => {
						for (const [key, value] of pairs) update.run(value, key);
					})();
				},
				numbers: async () =>
					Object.fromEntries(
						db.prepare("SELECT name, seq FROM sqlite_sequence").raw().all() as [string, number][],
					),
				finish: async (settings, numbers) => {
					const broken = db.pragma("foreign_key_check") as unknown[];
					if (broken.length > 0)
						throw new KeryxError("store.corrupt", `${broken.length} rows refer to others that are not there`);
					const put = db.prepare(
						"INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
					);
					const raise = db.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?");
					const begin = db.prepare(
						"INSERT INTO sqlite_sequence (name, seq) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)",
					);
					db.transaction(() => {
						for (const [name, value] of settings) put.run(name, value);
						for (const [name, number] of Object.entries(numbers)) {
							raise.run(number, name);
							begin.run(name, number, name);
						}
						db.exec("DELETE FROM settings WHERE name = 'moving'");
					})();
				},
				close: async () => {
					db.close();
					ownership.release();
				},
			};
		}
	} catch (error) {
		ownership.release();
		throw openingFault(error, path);
	}
}

function tablesIn(db: Connection["db"]): TableShape[] {
	const names = db
		.prepare(
			"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'search%' ORDER BY name",
		)
		.pluck()
		.all() as string[];
	const shapes = new Map(
		names
			.filter((name) => !OWN.has(name))
			.map((name) => {
				const columns = db.pragma(`table_info(${name})`) as { name: string; pk: number }[];
				const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
				return [
					name,
					{
						name,
						columns: columns.map((column) => column.name).sort(),
						key: key.map((column) => column.name),
					},
				] as const;
			}),
	);
	const ordered = new Set<TableShape>();
	const visit = (name: string): void => {
		const shape = shapes.get(name);
		if (!shape || ordered.has(shape)) return;
		for (const { table } of db.pragma(`foreign_key_list(${name})`) as { table: string }[])
			if (table !== name) visit(table);
		ordered.add(shape);
	};
	for (const name of names) visit(name);
	return [...ordered];
}

function quoted(name: string): string {
	return `"${name}"`;
}
