// The line to Slack: connects, passes on events, acknowledges. An event is acknowledged only after the host has committed it; until then
// Slack redelivers. Only `stop` ends the line: it reconnects forever, and reports what is wrong.
import type { ChannelHealth, ChannelHost } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses } from "../pauses.ts";
import { Vitals } from "../vitals.ts";
import { Directory } from "./directory.ts";
import type { ChatLocation, EventContext, Happening } from "./events.ts";
import { Gap } from "./gap.ts";
import { Intake } from "./intake.ts";
import { askedPause, isTokenRefused, reasonOf } from "./outcome.ts";
import { isObject } from "./requests.ts";
import { type Envelope, Socket, type SocketEnd, SocketRefused } from "./socket.ts";
import type { Me } from "./source.ts";
import { connectedTimes, FORGED, troubleOf } from "./trouble.ts";
import type { Web } from "./web.ts";

/** After a shorter silence Slack's own retries bring missed events. */
const SHORT_GAP_MS = 30_000;
/** Before Slack moves the connection, running work is waited for this long. */
const SETTLE_MS = 1000;
/** The shortest time between two history reads caused by retries: each outage brings many. */
const SWEEP_MS = 60_000;
export interface Connection {
	readonly web: Web;
	readonly me: Me;
	readonly directory: Directory;
}

export interface LineOptions {
	readonly clock: Clock;
	readonly random: () => number;
	/** Between two checks of connection and token. */
	readonly pulseMs: number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Requests of one chat overtake each other by less than this. */
	readonly orderMs: number;
	/** Reads the tokens each time, so that changed ones are used. */
	readonly open: () => Promise<{
		readonly bot: Web;
		/** Opens connections. Null: Slack posts its events to the channel's address. */
		readonly app: Web | null;
	}>;
	readonly host: () => ChannelHost;
	readonly contextOf: (connection: Connection) => EventContext;
	/** Passes on the missed messages of every chat; resolves when done. */
	readonly catchUp: (connection: Connection, line: Line, gap: Gap) => Promise<void>;
	/** The same for one chat, in its lane. Never rejects. */
	readonly readChat: (location: ChatLocation, connection: Connection, line: Line, gap: Gap) => Promise<void>;
	readonly log: (message: string, error?: unknown) => void;
}

/** The source of events: a Socket Mode connection, or Slack's requests. */
type Link = Pick<Socket, "ended" | "giveUp" | "ping">;

export class Line {
	readonly #options: LineOptions;
	readonly #vitals: Vitals;
	readonly pauses: Pauses;
	readonly intake: Intake;
	#connection: Connection | null = null;
	readonly #sockets = new Set<Socket>();
	#counted = 0;
	/** This connection's running calls, which end with the line. */
	#webs: readonly Web[] = [];
	#link: Link | null = null;
	/** When the history was last read because of a retry (monotonic). */
	#sweptAt = Number.NEGATIVE_INFINITY;
	/** Someone posted without a valid signature, and nobody with one since. */
	#isForged = false;
	#running: Promise<void> = Promise.resolve();
	/** Missed messages are not all passed on yet: the cursor stays. */
	#gap: Gap | null = null;
	#catchingUp: Promise<void> = Promise.resolve();
	/** The cursor to store if there was none. */
	#first: string | null = null;

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "Slack" });
		this.pauses = new Pauses(options);
		this.intake = new Intake({
			...options,
			pauses: this.pauses,
			isStopping: () => this.isStopping,
			before: (location) => this.#readBefore(location),
			context: () => {
				const connection = this.#connection;
				return connection && (() => options.contextOf(connection));
			},
		});
	}

	/** While connected; otherwise senders wait. */
	get connection(): Connection | null {
		return this.#vitals.isConnected ? this.#connection : null;
	}

	get isStopping(): boolean {
		return this.#vitals.isStopped;
	}

	health(): ChannelHealth {
		const open = this.#sockets.size;
		return this.#vitals.health(open === 0 ? 0 : Math.max(this.#counted, open), this.#remark());
	}

	/** Resolves when it is running; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#vitals.start();
		this.#first = this.intake.marks.start(cursor, (this.#options.clock.now() / 1000).toFixed(6));
		this.#miss();
		this.#running = this.#run();
	}

	/** Passes on nothing more; running work is waited for, and Slack is told. */
	async stop(): Promise<void> {
		if (!this.isStopping) {
			this.#vitals.stop();
			this.pauses.wake();
			for (const web of this.#webs) web.abort();
			this.#link?.giveUp(new Error("stopped"));
			for (const socket of this.#sockets) socket.giveUp(new Error("stopped"));
		}
		await this.#running;
	}

	/** A call found the token refused: the line checks at once. */
	suspect(error: unknown): void {
		if (!isTokenRefused(error) || this.isStopping) return;
		this.#vitals.troubled(troubleOf(error));
		this.#link?.giveUp(error);
	}

	/** A request that Slack did not sign. */
	refused(): void {
		if (!this.#isForged) this.#options.log(FORGED);
		this.#isForged = true;
	}

	/** A post from Slack. Resolves when committed; false if not: Slack must resend it. */
	post(happening: Happening, isRetry: boolean): Promise<boolean> {
		if (this.isStopping || !this.#connection || this.intake.isFull) return Promise.resolve(false);
		this.#isForged = false;
		this.#vitals.proven("event");
		// Slack could not reach Keryx before: what it gave up on is in the history.
		if (isRetry && this.#mayHaveMissed(happening)) {
			this.#sweptAt = this.#options.clock.monotonic();
			this.#miss();
			this.#catchUp(this.#connection);
		}
		return this.intake.post(happening);
	}

	/** At the very first start: the cursor to store; otherwise null. */
	get first(): string | null {
		return this.#first;
	}

	/** The first cursor is stored. */
	keptFirst(): void {
		this.#first = null;
	}

	async #run(): Promise<void> {
		let failures = 0;
		while (!this.isStopping) {
			const began = this.#options.clock.monotonic();
			let trouble: unknown;
			try {
				const end = await this.#connected();
				trouble =
					end.kind === "refresh" ? undefined : end.kind === "lost" ? end.error : new SocketRefused(end);
			} catch (error) {
				trouble = error;
			}
			if (this.isStopping) break;
			const lived = this.#options.clock.monotonic() - began;
			if (lived > this.#options.longestPauseMs) failures = 0;
			if (trouble !== undefined) this.#vitals.troubled(troubleOf(trouble));
			else if (lived > 1000) continue;
			await this.pauses.afterFailures(failures++, askedPause(trouble) ?? 0);
		}
		await this.#catchingUp;
		await this.intake.lanes.idle();
		await this.#closeAll();
		this.#connection = null;
	}

	/** One connection from its beginning to its end. */
	async #connected(): Promise<SocketEnd> {
		const { clock, pulseMs } = this.#options;
		// Slack gives each event to one of the connections: one left open would take events and lose them.
		await this.#closeAll();
		const link = await this.#connect();
		this.#link = link;
		if (this.isStopping) return { kind: "lost", error: new Error("stopped") };
		let cancel = () => {};
		const pulse = () => {
			if (this.#vitals.quietMs > pulseMs * 3) return link.giveUp(new Error("Slack does not answer pings"));
			link.ping();
			this.#connection?.web.call("auth.test").then(
				() => link instanceof Socket || this.#vitals.proven("auth.test answered"),
				// If Slack posts its events, nothing else shows that it cannot be reached.
				(error: unknown) => (link instanceof Socket ? this.suspect(error) : link.giveUp(error)),
			);
			cancel = clock.after(pulseMs, pulse);
		};
		cancel = clock.after(pulseMs, pulse);
		const end = await link.ended;
		cancel();
		if (end.kind === "refresh") await Promise.race([this.intake.lanes.idle(), this.pauses.sleep(SETTLE_MS)]);
		return end;
	}

	async #connect(): Promise<Link> {
		const { clock } = this.#options;
		const { bot, app } = await this.#options.open();
		this.#webs = app ? [bot, app] : [bot];
		if (this.isStopping) throw new Error("stopped");
		const me = meOf(await bot.call<Record<string, string>>("auth.test"));
		const url = app && (await app.call<{ url?: string }>("apps.connections.open")).url;
		if (url === undefined) throw new Error("Slack gave no address for the connection");
		const before = this.#connection;
		const isSame = before?.me.userId === me.userId && before.me.teamId === me.teamId;
		const connection = { web: bot, me, directory: new Directory(bot, clock) };
		// Before the first event: it must not move the cursor past missed messages.
		if (this.#vitals.missedMs > SHORT_GAP_MS) this.#miss();
		this.#connection = isSame ? { ...connection, directory: before.directory.on(bot) } : connection;
		const link = url === null ? postbox() : await this.#openSocket(url);
		if (this.isStopping) return link;
		if (url === null) this.#vitals.proven("auth.test answered");
		this.#vitals.connected();
		this.#catchUp(this.#connection);
		return link;
	}

	async #openSocket(url: string): Promise<Socket> {
		const { clock, log } = this.#options;
		const socket = await Socket.open(
			url,
			{
				clock,
				onAlive: (by) => this.#vitals.proven(by),
				onEnvelope: (envelope, from) => this.#hear(envelope, from),
			},
			(opened) => this.#sockets.add(opened),
		);
		this.#counted = socket.connections;
		if (this.#counted > 1) log(connectedTimes(this.#counted));
		return socket;
	}

	/** An event whose first delivery failed; not one in progress, or one only acknowledged too late. */
	#mayHaveMissed(happening: Happening): boolean {
		const isRecent = this.#options.clock.monotonic() - this.#sweptAt < SWEEP_MS;
		return !isRecent && !this.intake.knows(happening);
	}

	#miss(): void {
		this.#gap = new Gap();
		this.intake.marks.hold();
	}

	/** A chat's first event since a gap waits for its history, however many chats are read before it. */
	async #readBefore(location: ChatLocation): Promise<void> {
		const gap = this.#gap;
		const connection = this.#connection;
		if (!gap || !connection || this.#first !== null || this.isStopping) return;
		if (!gap.isTried(location.chat)) await this.#options.readChat(location, connection, this, gap);
	}

	/** Runs next to the events. One at a time, repeated until done. */
	#catchUp(connection: Connection): void {
		this.#catchingUp = this.#catchingUp.then(async () => {
			for (let failures = 0; !this.isStopping && this.#gap; failures++)
				try {
					const gap = this.#gap;
					await this.#options.catchUp(this.#connection ?? connection, this, gap);
					// There may have been another one meanwhile.
					if (this.isStopping || this.#gap !== gap) continue;
					this.#gap = null;
					this.intake.marks.release();
				} catch (error) {
					if (this.isStopping) return;
					if (failures === 0) this.#options.log(`missed messages have not been read yet: ${reasonOf(error)}`);
					await this.pauses.afterFailures(failures);
				}
		});
	}

	#hear({ envelope_id: id, type, payload }: Envelope, socket: Socket): void {
		// Something that nobody understands is not asked for again.
		if (!isObject(payload) || (type === "events_api" && !isObject(payload.event)))
			return void socket.acknowledge(id);
		const acknowledge = (isCommitted: boolean) => {
			if (isCommitted) socket.acknowledge(id);
		};
		if (type === "events_api" || type === "interactive" || type === "slash_commands")
			this.intake.take({ kind: type, payload }, acknowledge);
		else acknowledge(true);
	}

	async #closeAll(): Promise<void> {
		for (const socket of this.#sockets) {
			await socket.close();
			this.#sockets.delete(socket);
		}
	}

	#remark(): string | undefined {
		if (!this.#vitals.isConnected) return undefined;
		if (this.#isForged) return FORGED;
		return this.#counted > 1 ? connectedTimes(this.#counted) : undefined;
	}
}

/** Slack posts: there is nothing to open, and only Slack's answers to lose. */
function postbox(): Link {
	let giveUp: Link["giveUp"] = () => {};
	const ended = new Promise<SocketEnd>((resolve) => {
		giveUp = (error) => resolve({ kind: "lost", error });
	});
	return { ended, giveUp: (error) => giveUp(error), ping: () => {} };
}

function meOf(answer: Readonly<Record<string, string>>): Me {
	const {
		user_id: userId = "",
		bot_id: botId = "",
		user: name = "",
		team_id: teamId = "",
		team = "",
	} = answer;
	return { userId, botId, name, teamId, team };
}
