// The second connection to the IMAP server: looks up earlier mails, and keeps the copies of sent ones. It is opened when it is needed and
// closed when it is not.
//
// A copy is put into Sent before its mail is sent, marked as a draft, and the mark is taken off when the server has taken the mail. So a
// mail without a copy was certainly never begun, one with a clean copy was certainly taken, and one with a marked copy is unknown (I7).
import type { ImapFlow } from "imapflow";
import type { Clock } from "../../time/index.ts";
import { hopsOf } from "./automatic.ts";
import { closeImap, type Login, openImap } from "./imap.ts";
import type { Libraries } from "./libraries.ts";
import { type Mail, readMail } from "./mail.ts";
import type { EmailOptions } from "./options.ts";
import { ServiceError } from "./trouble.ts";

const IDLE_MS = 60_000;
const DRAFT = "\\Draft";
/** Such an id can be searched for as it is. */
const SEARCHABLE = /^[\x21-\x7e]{1,900}$/;

/** An earlier mail, as far as an answer to it needs it. */
export type Head = Pick<Mail, "id" | "references" | "subject" | "from" | "to" | "cc"> & {
	readonly hops: number;
};

export function headOf(mail: Mail): Head {
	const { id, references, subject, from, to, cc } = mail;
	return { id, references, subject, from, to, cc, hops: hopsOf(mail) };
}

export interface DeskOptions extends Pick<EmailOptions, "sentFolder"> {
	readonly clock: Clock;
	/** Whether a received mail's sender is proven. Anyone can send a mail with any id. */
	readonly isTrusted: (mail: Mail) => boolean;
	/** Of the current connection; throws if there is none. */
	readonly login: () => { readonly libraries: Libraries; readonly login: Login };
}

export class Desk {
	readonly #options: DeskOptions;
	#client: ImapFlow | null = null;
	#sent: string | null = null;
	#tail: Promise<unknown> = Promise.resolve();
	#cancel = () => {};

	constructor(options: DeskOptions) {
		this.#options = options;
	}

	get connections(): number {
		return this.#client?.usable ? 1 : 0;
	}

	/** The mail with this id, received or sent, and the first of several; null: there is none. */
	find(id: string): Promise<Head | null> {
		if (!SEARCHABLE.test(id)) return Promise.resolve(null);
		return this.#work(async (client, libraries) => {
			for (const folder of ["INBOX", await this.#sentFolder(client)]) {
				const head = await this.#read(
					client,
					libraries,
					folder,
					(candidates) => candidates.find((one) => one.id === id),
					{ header: { "message-id": id } },
				);
				if (head) return head;
			}
			return null;
		});
	}

	/** The thread's first mail in the mailbox: later mails could only claim to belong to the thread. */
	firstOf(root: string): Promise<Head | null> {
		if (!SEARCHABLE.test(root)) return Promise.resolve(null);
		return this.#work(async (client, libraries) => {
			const isOf = (one: Head) => one.id === root || one.references[0] === root;
			const query: Parameters<ImapFlow["search"]>[0] = {
				or: [{ header: { "message-id": root } }, { header: { references: root } }],
			};
			return (
				(await this.#read(client, libraries, "INBOX", (candidates) => candidates.find(isOf), query)) ??
				(await this.#read(
					client,
					libraries,
					await this.#sentFolder(client),
					(candidates) => candidates.find(isOf),
					query,
				))
			);
		});
	}

	/** A copy marked as a draft; answers its UID. */
	draft(mail: Buffer): Promise<number> {
		return this.#work(async (client) => {
			const path = await this.#sentFolder(client);
			// Its flags are those of the selected folder.
			const lock = await client.getMailboxLock(path);
			try {
				const made = await client.append(path, mail, ["\\Seen", DRAFT]);
				if (!made || made.uid === undefined)
					throw new Error("the server did not say where it put the copy in Sent");
				return made.uid;
			} finally {
				lock.release();
			}
		});
	}

	/** The mail of this copy was taken by the server. */
	async settle(uid: number): Promise<void> {
		await this.#inSent((client) => client.messageFlagsRemove(String(uid), [DRAFT], { uid: true }));
	}

	/** The mail of this copy was certainly not sent. */
	async discard(uid: number): Promise<void> {
		await this.#inSent((client) => client.messageDelete(String(uid), { uid: true }));
	}

	/** What the copy says about a mail. */
	async copyOf(id: string): Promise<"clean" | "marked" | "none"> {
		return this.#inSent(async (client) => {
			const found = await searched(client, { header: { "message-id": id } });
			if (found.length === 0) return "none";
			const flags = await client.fetchAll(found, { flags: true }, { uid: true });
			return flags.some((one) => !one.flags?.has(DRAFT)) ? "clean" : "marked";
		});
	}

	/** Resolves when nothing is open any more. */
	async close(): Promise<void> {
		await this.#tail.catch(() => {});
		this.#cancel();
		const client = this.#client;
		this.#client = null;
		if (client) await closeImap(client, (ms, callback) => this.#options.clock.after(ms, callback));
	}

	/** Ends what is under way: the line was lost. */
	abort(): void {
		this.#client?.close();
	}

	#inSent<Value>(job: (client: ImapFlow) => Promise<Value>): Promise<Value> {
		return this.#work(async (client) => {
			const lock = await client.getMailboxLock(await this.#sentFolder(client));
			try {
				return await job(client);
			} finally {
				lock.release();
			}
		});
	}

	/** Oldest first. */
	async #read(
		client: ImapFlow,
		libraries: Libraries,
		folder: string,
		choose: (candidates: readonly Head[]) => Head | undefined,
		query: Parameters<ImapFlow["search"]>[0],
	): Promise<Head | null> {
		const lock = await client.getMailboxLock(folder, { readOnly: true });
		try {
			const found = (await searched(client, query)).toSorted((a, b) => a - b).slice(0, 20);
			if (found.length === 0) return null;
			const rows = await client.fetchAll(found, { uid: true, headers: true }, { uid: true });
			const heads: Head[] = [];
			for (const { headers } of rows.toSorted((a, b) => a.uid - b.uid)) {
				const mail = headers ? await readMail(headers, libraries) : null;
				if (mail && (folder !== "INBOX" || this.#options.isTrusted(mail))) heads.push(headOf(mail));
			}
			return choose(heads) ?? null;
		} finally {
			lock.release();
		}
	}

	/** The one that the settings or the server name; made if there is none. */
	async #sentFolder(client: ImapFlow): Promise<string> {
		if (this.#sent !== null) return this.#sent;
		const { sentFolder } = this.#options;
		const folders = await client.list();
		const marked = folders.find(({ specialUse }) => specialUse === "\\Sent");
		const path = sentFolder ?? marked?.path ?? "Sent";
		if (!folders.some((one) => one.path === path)) await client.mailboxCreate(path);
		this.#sent = path;
		return path;
	}

	/** One job after another. Rejects with `ServiceError`. */
	#work<Value>(job: (client: ImapFlow, libraries: Libraries) => Promise<Value>): Promise<Value> {
		const done = this.#tail.then(async () => {
			this.#cancel();
			try {
				const { libraries, login } = this.#options.login();
				if (!this.#client?.usable) this.#client = await openImap(libraries, login);
				const value = await job(this.#client, libraries);
				// On a lost connection the library returns empty results.
				if (!this.#client?.usable) throw new Error("the connection was lost");
				return value;
			} catch (error) {
				// Its state is unknown: the next job opens a new connection.
				this.#client?.close();
				this.#client = null;
				throw error instanceof ServiceError ? error : new ServiceError("imap", error);
			} finally {
				this.#cancel = this.#options.clock.after(IDLE_MS, () => void this.close());
			}
		});
		this.#tail = done.catch(() => {});
		return done;
	}
}

/** The library answers false if the server refused, or could not be asked: that is not "none". */
async function searched(client: ImapFlow, query: Parameters<ImapFlow["search"]>[0]): Promise<number[]> {
	const found = await client.search(query, { uid: true });
	if (!found) throw new Error("the server could not be searched");
	return found;
}
