import { isKnown, names } from "../field.ts";
import type { Finding, Invocation, Rule } from "../types.ts";

const CLIENTS: ReadonlySet<string> = new Set([
	"psql",
	"pgcli",
	"mysql",
	"mariadb",
	"mycli",
	"sqlite3",
	"sqlite",
	"litecli",
	"sqlcmd",
	"mongo",
	"mongosh",
	"redis-cli",
	"valkey-cli",
	"keydb-cli",
	"clickhouse-client",
	"clickhouse",
	"cockroach",
	"duckdb",
	"cqlsh",
	"influx",
	"etcdctl",
	"mysqladmin",
]);

/** Every pattern must be found in one statement. */
const DESTRUCTIVE: readonly (readonly [readonly RegExp[], string])[] = [
	[
		[
			/\bdrop (database|schema|table|view|index|user|role|owned|keyspace|collection|materialized|column|type|function)\b/i,
		],
		"drops parts of a database",
	],
	[[/\balter table\b/i, /\bdrop\b/i], "drops parts of a table"],
	[[/\btruncate\b/i], "empties a table"],
	[[/\b(flushall|flushdb|shutdown|debug segfault)\b/i], "empties or stops a database"],
	[
		[/\bdropDatabase\b|\.drop ?\(|\.(deleteMany|remove) ?\( ?(\{ ?\})? ?\)/],
		"deletes a collection or a database",
	],
	[[/\bcopy\b/i, /\b(to|from) program\b/i], "runs a program from inside a database"],
	[[/\b(xp_cmdshell|load_extension)\b/i], "runs a program from inside a database"],
	[[/(^|[\s;'"])(\\!|\\o ?\||\.shell\b|\.system\b|system )/], "runs a program from inside a database client"],
	[[/--(prefix|from-key)\b/, /\bdel\b/], "deletes a range of keys"],
];

/** A condition, but none that always holds. */
const WHERE =
	/\bwhere\b(?! ?\(? ?(true\b|1 ?(= ?1)? ?\)? ?["']?$|['"]?(\w+)['"]? ?= ?['"]?\3['"]? ?["']?$))/i;

const TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
	["prisma", ["migrate reset", "db execute"]],
	["rails", ["db:drop", "db:reset", "db:migrate:reset", "db:schema:load", "db:purge"]],
	["rake", ["db:drop", "db:reset", "db:migrate:reset", "db:schema:load", "db:purge"]],
	["mysqladmin", ["drop", "shutdown"]],
	["sequelize", ["db:drop"]],
	["sequelize-cli", ["db:drop"]],
	["typeorm", ["schema:drop"]],
	["artisan", ["migrate:fresh", "migrate:reset", "db:wipe"]],
	["flyway", ["clean"]],
	["alembic", ["downgrade"]],
	["supabase", ["db reset"]],
	["dropdb", []],
	["dropuser", []],
]);
const MIGRATIONS: ReadonlyMap<string, readonly string[]> = new Map([
	["prisma", ["migrate deploy"]],
	["supabase", ["db push"]],
	["flyway", ["migrate"]],
	["liquibase", ["update"]],
]);

export const databaseRule: Rule = {
	name: "database",
	action: "wipe_database",
	look(invocation) {
		const { name, args } = invocation;
		if (name === "dropdb" || name === "dropuser") return { why: "drops a database or its user" };
		if (names(args, TOOLS.get(name) ?? [])) return { why: "resets or drops a database" };
		if (names(args, MIGRATIONS.get(name) ?? []))
			return { why: "changes the layout of a database", action: "migrate_database" };
		if (args.some((arg) => arg.text === "--force-reset")) return { why: "resets a database" };
		if (name === "pg_restore" && args.some((arg) => /^(-[a-zA-Z]*c|--clean)$/.test(arg.text)))
			return { why: "drops what is in a database before it restores" };
		const framework = /(^|\/)(manage\.py|artisan)$/;
		const script = args.findIndex((arg) => framework.test(arg.text));
		if (
			script >= 0 &&
			/^(flush|reset_db|sqlflush|migrate:fresh|migrate:reset|db:wipe)$/.test(args[script + 1]?.text ?? "")
		)
			return { why: "empties a database" };
		return CLIENTS.has(name) ? statements(invocation) : null;
	},
};

function statements({ args, stdin }: Invocation): Finding | null {
	const given = args.map((arg) => arg.text).join(" ");
	const text = stdin.kind === "text" ? `${given} ; ${stdin.text}` : given;
	for (const statement of withoutComments(text).replace(/\s+/g, " ").split(";")) {
		const found = DESTRUCTIVE.find(([patterns]) => patterns.every((pattern) => pattern.test(statement)));
		if (found) return { why: found[1] };
		if (WHERE.test(statement)) continue;
		if (/\bdelete from\b/i.test(statement)) return { why: "deletes every row of a table" };
		if (/\bupdate \S+ set\b/i.test(statement)) return { why: "changes every row of a table" };
	}
	const hidden = args.some((arg) => !isKnown(arg.text) && (arg.from.length > 0 || /\s/.test(arg.text)));
	if (hidden) return { why: "gives a database a statement that cannot be seen before it runs" };
	return stdin.kind === "text" && !isKnown(stdin.text) && stdin.from.length > 0
		? { why: "gives a database a statement that cannot be seen before it runs" }
		: null;
}

/** Block comments and lines after `--`, in one pass. */
function withoutComments(sql: string): string {
	let text = "";
	let at = 0;
	for (;;) {
		const open = sql.indexOf("/*", at);
		const close = open < 0 ? -1 : sql.indexOf("*/", open + 2);
		if (close < 0) break;
		text += `${sql.slice(at, open)} `;
		at = close + 2;
	}
	return (text + sql.slice(at))
		.split("\n")
		.map((line) => line.replace(/(^|\s)--\s.*$/, " "))
		.join("\n");
}
