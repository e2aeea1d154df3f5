// Statements for a database -> why they need a human.

/** Every pattern must be found in one statement. */
const DESTRUCTIVE: readonly (readonly [readonly RegExp[], string])[] = [
	[
		[
			/\bdrop (database|schema|table|view|index|user|role|owned|keyspace|collection|materialized|column|type|function|sequence|trigger|extension|tablespace|bucket|temporary|foreign|procedure)\b/i,
		],
		"drops parts of a database",
	],
	[[/\balter table\b/i, /\bdrop\b/i], "drops parts of a table"],
	[[/\balter (user|role|system|database)\b/i], "changes users or settings of a database"],
	[[/\b(grant|revoke) [\w ,]+ (on|to|from) /i], "changes permissions in a database"],
	[[/\btruncate\b/i], "empties a table"],
	[[/\b(flushall|flushdb|shutdown|debug segfault)\b/i], "empties or stops a database"],
	[[/\b(config set|module load|slaveof|replicaof|script flush|acl setuser)\b/i], "changes a database server"],
	[
		[
			/\bdropDatabase\b|\.drop ?\(|\.(deleteMany|remove) ?\( ?(\{ ?\})? ?\)|\bdropUser\b|\bshutdown(Server)?\b/,
		],
		"deletes a collection or a database",
	],
	[[/\bcopy\b/i, /\b(to|from) program\b/i], "runs a program from inside a database"],
	[[/\bcopy\b/i, /\bto ['"][^'"]/i], "writes a file from inside a database"],
	[[/\binto (outfile|dumpfile)\b/i], "writes a file from inside a database"],
	[[/\b(writefile|lo_export|edit|lo_import|pg_file_write)\s?\(/i], "writes a file from inside a database"],
	[
		[/\b(load_file|readfile|read_text|read_blob|pg_read_file|pg_read_binary_file|pg_ls_dir)\s?\(/i],
		"reads a file from inside a database",
	],
	[
		[/\b(xp_cmdshell|load_extension|sys_exec|sys_eval|dblink_exec|pg_execute_server_program)\b/i],
		"runs a program from inside a database",
	],
	[
		[/(^|[\s;'"])(\\!|\\o ?\||\\g ?\||\\w ?\||\\setenv|system )/],
		"runs a program from inside a database client",
	],
	[[/\bexecute\b/i, /\|\||\bconcat\b|\bformat\b/i], "runs a statement that is built while it runs"],
	[[/--(prefix|from-key)\b/, /\bdel\b/], "deletes a range of keys"],
];

/** A condition, but none that always holds. */
const WHERE =
	/\bwhere\b(?! ?\(? ?(true\b|1 ?(= ?1)? ?\)? ?["']?$|['"]?(\w+)['"]? ?= ?['"]?\3['"]? ?["']?$))/i;

export function judgeSql(text: string): string | null {
	for (const statement of withoutComments(text).replace(/\s+/g, " ").split(";")) {
		const found = DESTRUCTIVE.find(([patterns]) => patterns.every((pattern) => pattern.test(statement)));
		if (found) return found[1];
		if (WHERE.test(statement)) continue;
		if (/\bdelete from\b/i.test(statement)) return "deletes every row of a table";
		if (/\bupdate \S+ set\b/i.test(statement)) return "changes every row of a table";
	}
	return null;
}

/** Block comments and lines after `--`, in one pass. MySQL runs what is in a comment that starts with `/*!`. */
function withoutComments(sql: string): string {
	let text = "";
	let at = 0;
	for (;;) {
		const open = sql.indexOf("/*", at);
		const close = open < 0 ? -1 : sql.indexOf("*/", open + 2);
		if (close < 0) break;
		const run = sql[open + 2] === "!" ? sql.slice(open + 3, close).replace(/^\d{5,6}/, "") : "";
		text += `${sql.slice(at, open)} ${run} `;
		at = close + 2;
	}
	return (text + sql.slice(at))
		.split("\n")
		.map((line) => line.replace(/(^|\s)--\s.*$/, " "))
		.join("\n");
}

/** Commands of the sqlite3 shell that only show something or set how it is shown. They may be shortened; others are asked about. */
const SQLITE_SHOWS =
	`bail binary changes check databases dbconfig dbinfo dump echo eqp exit explain expert filectrl fullschema headers header help indexes
	indices limit lint mode nullvalue parameter print progress prompt quit schema scanstats selftest separator sha3sum show stats tables
	timeout timer version vfsinfo vfslist vfsname width import read open`.split(/\s+/);

/** Dot commands: `.shell`, `.once |cmd` and `.load` run programs. */
export function judgeSqliteShell(text: string): string | null {
	for (const line of text.split("\n")) {
		const command = /^\s*\.\s*([a-z0-9_]+)\s*(.*)$/i.exec(line);
		if (!command) continue;
		const [, verb = "", rest = ""] = command;
		if (rest.includes("|") || !SQLITE_SHOWS.includes(verb.toLowerCase()))
			return "gives the sqlite3 shell a command that may run programs or write files";
		if (/^(import|read|open)$/i.test(verb) && /^["']?[/~]/.test(rest))
			return "gives the sqlite3 shell a file elsewhere";
	}
	return null;
}
