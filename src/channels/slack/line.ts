// The line to Slack: connects, hands in, acknowledges. An event is acknowledged only when the host has committed it; until then Slack
// delivers it again. Nothing ends the line but `stop`: it comes back for ever, and says meanwhile what is wrong.
import type { ChannelHealth, ChannelHost } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Pauses } from "../pauses.ts";
import { Vitals } from "../vitals.ts";
import { Directory } from "./directory.ts";
import type { EventContext, Happening } from "./events.ts";
import { Intake } from "./intake.ts";
import { askedPause, isTokenRefused, reasonOf } from "./outcome.ts";
import { type Envelope, Socket, type SocketEnd, SocketRefused } from "./socket.ts";
import type { Me } from "./source.ts";
import { connectedTimes, FORGED, troubleOf } from "./trouble.ts";
import type { Web } from "./web.ts";

/** After a shorter silence Slack's own retries bring what was missed. */
const SHORT_GAP_MS = 30_000;
/** Before Slack moves the connection, what is under way is waited for so long. */
const SETTLE_MS = 1000;
/** The shortest time between two readings of the history because of retries: each outage brings many. */
const SWEEP_MS = 60_000;
export interface Connection {
	readonly web: Web;
	readonly me: Me;
	readonly directory: Directory;
}

export interface LineOptions {
	readonly clock: Clock;
	readonly random: () => number;
	/** Between two signs that the connection and the token are good. */
	readonly pulseMs: number;
	readonly aliveMs: number;
	readonly firstPauseMs: number;
	readonly longestPauseMs: number;
	/** Requests of one chat overtake each other on the way by less than this. */
	readonly orderMs: number;
	/** Reads the tokens anew each time, so that changed ones are used. */
	readonly open: () => Promise<{
		readonly bot: Web;
		/** Opens connections. Null: Slack posts its events to the channel's address. */
		readonly app: Web | null;
	}>;
	readonly host: () => ChannelHost;
	readonly contextOf: (connection: Connection) => EventContext;
	/** Hands in what was missed, through `take`; resolves when everything was. */
	readonly catchUp: (connection: Connection, line: Line, gap: Gap) => Promise<void>;
	readonly log: (message: string, error?: unknown) => void;
}

/** A time in which nobody listened. */
export interface Gap {
	/** Chats whose history was read since. */
	readonly through: Set<string>;
}

/** What events come by: a connection of Socket Mode, or Slack's requests. */
type Link = Pick<Socket, "ended" | "giveUp" | "ping">;

export class Line {
	readonly #options: LineOptions;
	readonly #vitals: Vitals;
	readonly pauses: Pauses;
	readonly intake: Intake;
	#connection: Connection | null = null;
	readonly #sockets = new Set<Socket>();
	#counted = 0;
	/** Of this connection: what they have under way ends with the line. */
	#webs: readonly Web[] = [];
	#link: Link | null = null;
	/** When the history was last read because of a retry, by the monotonic clock. */
	#sweptAt = Number.NEGATIVE_INFINITY;
	/** Somebody posted here without the right signature, and nobody with it since. */
	#isForged = false;
	#running: Promise<void> = Promise.resolve();
	/** What was missed in it is not all handed in yet: the cursor stays where it is. */
	#gap: Gap | null = null;
	#catchingUp: Promise<void> = Promise.resolve();
	/** The cursor to keep where there was none. */
	#first: string | null = null;

	constructor(options: LineOptions) {
		this.#options = options;
		this.#vitals = new Vitals({ ...options, platform: "Slack" });
		this.pauses = new Pauses(options);
		this.intake = new Intake({
			...options,
			pauses: this.pauses,
			isStopping: () => this.isStopping,
			context: () => {
				const connection = this.#connection;
				return connection && (() => options.contextOf(connection));
			},
		});
	}

	/** While it is connected; else whoever wants to send waits. */
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

	/** Resolves when it is under way; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (!this.isStopping) return;
		this.#vitals.start();
		this.#first = this.intake.marks.start(cursor, (this.#options.clock.now() / 1000).toFixed(6));
		this.#miss();
		this.#running = this.#run();
	}

	/** Hands in nothing more; what has been handed in is waited for, and Slack is told of it. */
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

	/** A call found the token refused: the line looks at once. */
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

	/** Something that Slack posted. Resolves when it is committed; false where it is not: Slack must send it again. */
	post(happening: Happening, isRetry: boolean): Promise<boolean> {
		if (this.isStopping || !this.#connection || this.intake.isFull) return Promise.resolve(false);
		this.#isForged = false;
		this.#vitals.proven("event");
		// Slack could not reach Keryx before: what it gave up by now is in the history.
		if (isRetry && this.#mayHaveMissed(happening)) {
			this.#sweptAt = this.#options.clock.monotonic();
			this.#miss();
			this.#catchUp(this.#connection);
		}
		return this.intake.post(happening);
	}

	/** At the very first start: the cursor to keep; null at any other. */
	takeFirst(): string | null {
		const first = this.#first;
		this.#first = null;
		return first;
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
		this.intake.lanes.letGo();
		await this.intake.lanes.idle();
		await this.#closeAll();
		this.#connection = null;
	}

	/** One connection from its beginning to its end. */
	async #connected(): Promise<SocketEnd> {
		const { clock, pulseMs } = this.#options;
		// Slack hands each event to one of the connections: one that was left open would take events and lose them.
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
				// Nothing else shows that Slack is not reached where it posts its events.
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
		// Before the first event can come: it must not move the cursor past what was missed.
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

	/** An event whose first delivery failed; not one that Keryx has in hand, or that was only answered too late. */
	#mayHaveMissed(happening: Happening): boolean {
		const isRecent = this.#options.clock.monotonic() - this.#sweptAt < SWEEP_MS;
		return !isRecent && !this.intake.knows(happening);
	}

	#miss(): void {
		this.#gap = { through: new Set() };
		this.intake.marks.hold();
		this.intake.lanes.hold();
	}

	/** Runs beside the events; those of a chat wait for its history. One at a time, again until it is through. */
	#catchUp(connection: Connection): void {
		this.#catchingUp = this.#catchingUp.then(async () => {
			for (let failures = 0; !this.isStopping && this.#gap; failures++)
				try {
					const gap = this.#gap;
					this.intake.lanes.hold();
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

/** Slack posts: there is nothing to open, and nothing to lose but Slack's answers. */
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
