// Statements given to database clients on the command line or on standard input. A statement that cannot be read counts as dangerous.
import { isDark, isKnown } from "../field.ts";
import { judgeSql, judgeSqliteShell } from "../languages/sql.ts";
import { names, optionValues, parsedWords } from "../options.ts";
import type { Field, Finding, Invocation, Rule } from "../types.ts";

/** Clients, with the options whose value is a statement. */
const CLIENTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
	["psql", ["-c", "--command"]],
	["pgcli", ["-c", "--command"]],
	["mysql", ["-e", "--execute"]],
	["mariadb", ["-e", "--execute"]],
	["mycli", ["-e", "--execute"]],
	["sqlite3", ["-cmd"]],
	["sqlite", ["-cmd"]],
	["litecli", ["-e"]],
	["sqlcmd", ["-q", "-Q"]],
	["mongo", ["--eval"]],
	["mongosh", ["--eval"]],
	["redis-cli", []],
	["valkey-cli", []],
	["keydb-cli", []],
	["clickhouse-client", ["-q", "--query"]],
	["clickhouse", ["-q", "--query"]],
	["cockroach", ["-e", "--execute"]],
	["duckdb", ["-c", "-s", "-cmd"]],
	["cqlsh", ["-e", "--execute"]],
	["influx", []],
	["etcdctl", []],
	["mysqladmin", []],
]);
/** Their operands are the statement, except the first one, which is the database. */
const FILES = /^(sqlite3?|duckdb|litecli)$/;
/** Their operands are an order, word by word. */
const WORDS = /^(redis-cli|valkey-cli|keydb-cli|influx|etcdctl)$/;

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
	["liquibase", ["dropAll", "drop-all", "rollback"]],
	["alembic", ["downgrade"]],
	["knex", ["migrate:rollback", "migrate:down"]],
	["mix", ["ecto.drop", "ecto.reset", "ecto.rollback"]],
	["diesel", ["database reset", "database drop", "migration redo"]],
	["sqlx", ["database drop", "database reset"]],
	["supabase", ["db reset"]],
	["influx", ["delete", "bucket delete"]],
	["goose", ["reset", "down", "down-to"]],
	["migrate", ["drop", "down"]],
	["dbmate", ["drop", "rollback"]],
]);
const MIGRATIONS: ReadonlyMap<string, readonly string[]> = new Map([
	["prisma", ["migrate deploy"]],
	["supabase", ["db push"]],
	["flyway", ["migrate"]],
	["liquibase", ["update"]],
]);
const ALWAYS = /^(dropdb|dropuser|ldapdelete|ldapmodify|elasticsearch-reset-password)$/;

export const databaseRule: Rule = {
	class: "database",
	action: "wipe_database",
	look(invocation) {
		const { name, args } = invocation;
		if (ALWAYS.test(name)) return { why: "drops a database or its users" };
		if (names(args, TOOLS.get(name) ?? [])) return { why: "resets or drops a database" };
		if (names(args, MIGRATIONS.get(name) ?? []))
			return { why: "changes a database schema", action: "migrate_database" };
		if (args.some((arg) => /^--(force-reset|accept-data-loss)$/.test(arg.text)))
			return { why: "resets a database" };
		if (name === "pg_restore" && args.some((arg) => /^(-[a-zA-Z]*c|--clean)$/.test(arg.text)))
			return { why: "drops the contents of a database before restoring" };
		if (/^mongo(import|restore)$/.test(name) && args.some((arg) => arg.text === "--drop"))
			return { why: "drops the contents of a database before restoring" };
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

function statements(invocation: Invocation): Finding | null {
	const { name, args, stdin, many } = invocation;
	if (many && args.some((arg) => /^(del|unlink)$/i.test(arg.text)))
		return { why: "deletes every key it is given" };
	const given = args.map((arg) => arg.text).join(" ");
	const text = stdin.kind === "text" ? `${given} ; ${stdin.text}` : given;
	const found = judgeSql(text) ?? (FILES.test(name) ? sqliteShell(invocation) : null);
	if (found) return { why: found };
	if (
		/^(mysql|mariadb|psql)$/.test(name) &&
		args.some((arg) => /^--(pager|tee)=|^-P\s*pager=/.test(arg.text))
	)
		return { why: "has a database client run a program" };
	if (WORDS.test(name) && args.some((arg) => /^(eval|evalsha|--eval|fcall|script)$/i.test(arg.text)))
		return { why: "runs a program inside a database" };
	if (FILES.test(name) && args.some((arg) => /^-init$/.test(arg.text)))
		return { why: "gives a database statements that cannot be checked before it runs" };
	return isHidden(invocation)
		? { why: "gives a database a statement that cannot be checked before it runs" }
		: null;
}

function sqliteShell({ name, args, stdin }: Invocation): string | null {
	const words = statementWords(name, args, CLIENTS.get(name) ?? []).map((word) => word.text);
	const texts = [...words, ...(stdin.kind === "text" ? [stdin.text] : [])];
	for (const text of texts) {
		const found = text.includes(".") ? judgeSqliteShell(text) : null;
		if (found) return found;
	}
	return null;
}

/** They print a file unchanged: a named file is ordinary work, as with -f. */
const OPENERS: ReadonlySet<string> = new Set([
	"cat",
	"zcat",
	"gunzip",
	"gzip",
	"bzcat",
	"xzcat",
	"zstdcat",
	"pv",
]);

/** An unseen statement: in an argument, or on standard input. */
function isHidden({ name, args, stdin }: Invocation): boolean {
	const options = CLIENTS.get(name) ?? [];
	const taken = statementWords(name, args, options);
	if (taken.some((field) => isDark(field.text))) return true;
	const reads =
		taken.length === 0 && !args.some((arg) => /^(-f|--file|--version|--help|-l|--list)/.test(arg.text));
	switch (stdin.kind) {
		case "inherited":
			return false;
		case "text":
			return !isKnown(stdin.text) && stdin.from.length > 0;
		case "pipe":
			return reads && !stdin.from.every((source) => OPENERS.has(source));
		case "file":
			return reads && (isDark(stdin.path.text) || WORDS.test(name));
	}
}

function statementWords(name: string, args: readonly Field[], options: readonly string[]): readonly Field[] {
	const given = optionValues(args, ...options);
	if (FILES.test(name))
		return [
			...given,
			...parsedWords(args, new Set(["-cmd", "-init", "-separator", "-nullvalue", "-mmap"])).operands.slice(1),
		];
	if (WORDS.test(name)) {
		const words = parsedWords(
			args,
			new Set(["-h", "-p", "-a", "-n", "-u", "-r", "-i", "-s", "--user", "--pass"]),
		).operands;
		return words.slice(0, 1);
	}
	// A cluster of psql such as -Atc takes the next word.
	const cluster = args.findIndex((arg) => options.includes("-c") && /^-[a-zA-Z]+c$/.test(arg.text));
	return cluster < 0 ? given : [...given, ...args.slice(cluster + 1, cluster + 2)];
}
