// The line to the mailbox: one connection after another, forever. New mails are read in the order of their UIDs, each after the one before
// it was committed. Between them the connection waits with IDLE, which is renewed often enough to prove that the server is there; a server
// without IDLE is polled.
import type { ImapFlow } from "imapflow";
import type { ChannelHealth, ChannelHost } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses } from "../pauses.ts";
import { Stumbles } from "../stumbles.ts";
import { Vitals } from "../vitals.ts";
import { after, type Cursor, formatCursor, parseCursor } from "./cursor.ts";
import { closeImap, LONGEST_MAIL, type Login, openImap } from "./imap.ts";
import type { Intake, Received } from "./intake.ts";
import type { Libraries } from "./libraries.ts";
import { readMail } from "./mail.ts";
import type { EmailOptions } from "./options.ts";
import { trySmtp } from "./smtp.ts";
import { ServiceError, troubleOf } from "./trouble.ts";

/** Some servers drop an IDLE after half an hour, and some networks a silent connection after minutes. */
const LONGEST_IDLE_MS = 9 * 60_000;
/** A person must change something first: asking more often could get Keryx locked out. */
const ATTENTION_MS = 60_000;

export interface Connection {
	readonly libraries: Libraries;
	readonly imap: Login;
	readonly smtp: Login;
}

export interface LineOptions
	extends Pick<EmailOptions, "imap" | "smtp" | "address" | "login" | "password" | "load"> {
	readonly clock: Clock;
	readonly random: () => number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	readonly log: (message: string, error?: unknown) => void;
	readonly intake: (host: ChannelHost) => Intake;
	/** The connection is over. */
	readonly lost: () => void;
	/** How many other connections are open. */
	readonly connections: () => number;
}

export class Line {
	readonly #options: LineOptions;
	readonly #vitals: Vitals;
	readonly #pauses: Pauses;
	readonly #stumbles = new Stumbles();
	#host: ChannelHost | null = null;
	#client: ImapFlow | null = null;
	#connection: Connection | null = null;
	#running: Promise<void> = Promise.resolve();
	/** Ends the current wait. */
	#wake: () => void = () => {};

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "The mail server" });
		this.#pauses = new Pauses(options);
	}

	/** While connected; otherwise senders wait. */
	get connection(): Connection | null {
		return this.#vitals.isConnected ? this.#connection : null;
	}

	/** Also while the mails that came before are read. */
	get opened(): Connection | null {
		return this.#client?.usable ? this.#connection : null;
	}

	get isStopping(): boolean {
		return this.#vitals.isStopped;
	}

	health(): ChannelHealth {
		return this.#vitals.health((this.#client?.usable ? 1 : 0) + this.#options.connections());
	}

	async start(host: ChannelHost): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#host = host;
		this.#vitals.start();
		this.#running = this.#run(host);
	}

	async stop(): Promise<void> {
		this.#vitals.stop();
		this.#wake();
		this.#pauses.wake();
		await this.#running;
		this.#host = null;
	}

	/** The SMTP server refused the login: reconnects, and reads the password again. */
	refused(error: ServiceError): void {
		const { imap, smtp } = this.#options;
		if (this.isStopping) return;
		this.#vitals.troubled(troubleOf(error, { imap, smtp }));
		this.#client?.close();
	}

	async #run(host: ChannelHost): Promise<void> {
		const { imap, smtp, longestPauseMs } = this.#options;
		const intake = this.#options.intake(host);
		let failures = 0;
		while (!this.isStopping) {
			try {
				await this.#open();
				failures = 0;
				await this.#read(intake, host);
			} catch (error) {
				if (!this.isStopping) this.#vitals.troubled(troubleOf(error, { imap, smtp }));
			}
			await this.#close();
			if (this.isStopping) return;
			this.#vitals.lost();
			const isStuck = this.#vitals.health(0).state === "needs_attention";
			await (isStuck
				? this.#pauses.sleep(Math.min(ATTENTION_MS, 2 * longestPauseMs))
				: this.#pauses.afterFailures(failures++));
		}
	}

	async #open(): Promise<void> {
		const { imap, smtp, address, login: user = address, password: secret, load, clock } = this.#options;
		const libraries = await load();
		const password = await secret();
		const connection = {
			libraries,
			imap: { server: imap, user, password },
			smtp: { server: smtp, user, password },
		};
		this.#connection = connection;
		this.#client = await openImap(libraries, connection.imap);
		if (this.isStopping) return;
		await trySmtp(libraries, connection.smtp, clock);
		this.#vitals.proven("the login was accepted");
	}

	async #close(): Promise<void> {
		const client = this.#client;
		this.#client = null;
		this.#connection = null;
		this.#options.lost();
		if (client) await closeImap(client, (ms, callback) => this.#options.clock.after(ms, callback));
	}

	/** Reads and waits until the connection is lost or the line stops. */
	async #read(intake: Intake, host: ChannelHost): Promise<void> {
		const client = this.#client;
		if (!client || this.isStopping) return;
		try {
			// Read only: what a person has not seen stays unseen.
			const { uidValidity, uidNext } = await client.mailboxOpen("INBOX", { readOnly: true });
			let cursor = await this.#begin(client, host, String(uidValidity), uidNext);
			for (;;) {
				cursor = await this.#readNew(client, intake, cursor);
				if (this.isStopping) return;
				this.#vitals.connected();
				await this.#wait(client);
				if (this.isStopping) return;
				mustBeOpen(client);
			}
		} catch (error) {
			throw error instanceof Unwritten ? error.cause : new ServiceError("imap", error);
		}
	}

	async #begin(client: ImapFlow, host: ChannelHost, validity: string, uidNext: number): Promise<Cursor> {
		const { log } = this.#options;
		const known = parseCursor(await this.#written(() => host.cursor()));
		if (known?.validity === validity) return known;
		if (known) {
			log(
				"the server has numbered its mails anew: all of them are read again, and those taken before are passed over",
			);
			return { ...known, validity, uid: 0, again: uidNext - 1 };
		}
		// The first start: what is in the mailbox already was not written to Keryx.
		const newest = uidNext > 1 ? await client.fetchOne("*", { internalDate: true }) : false;
		if (!newest) mustBeOpen(client);
		const begun = newest ? new Date(newest.internalDate ?? 0).getTime() : 0;
		const cursor = { validity, uid: uidNext - 1, begun, newest: begun, again: 0 };
		await this.#written(() => host.passed(formatCursor(cursor)));
		return cursor;
	}

	async #readNew(client: ImapFlow, intake: Intake, from: Cursor): Promise<Cursor> {
		let cursor = from;
		const rows = await client.fetchAll(
			`${cursor.uid + 1}:*`,
			{ uid: true, size: true, internalDate: true },
			{ uid: true },
		);
		// `*` also means the last one where there is no newer one.
		const fresh = rows.filter(({ uid }) => uid > from.uid).toSorted((a, b) => a.uid - b.uid);
		for (const { uid, size = 0, internalDate } of fresh) {
			if (this.isStopping) return cursor;
			const receivedAt = new Date(internalDate ?? this.#options.clock.now()).getTime();
			const isWhole = size <= LONGEST_MAIL;
			const row = await client.fetchOne(String(uid), isWhole ? { source: true } : { headers: true }, {
				uid: true,
			});
			if (!row) mustBeOpen(client);
			const source = row ? (row.source ?? row.headers) : undefined;
			this.#vitals.proven("a mail was read");
			cursor = await this.#take(intake, { source, uid, receivedAt, isWhole }, cursor);
		}
		return cursor;
	}

	/** Retries until the mail is committed, or cannot ever be. */
	async #take(
		intake: Intake,
		row: {
			readonly source: Buffer | undefined;
			readonly uid: number;
			readonly receivedAt: number;
			readonly isWhole: boolean;
		},
		cursor: Cursor,
	): Promise<Cursor> {
		const { log } = this.#options;
		const { source, uid, receivedAt } = row;
		const event = String(uid);
		const pass = async (why: string, error?: unknown): Promise<Cursor> => {
			const next = after(cursor, uid, receivedAt);
			log(`mail ${uid} was passed over: ${why}`, error);
			await this.#written(() => this.#hosted().passed(formatCursor(next)));
			this.#stumbles.forget(event);
			return next;
		};
		// It was deleted in the meantime.
		if (!source) return pass("it is no longer there");
		let received: Received;
		try {
			const mail = await readMail(source, this.#libraries());
			const tooLarge = row.isWhole
				? {}
				: { tooLarge: "the mail is too large: its text and its files were not read" };
			received = { mail, uid, receivedAt, ...tooLarge };
		} catch (error) {
			return pass("it cannot be read", error);
		}
		for (let failures = 0; ; failures++) {
			try {
				const next = await intake.take(received, cursor);
				this.#stumbles.forget(event);
				return next;
			} catch (error) {
				// Looking up an earlier mail needs the server.
				if (error instanceof ServiceError) throw error;
				if (this.#stumbles.isHopeless(event, error)) return pass("it cannot be taken", error);
				log(`mail ${uid} could not be stored yet`, error);
				if (this.isStopping) throw new Unwritten(error);
				await this.#pauses.afterFailures(failures);
				if (this.isStopping) throw new Unwritten(error);
			}
		}
	}

	/** Waits for new mail, or until the next sign of life is due. */
	async #wait(client: ImapFlow): Promise<void> {
		const { clock, aliveMs } = this.#options;
		const hasIdle = client.capabilities.has("IDLE");
		const idle = hasIdle ? client.idle().catch(() => false) : Promise.resolve();
		await new Promise<void>((resolve) => {
			const done = () => {
				cancel();
				client.off("exists", done).off("close", done);
				resolve();
			};
			const cancel = clock.after(Math.min(LONGEST_IDLE_MS, aliveMs / 3), done);
			client.on("exists", done).on("close", done);
			this.#wake = done;
			if (!client.usable || this.isStopping) done();
		});
		if (this.isStopping || !client.usable) return;
		// Ends the IDLE; a server that has gone silent does not answer.
		const cancel = clock.after(aliveMs / 2, () => client.close());
		try {
			await client.noop();
			await idle;
		} finally {
			cancel();
		}
		if (client.usable) this.#vitals.proven(hasIdle ? "IDLE renewed" : "poll answered");
	}

	/** A failing store is no reason to reconnect: retries until it works. */
	async #written<Value>(write: () => Promise<Value>): Promise<Value> {
		for (let failures = 0; ; failures++) {
			try {
				return await write();
			} catch (error) {
				this.#options.log("the store cannot be used yet", error);
				if (this.isStopping) throw new Unwritten(error);
				await this.#pauses.afterFailures(failures);
			}
		}
	}

	#hosted(): ChannelHost {
		if (!this.#host) throw new Error("the channel is stopped");
		return this.#host;
	}

	#libraries(): Libraries {
		if (!this.#connection) throw new Error("not connected");
		return this.#connection.libraries;
	}
}

/** On a lost connection the library returns empty results. */
function mustBeOpen(client: ImapFlow): void {
	if (!client.usable) throw new Error("the connection was lost");
}

/** Keryx stops before it was committed: it is read again at the next start. */
class Unwritten extends Error {
	constructor(cause: unknown) {
		super("not written", { cause });
	}
}
