// Every error that leaves Keryx: a stable code, a message that names what is wrong, and a remedy.
// The catalogue is closed: a code that is not listed here does not compile, and docs/errors.md lists the same ones.

/** code -> the remedy that holds wherever it is thrown; a call may give a closer one. */
export const ERRORS = {
	"source.invalid": "send the source in the form of docs/reference/sources.md",
	"address.incomplete": "send the chat's id, or for a direct message the sender's id",
	"profile.invalid":
		"use a name of a-z, 0-9, _ and -, at most 64 characters, starting with a letter or digit",
	"policy.invalid": "correct the session_reset section; docs/reference/configuration.md lists its keys",
	"override.invalid": "give an object with model, provider or base_url",
	"attachment.too_large": "send a smaller file, or raise http.attachment_limit_mb",
	"argument.invalid": "correct the value; the message names the field and what it may be",
	"config.unreadable": "check that the file exists and that you may read it",
	"config.syntax": "correct the YAML at the line and column named",
	"config.invalid": "correct the keys named; docs/reference/configuration.md lists them all",
	"script.invalid": "correct the field named; docs/guides/testing.md shows the form of a script",
	"output.failed": "check that the folder exists, that you may write there and that the disk has space",
	"input.unreadable": "check that the file exists and that you may read it, or give - to read stdin",
	"input.invalid": "give a JSON object, an array of them, or one object a line",
	"cli.inside": "run it in a terminal of your own, or answer in your chat or in the page",
	"usage.invalid": "run `keryx --help`, or `keryx <command> --help`, to see what can be given",
	internal: "this is a mistake in Keryx: run it again with KERYX_DEBUG=1 and report what it prints",
	"store.not_found": "check the id; what you may not see is answered the same way",
	"store.owned": "stop the Keryx that is named, or talk to it: its commands reach it over its socket",
	"store.owner_lost": "stop this Keryx: it writes nothing any more; start it again when no other one runs",
	"store.replaced":
		"put the file back and Keryx goes on, or stop Keryx and start it again: it then uses the files that are there",
	"store.full": "free space on the disk that holds Keryx's home, then try again",
	"store.io": "check the disk that holds Keryx's home, then try again",
	"store.readonly": "make Keryx's home writable for this user, then try again",
	"store.unreachable": "check that the directory exists and that this user may use it",
	"store.locked": "end the program that holds the lock, then try again",
	"store.corrupt": "restore a backup, or run `keryx doctor`",
	"store.newer": "run the Keryx version that made this store, or a newer one",
	"store.older": "start Keryx once: it brings the store up to date, after a copy",
	"store.conflict":
		"this is a mistake in Keryx or in a program that uses its store: report it with the message",
	"store.sealed": "give Keryx the key that this store was sealed with",
	"store.exhausted": "try again",
	"store.failed": "run `keryx doctor`; report it if that finds nothing",
	"store.closed": "open the store again",
	"store.url": "use sqlite:<path> or sqlite::memory:",
	"store.unsupported": "use a store on SQLite for this",
	"workspace.unusable":
		"check that workspace.path is a directory that this user may use, and that the disk has space",
	"channel.token_missing":
		"put the token into the variable or file that the entry names, or run `keryx channels add` again",
	"channel.token_exposed": "make the file readable by its owner only: chmod 600",
	"channel.module": "check that the package is installed in Keryx's home and exports createChannel",
	"channel.refused": "check the token; `keryx channels test` tries it again",
	"home.unusable": "check that KERYX_HOME is a directory that this user may write to",
	"http.no_route": "look at /openapi.json for the calls there are",
	"http.too_large": "send less at a time",
	"http.not_json": "send JSON with content-type: application/json",
	"http.unauthenticated": "send `Authorization: Bearer` with a token, which `keryx token create` makes",
	"http.forbidden": "use a token whose role allows this; `keryx token create --role` makes one",
	"http.method": "use a method that the answer's Allow header names",
	"http.host": "use the address that Keryx listens on, or name it in http.host",
	"http.origin": "call from Keryx's own page, or from a program that sends no Origin",
	"http.url_too_long": "put it into the body, or ask for less at a time",
	"http.upgrade": "open it as a WebSocket",
	"http.rate": "wait as long as Retry-After says; http.rate_per_minute is the limit",
	"http.login": "run `keryx link` where Keryx runs: it prints a new one",
	"http.port": "choose another http.port, or end the program that has this one",
	"model.unreachable":
		"check the name of the model, the key's variable and the network; --no-test writes it all the same",
	"webhook.refused":
		"sign `<X-Keryx-Timestamp>.<route>.<body>` with the route's secret as HMAC-SHA256, and send it within five minutes",
	"webhook.replayed": "nothing need be done; to say the same again, sign it with the time of now",
	"model.unknown": "use a name that GET /v1/models lists",
	"gateway.stopped": "send it again when Keryx runs; nothing was taken",
	"gateway.not_stopped": "wait a little longer; if it hangs, end the process: nothing is lost",
	"gateway.silent":
		"run `keryx doctor`; where the process hangs, end it and start Keryx again: what it has accepted is kept. --timeout <seconds> waits longer",
	"audit.no_key": "open the store with the key of its audit: the file audit.key in Keryx's home",
	"audit.broken":
		"run `keryx confirm audit --verify`: it names the first entry that is wrong; restore a backup",
	"audit.sound": "nothing need be done",
	"token.taken": "choose another name: the audit names callers by it, so one is never given twice",
	"pairing.wrong": "compare the code with the one the person was sent; `keryx pair list` shows who has asked",
	"pairing.locked": "wait as long as named, or approve by number: `keryx pair list` shows it",
	"pairing.over": "ask the person to write again: that gets them a new code",
	"confirmation.settled": "read it again: it has been decided, or its time has passed",
	"confirmation.limited": "wait as long as named, then ask again",
	"confirmation.refused": "a human who may decide must do this",
	"process.limit": "wait until one has ended, or kill one; processes.max_per_conversation is the limit",
	"process.unknown": "list the processes to see which there are",
	"process.taken": "draw another id: one is never given twice",
	"process.running": "end it first, or wait until it has ended",
	"process.refused": "ask the owner, or somebody whose role is no less than that of whoever had it started",
	"process.ended": "read its log and its exit code; start another one",
	"process.input_closed": "start it again: it takes no more input",
	"process.input_full": "write less at a time, and wait until the program reads",
	"process.no_pty": "start it without a terminal, or install the package for this platform",
	"process.host_gone": "connect again: the processes go on, and their files tell what happened meanwhile",
	"process.host_silent":
		"see whether the process host is stopped, and let it go on with kill -CONT; Keryx goes on trying",
	"process.host_failed": "look into the log of the process host, in the folder processes of Keryx's home",
	"process.host_version": "use the Keryx that started the host, or wait until its processes have ended",
	"process.failed": "check the disk that holds Keryx's home; the log of the process host says more",
	"process.unreachable": "check the network, the address and the key by hand with ssh, then try again",
	"wall.path":
		"give folders that exist by their real path, without a link in it; what a wall binds must lie where no command can exchange it",
	"wall.unavailable": "run `keryx doctor`: it says why no wall can be made here, and the command that helps",
	"turn.stale": "stop this turn: another one has taken over",
	"turn.rotates": "pass what the rotation needs and end the turn again",
	"delivery.stale": "read the delivery again: somebody else has settled it",
	"message.unanswered": "`keryx why` and its number tells what became of it",
	"session.none": "send a message first",
	"conversation.put_away": "take the conversation back first: restore it, or take it out of the archive",
	"session.continued": "use /new to undo that, or /resume for older sessions",
	"session.ended": "use the live session",
	"session.live": "wait until the session has ended",
	"transcript.changed": "read the transcript again",
	"checkpoint.disabled": "set checkpoints.enabled to true, and start Keryx again",
	"checkpoint.consent":
		"the owner writes /checkpoint once in a chat that works there, or runs `keryx checkpoint`",
	"checkpoint.missing": "/undo alone takes back the messages; /rollback lists the checkpoints there are",
	"checkpoint.no_git": "install git, or put it on the PATH that Keryx is started with",
	"checkpoint.refused": "choose a folder of its own as the workspace",
	"checkpoint.too_many_files":
		"name what need not be saved in .gitignore, choose a smaller workspace, or raise checkpoints.max_files",
	"checkpoint.busy": "wait until the other one is done, then try again",
	"checkpoint.failed": "check that the disk has space and that Keryx's home can be written, then try again",
	"import.invalid":
		"correct the line named or export again; run the import again then: what is there already is passed over",
	"archive.failed":
		"check that the archive's directory can be written and read and has space; nothing was deleted, so try again",
} as const;

export type ErrorCode = keyof typeof ERRORS;

export class KeryxError extends Error {
	readonly code: ErrorCode;
	readonly hint: string;
	/** The field, key or option that is wrong, where one is. */
	readonly field: string | undefined;

	constructor(
		code: ErrorCode,
		message: string,
		options: { field?: string; hint?: string; cause?: unknown } = {},
	) {
		super(message, { cause: options.cause });
		this.name = "KeryxError";
		this.code = code;
		this.field = options.field;
		this.hint = options.hint ?? ERRORS[code];
	}

	toJSON(): { code: ErrorCode; message: string; hint: string; field?: string } {
		return {
			code: this.code,
			message: this.message,
			hint: this.hint,
			...(this.field && { field: this.field }),
		};
	}
}
