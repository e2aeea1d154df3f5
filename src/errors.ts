// Every error that leaves Keryx: a stable code, a message that names what is wrong, and a remedy.
// The catalogue is closed: a code that is not listed here does not compile, and docs/errors.md lists the same ones.

/** code -> the remedy that holds wherever it is thrown; a call may give a closer one. */
export const ERRORS = {
	"source.invalid": "send the source in the form of docs/reference/sources.md",
	"address.incomplete": "send the chat's id, or for a direct message the sender's id",
	"profile.invalid": "use a name of a-z, 0-9, _ and -, at most 64 characters, starting with a letter or digit",
	"policy.invalid": "correct the session_reset section; docs/reference/configuration.md lists its keys",
	"override.invalid": "give an object with model, provider or base_url",
	"argument.invalid": "correct the value; the message names the field and what it may be",
	"config.unreadable": "check that the file exists and that you may read it",
	"config.syntax": "correct the YAML at the line and column named",
	"config.invalid": "correct the keys named; docs/reference/configuration.md lists them all",
} as const;

export type ErrorCode = keyof typeof ERRORS;

export class KeryxError extends Error {
	readonly code: ErrorCode;
	readonly hint: string;
	/** The field, key or option that is wrong, where one is. */
	readonly field: string | undefined;

	constructor(code: ErrorCode, message: string, options: { field?: string; hint?: string; cause?: unknown } = {}) {
		super(message, { cause: options.cause });
		this.name = "KeryxError";
		this.code = code;
		this.field = options.field;
		this.hint = options.hint ?? ERRORS[code];
	}

	toJSON(): { code: ErrorCode; message: string; hint: string; field?: string } {
		return { code: this.code, message: this.message, hint: this.hint, ...(this.field && { field: this.field }) };
	}
}
