// Every error that leaves Keryx: a stable code, a message that names what is wrong, and a remedy.
// The catalogue is closed: a code that is not listed here does not compile, and docs/errors.md lists the same ones.
import { KERYX } from "./called.ts";

/** code -> the remedy that holds wherever it is thrown; a call may give a closer one. */
export const ERRORS = {
	"source.invalid": "send the source as described in docs/reference/sources.md",
	"address.incomplete": "send the chat's id, or for a direct message the sender's id",
	"profile.invalid": "use at most 64 of a-z, 0-9, _ and -, starting with a letter or digit",
	"policy.invalid": "correct the session_reset section; docs/reference/configuration.md lists its keys",
	"override.invalid": "send an object with model, provider or base_url",
	"attachment.too_large": "send a smaller file, or raise http.attachment_limit_mb",
	"argument.invalid": "correct the value; the message says which field is wrong and what it can be",
	"config.unreadable": "check that the file exists and that you can read it",
	"config.syntax": "correct the YAML at that line and column",
	"config.invalid":
		"correct the keys named in the message; docs/reference/configuration.md lists all of them",
	"config.stale": "look at the settings again, then make your change",
	"script.invalid":
		"correct the field named in the message; docs/guides/testing.md shows what a script looks like",
	"output.failed": "check that the folder exists, that you can write to it, and that the disk has space",
	"input.unreadable": "check that the file exists and that you can read it, or use - to read stdin",
	"input.invalid": "use a JSON object, an array of them, or one object per line",
	"cli.inside": "run it in your own terminal, or answer in your chat or on the page",
	"usage.invalid": `run \`${KERYX} --help\` or \`${KERYX} <command> --help\` to see the options`,
	internal: "this is a bug in Keryx: run it again with KERYX_DEBUG=1 and report what it prints",
	"store.not_found": "check the id; things you have no access to are reported as not found, too",
	"store.owned": "stop the Keryx named in the message, or use it: commands reach it over its socket",
	"store.owner_lost":
		"stop this Keryx, which no longer writes anything; start it again when no other one is running",
	"store.replaced":
		"put the file back and Keryx continues, or restart Keryx: it then uses the files it finds",
	"store.full": "free up space on the disk with Keryx's home, then try again",
	"store.io": "check the disk with Keryx's home, then try again",
	"store.readonly": "make Keryx's home writable for this user, then try again",
	"store.unreachable": "check that the directory exists and that this user can use it",
	"store.locked": "stop the program that holds the lock, then try again",
	"store.corrupt": `restore a backup, or run \`${KERYX} doctor\``,
	"store.newer": "use the Keryx version that made this store, or a newer one",
	"store.older": "start Keryx once: it makes a copy and then upgrades the store",
	"store.conflict": "this is a bug in Keryx or in a program that uses its store: report it with the message",
	"store.sealed": "give Keryx the key this store was encrypted with",
	"store.exhausted": "try again",
	"store.failed": `run \`${KERYX} doctor\`; if it finds nothing, report this as a bug`,
	"store.closed": "open the store again",
	"store.url": "use sqlite:<path>, sqlite::memory: or postgres://<user>@<host>/<database>",
	"store.moving": `run the same \`${KERYX} store move\` again: it continues where it stopped`,
	"store.keys": "copy audit.key and pseudonym.key from the home of another gateway on the same store",
	"store.node_name":
		"give each gateway a name of its own: set node.name in its config.yaml, or KERYX_NODE_NAME",
	"store.refused":
		"correct the user, the password or the database in store.url, or ask the person who runs the server",
	"store.server": "use a PostgreSQL server of version 14 or newer, reached directly",
	"service.failed":
		"read what it printed; `keryx service install --print` shows the definition to install by hand",
	"update.refused": "nothing was changed; correct what the message names, then try again",
	"update.fetch": "check the connection to your npm registry, or give a package file: --to <file>",
	"update.under_way": `wait until it has ended; \`${KERYX} status\` says what runs`,
	"update.not_taken": "stop Keryx and run this again; nothing was changed",
	"update.undone": "Keryx runs as before; read what it printed, and report it with the message",
	"update.failed": `run \`${KERYX} doctor\``,
	"update.elsewhere": "update it the way it was installed",
	"backup.failed": "check the folder and the space on its disk, then try again",
	"backup.damaged": "use another backup; a copy of this one may be whole",
	"backup.passphrase": "give the passphrase this backup was made with, in a file: --passphrase-file <file>",
	"store.unsupported": "use a SQLite store for this",
	"workspace.unusable":
		"check that workspace.path is a directory this user can use, and that the disk has space",
	"channel.token_missing": `put the token into the variable or file named in the entry, or run \`${KERYX} channels add\` again`,
	"channel.token_exposed": "make the file readable only by its owner: chmod 600",
	"channel.module": "check that the package is installed in Keryx's home and exports createChannel",
	"channel.packages": `run \`${KERYX} channels install <platform>\`, with a connection to your npm registry`,
	"channel.refused": `check the token; \`${KERYX} channels test\` tries it again`,
	"home.unusable": "check that KERYX_HOME is a directory this user can write to",
	"http.no_route": "/openapi.json lists the calls",
	"http.too_large": "send less at once",
	"http.not_json": "send JSON with content-type: application/json",
	"http.unauthenticated": `send \`Authorization: Bearer <token>\`; \`${KERYX} token create\` makes a token`,
	"http.forbidden": `use a token whose role allows this; \`${KERYX} token create --role\` makes one`,
	"http.method": "use a method listed in the Allow header of the answer",
	"http.host": "use the address Keryx listens on, or set http.host",
	"http.origin": "call from Keryx's own page, or from a program that sends no Origin",
	"http.url_too_long": "put it into the body, or ask for less at once",
	"http.upgrade": "open it as a WebSocket",
	"http.rate": "wait as long as Retry-After says; the limit is http.rate_per_minute",
	"http.login": `run \`${KERYX} link\` on the machine where Keryx runs to get a new one`,
	"http.port": "choose another http.port, or stop the program that uses this one",
	"model.unreachable": "check the model's name, the API key and the network",
	"webhook.refused":
		"sign `<X-Keryx-Timestamp>.<route>.<body>` with the route's secret as HMAC-SHA256, and send it within five minutes",
	"webhook.replayed": "nothing to do; to send the same again, sign it with the current time",
	"model.unknown": "use a name listed by GET /v1/models",
	"gateway.stopped": "nothing was accepted; send it again when Keryx is running",
	"gateway.not_stopped": "wait a little longer; if it hangs, end the process: nothing is lost",
	"gateway.silent": `run \`${KERYX} doctor\`; if the process hangs, end it and start Keryx again: nothing it accepted is lost. --timeout <seconds> waits longer`,
	"audit.no_key": "open the store with its audit key: the file audit.key in Keryx's home",
	"audit.broken": `run \`${KERYX} confirm audit --verify\`, which names the first wrong entry; restore a backup`,
	"audit.sound": "nothing to do",
	"token.taken": "choose another name: the audit uses names to identify callers, so none is used twice",
	"pairing.wrong": `compare the code with the one the person was sent; \`${KERYX} pair list\` shows who has asked`,
	"pairing.locked": `wait as long as the message says, or approve by number: \`${KERYX} pair list\` shows it`,
	"pairing.over": "ask the person to write again, which gets them a new code",
	"schedule.invalid":
		"correct the field named in the message; docs/guides/schedules.md shows what jobs look like",
	"schedule.limit": "delete or pause a job you no longer need, or raise the limit named in the message",
	"schedule.role": "ask the owner, or make a job of your own",
	"schedule.busy": "wait until the run has ended, or stop it",
	"confirmation.settled": "read it again: it was decided, or it has expired",
	"confirmation.limited": "wait as long as the message says, then ask again",
	"confirmation.refused": "someone who is allowed to decide has to do this",
	"process.limit": "wait until one has ended, or kill one; the limit is processes.max_per_conversation",
	"process.unknown": "list the processes to see their ids",
	"process.taken": "use another id: none is used twice",
	"process.running": "stop it first, or wait until it has ended",
	"process.refused": "ask the owner, or someone with at least the role it was started for",
	"process.ended": "read its log and exit code, or start another one",
	"process.input_closed": "start it again: its input is closed",
	"process.input_full": "write less at once, and wait until the program reads",
	"process.no_pty": "start it without a terminal, or install the package for this platform",
	"process.host_gone": "connect again: the processes keep running, and their files show what happened",
	"process.host_silent":
		"check whether the process host is paused, and resume it with kill -CONT; Keryx keeps trying",
	"process.host_failed": "look at the process host's log, in the folder processes in Keryx's home",
	"process.host_version": "use the Keryx that started the host, or wait until its processes have ended",
	"process.failed": "check the disk with Keryx's home; the process host's log says more",
	"process.unreachable": "check the network, the address and the key by hand with ssh, then try again",
	"wall.path": "name existing folders by their real path, without links, where no command can replace them",
	"wall.unavailable": `run \`${KERYX} doctor\`: it says why no wall can be made here, and which command helps`,
	"turn.stale": "stop this turn: another one has taken over",
	"turn.rotates": "pass what the rotation needs and end the turn again",
	"delivery.stale": "read the delivery again: someone else has decided it",
	"message.unanswered": `run \`${KERYX} why\` with its number to see what happened`,
	"message.unfinished": "ask again with the same id: it is answered when Keryx runs again",
	"send.conflict": "use another id for another message, or the same text and target for the same one",
	"send.failed": `run \`${KERYX} outbox\` to see it, and to send it again`,
	"send.refused": "choose another target: origin, local, a platform, platform:chat or conversation:id",
	"session.none": "send a message first",
	"conversation.put_away": "restore the conversation first, or take it out of the archive",
	"session.continued": "use /new to undo this, or /resume for older sessions",
	"session.ended": "use the live session",
	"session.live": "wait until the session has ended",
	"transcript.changed": "read the transcript again",
	"checkpoint.disabled": "set checkpoints.enabled to true and restart Keryx",
	"checkpoint.consent": `the owner sends /checkpoint once in a chat that works there, or runs \`${KERYX} checkpoint\``,
	"checkpoint.missing": "/undo without --files undoes only the messages; /rollback lists the checkpoints",
	"checkpoint.no_git": "install git, or add it to the PATH that Keryx is started with",
	"checkpoint.refused": "use a separate folder as the workspace",
	"checkpoint.too_many_files":
		"list files that need not be saved in .gitignore, choose a smaller workspace, or raise checkpoints.max_files",
	"checkpoint.busy": "wait until the other one is finished, then try again",
	"checkpoint.failed": "check that the disk has space and that Keryx's home is writable, then try again",
	"import.invalid":
		"correct the line named in the message, or export again, then run the import again: it skips what is already there",
	"archive.failed":
		"check that the archive's directory is readable and writable and has space, then try again; nothing was deleted",
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
