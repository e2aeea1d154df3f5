// Classifies errors of PostgreSQL and the network: for the engine (retry, look up the outcome, refuse) and for people, each with its
// remedy.
import { type ErrorCode, KeryxError } from "../../errors.ts";

/** An error's code: five characters of SQLSTATE, or a system word such as ECONNREFUSED. */
export function codeOf(error: unknown): string {
	const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
	return typeof code === "string" ? code : "";
}

/** Two transactions conflicted: a retry may succeed. */
export function isCollision(error: unknown): boolean {
	const code = codeOf(error);
	return code === "40001" || code === "40P01" || code === "55P03";
}

/** A constraint or trigger refused it: the fault of this operation, or of an earlier one. */
export function isRefusal(error: unknown): boolean {
	const code = codeOf(error);
	return code.startsWith("23") || code === "P0001";
}

/** The connection is lost, or the server closed it. A running statement may have been executed. */
export function isLost(error: unknown): boolean {
	const code = codeOf(error);
	if (code.startsWith("08") || code.startsWith("57P") || code === "25P03" || NETWORK.has(code)) return true;
	return code === "" && error instanceof Error && LOST_WORDS.test(error.message);
}

const NETWORK = new Set([
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
	"EHOSTUNREACH",
	"ENETUNREACH",
	"ENETDOWN",
	"EAI_AGAIN",
	"ENOTFOUND",
	"ENOENT",
]);
/** `pg`'s own messages. */
const LOST_WORDS = /terminat|timeout|not queryable|closed|dropped|ended/i;

/** By the code's prefix. */
const KNOWN: readonly (readonly [prefix: string, code: ErrorCode, message: string, hint?: string])[] = [
	["28", "store.refused", "the database server refused the user or the password"],
	["3D000", "store.refused", "the database does not exist", "create it, or correct the name in store.url"],
	[
		"42501",
		"store.refused",
		"the database user lacks a right",
		"GRANT CREATE ON DATABASE <name> TO <user>; where the schema is there already, make the user its owner: ALTER SCHEMA <schema> OWNER TO <user>",
	],
	["53100", "store.full", "the disk of the database server is full"],
	["53300", "store.unreachable", "the database server takes no more connections"],
	["53", "store.full", "the database server lacks memory or space"],
	["54", "store.failed", "the database server cannot take a value of this size", "give a shorter one"],
	["25006", "store.readonly", "the database takes no writes"],
	["57P03", "store.unreachable", "the database server is starting or stopping"],
	["57", "store.unreachable", "the database server ended the connection"],
	["58", "store.io", "the database server cannot read or write its files"],
	["XX", "store.corrupt", "the database is damaged"],
	["23", "store.conflict", "the operation breaks a rule of the store"],
	["P0001", "store.conflict", "the operation breaks a rule of the store"],
	["40", "store.locked", "too many operations changed the same rows"],
];

const REMEDIES: Partial<Record<ErrorCode, string>> = {
	"store.full": "free up space on the database server's disk, then try again",
	"store.io": "look at the database server's log, then try again",
	"store.readonly": "make the database writable, or name the primary server in store.url",
	"store.unreachable": "check that the database server runs and that its address in store.url is right",
	"store.corrupt": "restore the database from a backup; the server's log says more",
	"store.locked": "try again",
};

export function toKeryxError(error: unknown): KeryxError {
	if (error instanceof KeryxError) return error;
	const code = codeOf(error);
	const text = wordsOf(error);
	// First of all: not an unreachable server, but a certificate file.
	if ((error as { readonly syscall?: unknown } | null)?.syscall === "open")
		return new KeryxError("store.refused", `a file that store.url names cannot be read (${text})`, {
			cause: error,
			hint: "correct sslrootcert, sslcert or sslkey in store.url",
		});
	const [, ours, meaning, hint] = KNOWN.find(([prefix]) => code.startsWith(prefix)) ?? [];
	if (ours !== undefined)
		return new KeryxError(ours, `${meaning} (${text})`, { cause: error, ...hintOf(hint ?? REMEDIES[ours]) });
	if (isLost(error))
		return new KeryxError("store.unreachable", `the database server does not answer (${text})`, {
			cause: error,
			...hintOf(REMEDIES["store.unreachable"]),
		});
	if (/SSL|TLS|certificate/i.test(text))
		return new KeryxError("store.refused", `there is no secure connection to the database server (${text})`, {
			cause: error,
			hint: "correct sslmode or sslrootcert in store.url, or let the server speak TLS with a certificate for this name",
		});
	if (/password/i.test(text))
		return new KeryxError("store.refused", `the database server refused the connection (${text})`, {
			cause: error,
		});
	return new KeryxError("store.failed", `the store failed: ${text}`, { cause: error });
}

/** Several addresses were tried: report the first one's error. */
function wordsOf(error: unknown): string {
	if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
	const code = codeOf(error);
	const text = error instanceof Error ? error.message : String(error);
	return code === "" || text.includes(code) ? text : `${code}: ${text}`;
}

function hintOf(hint: string | undefined): { readonly hint?: string } {
	return hint === undefined ? {} : { hint };
}
