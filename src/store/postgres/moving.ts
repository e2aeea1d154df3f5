// A store on a server as the source or target of a move. The owner's lock is held meanwhile.
import { KeryxError } from "../../errors.ts";
import type { MoveSide, MoveState, TableShape } from "../move/side.ts";
import type { Value } from "../query.ts";
import { serverSettings } from "./address.ts";
import { Connection, quoted } from "./connection.ts";
import { assertVersion, checkServer, lockOf, migrate, openingFault, schemaVersion } from "./server.ts";

/** Kept by the engine, or recreated. */
const OWN = ["nodes", "writers", "search"];
const NOTHING_YET: MoveState = { from: "", table: "", after: null };

export async function openForMove(url: string, as: "source" | "target"): Promise<MoveSide> {
	const settings = serverSettings(url);
	const { schema } = settings;
	const connection = await Connection.open(settings, { name: "keryx move", timeoutMs: 0 }).catch((error) => {
		throw openingFault(error, url);
	});
	const rowsOf = async <Row>(text: string, values: readonly Value[] = []): Promise<Row[]> =>
		(await connection.exec(text, values)).rows as Row[];
	const within = async (work: () => Promise<void>): Promise<void> => {
		await connection.exec("BEGIN");
		try {
			await work();
			await connection.exec("COMMIT");
		} catch (error) {
			await connection.exec("ROLLBACK").catch(() => {});
			throw openingFault(error, url);
		}
	};
	const note = (state: MoveState) =>
		connection.exec(
			"INSERT INTO settings (name, value) VALUES ('moving', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
			[JSON.stringify(state)],
		);
	const tables = async (): Promise<TableShape[]> => {
		const columns = await rowsOf<{ name: string; column: string; key: number | null }>(
			`SELECT c.relname AS name, a.attname AS column, array_position(i.indkey::int[], a.attnum::int) AS key
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
			WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.relname, a.attname COLLATE "C"`,
			[schema],
		);
		const references = await rowsOf<{ name: string; to: string }>(
			`SELECT c.relname AS name, r.relname AS to FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype = 'f' AND n.nspname = $1`,
			[schema],
		);
		const shapes = new Map(
			[...Map.groupBy(columns, ({ name }) => name)]
				.filter(([name]) => !OWN.includes(name))
				.map(([name, all]) => {
					const key = all
						.filter((one) => one.key !== null)
						.sort((a, b) => (a.key as number) - (b.key as number));
					return [
						name,
						{ name, columns: all.map(({ column }) => column), key: key.map(({ column }) => column) },
					] as const;
				}),
		);
		const ordered = new Set<TableShape>();
		const visit = (name: string): void => {
			const shape = shapes.get(name);
			if (!shape || ordered.has(shape)) return;
			for (const { name: from, to } of references) if (from === name && to !== name) visit(to);
			ordered.add(shape);
		};
		for (const name of shapes.keys()) visit(name);
		return [...ordered];
	};
	/** Columns that number their rows. */
	const numbered = () =>
		rowsOf<{ name: string; column: string }>(
			`SELECT c.relname AS name, a.attname AS column FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> '' WHERE n.nspname = $1`,
			[schema],
		);
	try {
		await checkServer(connection, settings);
		const before = await schemaVersion(connection, schema);
		if (before === null && as === "source")
			throw new KeryxError("store.unreachable", "there is no store in that database", {
				hint: "check the database and the schema of the source",
			});
		if (before === null) await migrate(connection, settings, "new");
		else assertVersion(before);
		const [lock] = await rowsOf<{ got: boolean }>(
			`SELECT pg_try_advisory_lock(${lockOf("own", schema)}) AS got`,
		);
		if (!lock?.got)
			throw new KeryxError("store.owned", "a running Keryx is using the store in that database");
		if (before === null) await note(NOTHING_YET);
	} catch (error) {
		await connection.close();
		throw openingFault(error, url);
	}
	return {
		tables,
		rows: async ({ name, columns, key }, after, limit) => {
			const keys = key.map(quoted).join(", ");
			const found = await rowsOf<Record<string, Value>>(
				`SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(name)}
				${after ? `WHERE (${keys}) > (${key.map((_, n) => `$${n + 1}`).join(", ")})` : ""} ORDER BY ${keys} LIMIT ${limit}`,
				after ?? [],
			);
			return found.map((row) => columns.map((column) => row[column] as Value));
		},
		count: async ({ name }) => {
			const [row] = await rowsOf<{ n: number }>(`SELECT count(*) AS n FROM ${quoted(name)}`);
			return row?.n ?? 0;
		},
		state: async () => {
			const [row] = await rowsOf<{ value: string }>("SELECT value FROM settings WHERE name = 'moving'");
			return row ? (JSON.parse(row.value) as MoveState) : null;
		},
		add: ({ name, columns }, rows, state) =>
			within(async () => {
				const table = quoted(name);
				await connection.exec(
					`INSERT INTO ${table} (${columns.map(quoted).join(", ")})
					SELECT ${columns.map(quoted).join(", ")} FROM json_populate_recordset(NULL::${table}, $1::json)`,
					[
						JSON.stringify(
							rows.map((row) =>
								Object.fromEntries(columns.map((column, n) => [column, inJson(row[n] as Value)])),
							),
						),
					],
				);
				await note(state);
			}),
		refer: (table, column, pairs) =>
			within(async () => {
				await connection.exec(
					`UPDATE ${quoted(table)} t SET ${quoted(column)} = p.v ->> 1 FROM json_array_elements($1::json) AS p (v) WHERE t.id = p.v ->> 0`,
					[JSON.stringify(pairs)],
				);
			}),
		numbers: async () => {
			const numbers: Record<string, number> = {};
			for (const { name, column } of await numbered()) {
				const [row] = await rowsOf<{ seq: string }>("SELECT pg_get_serial_sequence($1, $2) AS seq", [
					`${quoted(schema)}.${quoted(name)}`,
					column,
				]);
				const [last] = await rowsOf<{ n: number; called: boolean }>(
					`SELECT last_value AS n, is_called AS called FROM ${row?.seq}`,
				);
				if (last?.called) numbers[name] = last.n;
			}
			return numbers;
		},
		finish: (given, numbers) =>
			within(async () => {
				for (const [name, value] of given)
					await connection.exec(
						"INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
						[name, value],
					);
				for (const { name, column } of await numbered())
					await connection.exec(
						`SELECT setval(pg_get_serial_sequence($1, $2), n) FROM (SELECT GREATEST($3::bigint, max(${quoted(column)})) AS n FROM ${quoted(name)}) m WHERE n > 0`,
						[`${quoted(schema)}.${quoted(name)}`, column, numbers[name] ?? 0],
					);
				await connection.exec("DELETE FROM settings WHERE name = 'moving'");
			}),
		close: () => connection.close(),
	};
}

function inJson(value: Value): unknown {
	if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
	return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value;
}
