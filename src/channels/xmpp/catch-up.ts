// Reads messages from while Keryx was away, and older ones for corrections and look-ups.
import type { Clock } from "../../time/index.ts";
import type { Archive, Archived } from "./archive.ts";
import type { Hearing } from "./hearing.ts";
import type { Intake, Work } from "./intake.ts";
import { readMessage } from "./message.ts";
import type { Rooms } from "./rooms.ts";
import { parseJid } from "./stream/jid.ts";
import { type Session, StanzaError } from "./stream/session.ts";

/** How far back a message is looked for, in pages. */
const MOST_PAGES = 10;
/** The clocks of the server and of this machine may differ. */
const SKEW_MS = 10 * 60_000;

export interface CatchUpOptions {
	readonly clock: Clock;
	readonly log: (message: string, error?: unknown) => void;
	readonly archive: Archive;
	readonly intake: Intake;
	readonly hearing: Hearing;
	readonly rooms: () => Rooms;
	/** Our own address, without the resource. */
	readonly own: string;
}

export class CatchUp {
	readonly #options: CatchUpOptions;

	constructor(options: CatchUpOptions) {
		this.#options = options;
	}

	/**
	 * The first connection: from here on nothing is missed. Stored before anyone can write. Sent at every login: servers then leave out
	 * the offline messages meant for clients without an archive.
	 */
	async begin(session: Session, archive: string): Promise<void> {
		const { archive: reader, intake, clock } = this.#options;
		const { last, found } = await reader.page(session, { of: archive || undefined, before: "", max: 1 });
		for (const { done } of found) done();
		if (!intake.positions.get(archive)) await intake.begin(archive, { id: last, at: clock.now() });
	}

	/** Resolves when everything that the archive has is committed. Rejects if the connection is lost. */
	async read(session: Session, archive: string): Promise<void> {
		const { archive: reader, intake, log, clock } = this.#options;
		if (!intake.positions.get(archive)) await this.begin(session, archive);
		const of = archive || undefined;
		let start: number | undefined;
		for (let isLast = false; !isLast && intake.host; ) {
			const position = intake.positions.get(archive) ?? { id: "", at: clock.now() };
			try {
				const page = await reader.page(
					session,
					start === undefined ? { of, after: position.id } : { of, start },
				);
				start = undefined;
				await intake.takeMissed(await this.#unknown(page.found.flatMap((one) => this.#workOf(one, archive))));
				// Keryx stopped: the next start reads it.
				if (!intake.host) return;
				const at = page.found.at(-1)?.at ?? Number.NaN;
				if (page.last !== "")
					intake.positions.set(archive, { id: page.last, at: Number.isNaN(at) ? clock.now() : at });
				({ isLast } = page);
			} catch (error) {
				if (!(error instanceof StanzaError) || error.condition !== "item-not-found" || start !== undefined)
					throw error;
				log(
					`the archive of ${archive || "the account"} has forgotten where Keryx was, so it is read by time`,
				);
				start = position.at;
			}
		}
	}

	/** Without those that were committed when they arrived live. */
	async #unknown(works: readonly Work[]): Promise<Work[]> {
		const { intake } = this.#options;
		const known = new Set<Work>();
		for (const [chat, of] of Map.groupBy(works, (work) => work.chat)) {
			const ids = await intake.known(
				chat,
				of.map(({ message }) => message),
			);
			for (const work of of) if (ids.has(work.message)) known.add(work);
		}
		for (const { done } of known) done();
		return works.filter((work) => !known.has(work));
	}

	/** Makes the newest messages of a chat known. */
	async recall(session: Session, chat: string): Promise<void> {
		const { archive: reader } = this.#options;
		const { found } = await reader.page(session, { ...this.#whereIs(chat), before: "", max: 100 });
		for (const one of found) {
			one.done();
			this.#note(one, chat);
		}
	}

	/** Whether one of our messages is in the archive of its chat; null: unknown. */
	async has(session: Session, chat: string, id: string, madeAt: number | undefined): Promise<boolean | null> {
		const { archive: reader } = this.#options;
		let before = "";
		for (let pages = 0; pages < MOST_PAGES; pages++) {
			const start = madeAt === undefined ? undefined : madeAt - SKEW_MS;
			const page = await reader.page(session, { ...this.#whereIs(chat), before, start });
			for (const one of page.found) one.done();
			if (
				page.found.some(
					({ message }) => this.#isOurs(message.attrs.from, chat) && readMessage(message).id === id,
				)
			)
				return true;
			if (page.isLast) return false;
			before = page.first;
		}
		return null;
	}

	#whereIs(chat: string): { readonly of?: string; readonly with?: string } {
		return this.#options.rooms().get(chat) ? { of: chat } : { with: chat };
	}

	/** Only our nick in the room, or our own address, proves it is ours; anyone can write the id. */
	#isOurs(from: string | undefined, chat: string): boolean {
		const jid = parseJid(from);
		const room = this.#options.rooms().get(chat);
		return room ? jid?.bare === chat : jid?.bare === this.#options.own;
	}

	#workOf(archived: Archived, archive: string): Work[] {
		const { hearing, rooms, own } = this.#options;
		const { message, done } = archived;
		const room = rooms().get(archive);
		const from = parseJid(message.attrs.from);
		const isOwn = room ? hearing.isOwn(message, room, true) : from?.bare === own;
		const belongs = room ? from?.bare === archive : message.attrs.type !== "groupchat";
		if (isOwn) this.#note(archived, room ? archive : (parseJid(message.attrs.to)?.bare ?? ""));
		// A private message through a room does not count as the person's.
		const isPersonal = room !== undefined || rooms().get(from?.bare ?? "") === undefined;
		const isMessage = !isOwn && belongs && isPersonal && !IGNORED.has(message.attrs.type ?? "");
		const work = isMessage ? hearing.work(message, { archived, done }) : null;
		if (!work) done();
		return work ? [work] : [];
	}

	#note({ message, id }: Archived, chat: string): void {
		const { hearing, rooms, own } = this.#options;
		const room = rooms().get(chat);
		const isOwn = room ? hearing.isOwn(message, room, true) : parseJid(message.attrs.from)?.bare === own;
		if (isOwn) hearing.ownMessage(chat, readMessage(message), id);
		else hearing.note(message, id);
	}
}

export const IGNORED: ReadonlySet<string> = new Set(["error", "headline"]);
