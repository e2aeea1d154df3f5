// The connection to an account's server: logs in, continues the session that was cut off or begins a new one, joins the rooms, and hands
// over what is heard. A new session reads what was missed from the archives before anything new is committed.
import { randomBytes } from "node:crypto";
import type { ChannelHealth, ChannelHost } from "../../gateway/index.ts";
import { Line } from "../line.ts";
import { Archive } from "./archive.ts";
import { Attendance } from "./attendance.ts";
import { CatchUp, IGNORED } from "./catch-up.ts";
import { idPrefix } from "./compose.ts";
import { findUploads, infoOf, type Uploads } from "./files.ts";
import { Followers } from "./followers.ts";
import { Hearing } from "./hearing.ts";
import { Intake } from "./intake.ts";
import { Known } from "./known.ts";
import { carbonOf, readMessage, stanzaId } from "./message.ts";
import { serverAddress, type XmppOptions } from "./options.ts";
import { type Room, Rooms } from "./rooms.ts";
import { Sending } from "./sending.ts";
import { type Jid, parseJid } from "./stream/jid.ts";
import type { Management } from "./stream/management.ts";
import { NS } from "./stream/namespaces.ts";
import { Session, StanzaError } from "./stream/session.ts";
import { child, type Element, element } from "./stream/xml.ts";

/** Higher than other programs of the account, which would otherwise get the messages. */
const PRIORITY = "100";
const RESOURCE = "keryx";

export class XmppClient {
	readonly options: XmppOptions;
	readonly own: Jid;
	/** Prefix of our own messages' ids. */
	readonly prefix: string;
	readonly sending = new Sending();
	readonly catchUp: CatchUp;
	readonly #line: Line<Session>;
	readonly #intake: Intake;
	readonly #hearing: Hearing;
	readonly #attendance: Attendance;
	readonly #archive = new Archive();
	/** Identifies this run of the channel: its counters are unique only together with it. */
	readonly #life: string;
	rooms: Rooms;
	uploads: Uploads | null = null;
	hasArchive = false;
	#commands: ReadonlySet<string> = new Set();
	#previous: Management | null = null;
	#connections = 0;
	#messages = 0;
	/** The id of the stanza being read; null: the server will not repeat it. */
	#heardAs: string | null = null;
	/** Archives that this session is still reading; if it is cut off meanwhile, it is not continued. */
	#reading = { left: 0 };
	#arrived: () => void = () => {};
	readonly #waiting = new Set<() => unknown>();
	readonly #followers = new Followers();

	constructor(options: XmppOptions) {
		const { clock, random = Math.random, aliveMs = 60_000, jid, name } = options;
		const own = parseJid(jid);
		if (!own || own.local === "") throw new Error(`${jid} is not the address of an account`);
		this.options = options;
		this.own = own;
		this.prefix = idPrefix(own.bare);
		this.#life = `${clock.now().toString(36)}${Math.floor(random() * 36 ** 4).toString(36)}`;
		this.rooms = new Rooms([], options.nick, own);
		const log = (message: string, error?: unknown) => options.log(`${name}: ${message}`, error);
		this.#intake = new Intake({ clock, log, pause: (isPaused) => this.#line.session?.pause(isPaused) });
		this.#hearing = new Hearing({
			options,
			own,
			prefix: this.prefix,
			known: new Known(),
			rooms: () => this.rooms,
			commands: () => this.#commands,
			recall: (chat) => this.#recall(chat),
			newId: () => this.#heardAs ?? `${this.#life}-${++this.#messages}`,
			isStopping: () => this.#intake.host === null,
			letIn: (person) => this.#followers.letIn(person, this.session),
		});
		this.#attendance = new Attendance({
			rooms: () => this.rooms,
			rejoinMs: options.rejoinMs,
			joined: (room, session) => void this.#joined(room, session),
			removed: (room, reason) => this.#removed(room, reason),
		});
		this.catchUp = new CatchUp({
			clock,
			log,
			archive: this.#archive,
			intake: this.#intake,
			hearing: this.#hearing,
			rooms: () => this.rooms,
			own: own.bare,
		});
		this.#line = new Line({
			clock,
			random,
			aliveMs,
			firstPauseMs: options.firstPauseMs ?? 1000,
			longestPauseMs: options.longestPauseMs ?? 5 * 60_000,
			log,
			remarks: () => this.#remarks(),
			open: () => this.#open(),
			untrustedRemedy: "check xmpp.jid and xmpp.server, or name the server's own authority in xmpp.ca_file",
		});
	}

	/** While it runs. */
	get host(): ChannelHost | undefined {
		return this.#intake.host ?? undefined;
	}

	/** While connected. */
	get session(): Session | null {
		return this.#line.session;
	}

	/** The next connection on which it is known whether the chat has an archive; null: not in time. */
	async connectedFor(chat: string, ms: number): Promise<Session | null> {
		const { clock } = this.options;
		const isKnown = () => this.session !== null && this.rooms.get(chat)?.hasArchive !== undefined;
		const isDone = () => (this.rooms.get(chat) ? isKnown() : this.session !== null);
		if (isDone() || this.#line.isStopped) return this.session;
		return new Promise((resolve) => {
			const end = () => {
				cancel();
				this.#waiting.delete(look);
				resolve(this.session);
			};
			const look = () => (isDone() || this.#line.isStopped) && end();
			const cancel = clock.after(ms, end);
			this.#waiting.add(look);
		});
	}

	health(): ChannelHealth {
		return this.#line.health();
	}

	async start(host: ChannelHost): Promise<void> {
		await this.#intake.start(host);
		this.#commands = new Set(host.commands().map(({ name }) => name));
		await this.#line.start();
	}

	/** Everything committed is acknowledged to the server. */
	async stop(): Promise<void> {
		await this.#intake.stop();
		this.#previous = null;
		await this.#line.stop();
		this.sending.unknown("Keryx stopped before the server answered");
		for (const look of [...this.#waiting]) look();
	}

	/** A unique name for one attempt. */
	uniqueName(): string {
		return `${this.#life}${++this.#messages}`;
	}

	async #open(): Promise<Session> {
		const { options, own } = this;
		const { clock, aliveMs = 60_000 } = options;
		const { password, roomPasswords } = await options.secrets();
		const previous = this.#previous;
		this.#previous = null;
		if (!previous)
			this.rooms = new Rooms(
				options.join.map((jid) => {
					const key = roomPasswords.get(jid);
					return { jid, ...(key !== undefined && { password: key }) };
				}),
				options.nick,
				own,
			);
		const session = new Session({
			clock,
			address: await serverAddress(options, own.domain, this.#connections++),
			aliveMs,
			id: `${this.#life}-${this.#connections}`,
			previous,
			login: {
				domain: own.domain,
				user: own.local,
				password,
				resource: RESOURCE,
				requiresTls: options.server.tls === "starttls",
				nonce: randomBytes(18).toString("hex"),
			},
			bound: (bound, formerlyHandled) => void this.#bound(bound, formerlyHandled),
			resumed: (resumed, handled) => this.#resumed(resumed, handled),
			stanza: (stanza, done, from) => this.#heard(stanza, done, from),
			acked: (handled) => this.sending.handled(handled),
			alive: () => this.#line.alive("the server answered"),
		});
		void session.ended.then(() => this.#ended(session, previous));
		return session;
	}

	/** The session can continue if all archives were read, or if this connection never began to read them. */
	#ended(session: Session, previous: Management | null): void {
		const kept = session.jid === "" ? previous : this.#reading.left === 0 ? session.management : null;
		this.#previous = kept?.id !== undefined && kept.id !== null && !this.#line.isStopped ? kept : null;
		if (!this.#previous) this.sending.unknown("the connection was lost before the server answered");
	}

	#ready(session: Session): void {
		session.isReady = true;
		this.#line.ready();
		for (const look of [...this.#waiting]) look();
		this.#attendance.stay(session);
	}

	#resumed(session: Session, handled: number): void {
		this.sending.continued(handled);
		this.#ready(session);
		for (const room of this.rooms.all()) if (room.state.kind === "out") this.#attendance.join(room, session);
	}

	async #bound(session: Session, formerlyHandled: number | undefined): Promise<void> {
		if (formerlyHandled === undefined)
			this.sending.unknown("the session was lost before the server answered");
		else this.sending.continued(formerlyHandled);
		this.rooms.reset();
		this.#intake.forget();
		const reading = { left: 1 };
		this.#reading = reading;
		const letGo = this.#intake.hold();
		let unread: string | undefined;
		try {
			const account = await infoOf(session, this.own.bare);
			this.hasArchive = account?.features.has(NS.archive) ?? false;
			// Carbon copies, so that messages to other programs of the account arrive here too.
			await session.request("set", undefined, element("enable", NS.carbons)).catch(ifRefused);
			this.uploads = await findUploads(session, this.own.domain).catch(ifRefused);
			if (this.hasArchive) await this.catchUp.begin(session, "");
			const arrived = new Promise<void>((resolve) => {
				this.#arrived = resolve;
			});
			session.write(element("presence", NS.client, {}, element("priority", NS.client, {}, PRIORITY)));
			await Promise.race([arrived, session.ended]);
			if (!session.isOpen) return;
			this.#ready(session);
			for (const room of this.rooms.all()) this.#attendance.join(room, session);
			if (this.hasArchive) await this.catchUp.read(session, "");
			reading.left--;
		} catch (error) {
			if (this.#isSkipped(error, session)) reading.left--;
			else unread = "";
		} finally {
			letGo(unread);
		}
	}

	/** True if the archive refused: Keryx works without it. Otherwise the next connection reads everything again. */
	#isSkipped(error: unknown, session: Session): boolean {
		const { log, name } = this.options;
		if (error instanceof StanzaError)
			log(
				`${name}: an archive could not be read, so messages sent while Keryx was away may be missing`,
				error,
			);
		else session.destroy((error as Error).message);
		return error instanceof StanzaError;
	}

	#heard(stanza: Element, done: () => void, session: Session): void {
		this.#heardAs = session.heardAs;
		if (stanza.name === "message") this.#message(stanza, done, session);
		else {
			this.#presence(stanza, session);
			done();
		}
	}

	#presence(presence: Element, session: Session): void {
		const { from, type } = presence.attrs;
		const jid = parseJid(from);
		if (!jid) return;
		const room = this.rooms.get(jid.bare);
		if (room) this.#attendance.heard(this.rooms.heard(room, jid.resource, presence), session);
		else if (from === session.jid && type === undefined) this.#arrived();
		else if (type === "subscribe") this.#followers.asked(jid.bare, session);
	}

	#removed(room: Room, reason: string): void {
		const source = this.#hearing.sourceOf(room.jid, null);
		this.#intake.take({
			chat: room.jid,
			message: "removed",
			write: (host) => host.gone({ source, reason }),
			done: () => {},
		});
	}

	async #joined(room: Room, session: Session): Promise<void> {
		const reading = this.#reading;
		reading.left++;
		const letGo = this.#intake.hold();
		let unread: string | undefined;
		try {
			const info = await infoOf(session, room.jid);
			room.name = info?.name || undefined;
			room.showsAddresses = info?.features.has("muc_nonanonymous") ?? false;
			room.hasArchive = info?.features.has(NS.archive) ?? false;
			for (const look of [...this.#waiting]) look();
			if (room.hasArchive) await this.catchUp.read(session, room.jid);
			reading.left--;
		} catch (error) {
			if (this.#isSkipped(error, session)) reading.left--;
			else unread = room.jid;
		} finally {
			letGo(unread);
		}
	}

	#message(message: Element, done: () => void, session: Session): void {
		if (this.#archive.heard(message, done, this.own.bare)) return;
		const copy = carbonOf(message, this.own.bare);
		const inner = copy === "sent" || copy === null ? message : copy;
		const from = parseJid(inner.attrs.from);
		const room = this.rooms.get(from?.bare ?? "");
		const { type = "normal" } = inner.attrs;
		// Messages from other programs of this account are not questions.
		if (copy === "sent" || !from || from.bare === this.own.bare) done();
		else if (type === "error") this.#failed(inner, from, room, session, done);
		else if (room && type === "groupchat") this.#inRoom(inner, from, room, done);
		else if (room) this.#privately(inner, session, done);
		else if (type === "groupchat" || IGNORED.has(type)) done();
		else this.#take(inner, done);
	}

	#failed(message: Element, from: Jid, room: Room | undefined, session: Session, done: () => void): void {
		const error = new StanzaError(message);
		this.sending.refused(message.attrs.id ?? "", from.bare, error);
		if (room?.state.kind === "in" && error.condition === "not-acceptable")
			this.#attendance.join(room, session);
		done();
	}

	#inRoom(message: Element, from: Jid, room: Room, done: () => void): void {
		const subject = child(message, "subject");
		const read = readMessage(message);
		if (subject && !child(message, "body")) {
			room.topic = read.subject || undefined;
			done();
		} else if (from.resource === "") done();
		else if (this.#hearing.isOwn(message, room, false)) {
			this.#hearing.ownMessage(room.jid, read, stanzaId(message, room.jid));
			this.sending.arrived(read.id);
			done();
		} else this.#take(message, done);
	}

	/** A nick in a room may be someone else's tomorrow: an answer must not go there. */
	#privately(message: Element, session: Session, done: () => void): void {
		const { from, id } = message.attrs;
		if (child(message, "body"))
			session.write(
				element(
					"message",
					NS.client,
					{ to: from, type: "error", id },
					element(
						"error",
						NS.client,
						{ type: "cancel" },
						element("not-acceptable", NS.stanzas),
						element("text", NS.stanzas, {}, `Write to ${this.own.bare} instead.`),
					),
				),
			);
		done();
	}

	#take(message: Element, done: () => void): void {
		const work = this.#hearing.work(message, { done });
		if (work) this.#intake.take(work);
		else done();
	}

	async #recall(chat: string): Promise<void> {
		const { session } = this;
		const room = this.rooms.get(chat);
		const hasArchive = room ? room.hasArchive : this.hasArchive;
		if (!session || !hasArchive) return;
		try {
			await this.catchUp.recall(session, chat);
		} catch (error) {
			this.options.log(`${this.options.name}: the archive of ${chat} could not be read`, error);
		}
	}

	*#remarks(): Generator<string> {
		const { session } = this;
		if (!session) return;
		yield* this.rooms.problems();
		if (!this.hasArchive)
			yield "the server keeps no archive for the account: messages sent while Keryx is away may be lost";
		for (const { jid, state, hasArchive } of this.rooms.all())
			if (state.kind === "in" && hasArchive === false)
				yield `${jid} keeps no archive: what is said there while Keryx is away is lost`;
		if (!session.management) yield "the server continues no sessions after a cut connection";
	}
}

/** The server does not support it. */
function ifRefused(error: unknown): null {
	if (error instanceof StanzaError) return null;
	throw error;
}
