// The line to Slack: connects, hands in, acknowledges. An event is acknowledged only when the host has committed it; until then Slack
// delivers it again. Nothing ends the line but `stop`: it comes back for ever, and says meanwhile what is wrong.
import { KeryxError } from "../../errors.ts";
import type { ChannelHealth, ChannelHost } from "../../gateway/index.ts";
import type { Clock } from "../../time/index.ts";
import { Lanes } from "../lanes.ts";
import { Directory } from "./directory.ts";
import { chatOf, type EventContext, eventOf, type Happening, handIn, messageOf } from "./events.ts";
import { Marks } from "./marks.ts";
import { askedPause, isTokenRefused, reasonOf, wordOf } from "./outcome.ts";
import { type Envelope, Socket, type SocketEnd, SocketRefused } from "./socket.ts";
import type { Me } from "./source.ts";
import type { Web } from "./web.ts";

/** What cannot be read so often is passed over, or nothing would come after it in its chat. */
const STUMBLES = 3;
/** After a shorter silence Slack's own retries bring what was missed. */
const SHORT_GAP_MS = 30_000;
/** Before Slack moves the connection, what is under way is waited for so long. */
const SETTLE_MS = 1000;
/** Messages that history brought: their events, which come too, are acknowledged alone. */
const REMEMBERED = 10_000;
/** The shortest time between two readings of the history because of retries: each outage brings many. */
const SWEEP_MS = 60_000;
/** So many wait to be committed; what Slack posts beyond that it must send again. */
const MOST_PENDING = 2000;

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

/** Something that only a human can change, or that passes. */
interface Trouble {
	readonly state: "degraded" | "needs_attention";
	readonly detail: string;
}

interface Pending {
	/** Told whether it was committed. */
	readonly settle: ((isCommitted: boolean) => void)[];
}

interface Arrival {
	readonly happening: Happening;
	readonly settle: (isCommitted: boolean) => void;
}

/** What events come by: a connection of Socket Mode, or Slack's requests. */
type Link = Pick<Socket, "ended" | "giveUp" | "ping">;

export class Line {
	readonly #options: LineOptions;
	readonly lanes = new Lanes();
	readonly marks = new Marks();
	#state: ChannelHealth["state"] = "stopped";
	#detail: string | undefined;
	#aliveAt: number | null = null;
	#provenBy = "hello";
	/** When Slack was last heard, by the monotonic clock. */
	#alive = 0;
	#connection: Connection | null = null;
	readonly #sockets = new Set<Socket>();
	#counted = 0;
	/** Of this connection: what they have under way ends with the line. */
	#webs: readonly Web[] = [];
	/** Under way, by the id of the event: one that comes again meanwhile is the same. */
	readonly #pending = new Map<string | object, Pending>();
	readonly #live = new Remembered();
	readonly #fromHistory = new Remembered();
	/** What was committed. A message that comes again is known to the store (I4); anything else is acknowledged alone. */
	readonly #done = new Remembered();
	/** Posted a moment ago, by chat: Slack posts side by side, so that one may overtake another. */
	readonly #arrivals = new Map<string, Arrival[]>();
	#link: Link | null = null;
	/** When the history was last read because of a retry, by the monotonic clock. */
	#sweptAt = Number.NEGATIVE_INFINITY;
	/** Somebody posted here without the right signature, and nobody with it since. */
	#isForged = false;
	#running: Promise<void> = Promise.resolve();
	readonly #sleepers = new Set<() => void>();
	/** What was missed in it is not all handed in yet: the cursor stays where it is. */
	#gap: Gap | null = null;
	#catchingUp: Promise<void> = Promise.resolve();
	/** The cursor to keep where there was none. */
	#first: string | null = null;

	constructor(options: LineOptions) {
		this.#options = options;
	}

	/** While it is connected; else whoever wants to send waits. */
	get connection(): Connection | null {
		return this.#state === "connected" ? this.#connection : null;
	}

	get isStopping(): boolean {
		return this.#state === "stopped";
	}

	health(): ChannelHealth {
		const { clock, aliveMs } = this.#options;
		const isSilent =
			(this.#state === "connected" || this.#state === "degraded") &&
			clock.monotonic() - this.#alive > aliveMs;
		const detail = this.#detail ?? (isSilent ? "Slack does not answer" : this.#remark());
		return {
			state: isSilent ? "down" : this.#state,
			aliveAt: this.#aliveAt,
			...(this.#aliveAt !== null && { provenBy: this.#provenBy }),
			...(detail !== undefined && { detail }),
			connections: this.#sockets.size === 0 ? 0 : Math.max(this.#counted, this.#sockets.size),
		};
	}

	/** Resolves when it is under way; it connects by itself, now or later. */
	async start(cursor: string | null): Promise<void> {
		await this.#running;
		if (this.#state !== "stopped") return;
		this.#state = "starting";
		this.#detail = undefined;
		this.#alive = this.#options.clock.monotonic();
		this.#first = this.marks.start(cursor, (this.#options.clock.now() / 1000).toFixed(6));
		this.#miss();
		this.#running = this.#run();
	}

	/** Hands in nothing more; what has been handed in is waited for, and Slack is told of it. */
	async stop(): Promise<void> {
		if (this.#state !== "stopped") {
			this.#state = "stopped";
			this.#detail = undefined;
			for (const wake of [...this.#sleepers]) wake();
			for (const web of this.#webs) web.abort();
			this.#link?.giveUp(new Error("stopped"));
			for (const socket of this.#sockets) socket.giveUp(new Error("stopped"));
		}
		await this.#running;
	}

	/** A call found the token refused: the line looks at once. */
	suspect(error: unknown): void {
		if (!isTokenRefused(error) || this.isStopping) return;
		this.#troubled(error);
		this.#link?.giveUp(error);
	}

	/** A request that Slack did not sign. */
	refused(): void {
		if (!this.#isForged) this.#options.log(FORGED);
		this.#isForged = true;
	}

	/** Something that Slack posted. Resolves when it is committed; false where it is not: Slack must send it again. */
	post(happening: Happening, isRetry: boolean): Promise<boolean> {
		if (this.isStopping || !this.#connection || this.#pending.size >= MOST_PENDING)
			return Promise.resolve(false);
		this.#isForged = false;
		this.#proven("event");
		// Slack could not reach Keryx before: what it gave up by now is in the history.
		if (isRetry && this.#mayHaveMissed(happening)) {
			this.#sweptAt = this.#options.clock.monotonic();
			this.#miss();
			this.#catchUp(this.#connection);
		}
		return new Promise((resolve) => {
			if (happening.kind !== "events_api") return this.#take(happening, resolve);
			const chat = chatOf(happening);
			const arrived = this.#arrivals.get(chat) ?? [];
			arrived.push({ happening, settle: resolve });
			if (arrived.length > 1) return;
			this.#arrivals.set(chat, arrived);
			void this.sleep(this.#options.orderMs).then(() => {
				this.#arrivals.delete(chat);
				for (const one of inOrder(arrived)) this.#take(one.happening, one.settle);
			});
		});
	}

	/** At the very first start: the cursor to keep; null at any other. */
	takeFirst(): string | null {
		const first = this.#first;
		this.#first = null;
		return first;
	}

	/** Ends early when the line stops. */
	sleep(ms: number): Promise<void> {
		return new Promise((resolve) => {
			const wake = () => {
				cancel();
				this.#sleepers.delete(wake);
				resolve();
			};
			const cancel = this.#options.clock.after(ms, wake);
			this.#sleepers.add(wake);
		});
	}

	/** Longer after each failure. */
	pause(failures: number): Promise<void> {
		return this.sleep(this.#pauseMs(failures));
	}

	/** Whether a message that history shows was handed in before, as an event or from the history. */
	wasTaken(chat: string, ts: string): boolean {
		const key = `${chat}/${ts}`;
		return this.#live.has(key) || this.#fromHistory.has(key);
	}

	tookFromHistory(chat: string, ts: string): void {
		this.#fromHistory.add(`${chat}/${ts}`);
	}

	/** Repeats until it is committed, or the line stops. What can never be taken is passed over. */
	async commit(what: string, work: () => Promise<void>): Promise<"done" | "passed over" | "stopped"> {
		for (let failures = 0; !this.isStopping; failures++)
			try {
				await work();
				return "done";
			} catch (error) {
				if (this.isStopping) break;
				if (isHopeless(error, failures)) {
					this.#options.log(`${what} cannot be processed`, error);
					return "passed over";
				}
				if (failures === 0) this.#options.log(`${what} cannot be processed yet: ${reasonOf(error)}`);
				await this.pause(failures);
			}
		return "stopped";
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
			if (trouble !== undefined) this.#troubled(trouble);
			else if (lived > 1000) continue;
			await this.sleep(Math.max(askedPause(trouble) ?? 0, this.#pauseMs(failures++)));
		}
		await this.#catchingUp;
		this.lanes.letGo();
		await this.lanes.idle();
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
			if (clock.monotonic() - this.#alive > pulseMs * 3)
				return link.giveUp(new Error("Slack does not answer pings"));
			link.ping();
			this.#connection?.web.call("auth.test").then(
				() => link instanceof Socket || this.#proven("auth.test answered"),
				// Nothing else shows that Slack is not reached where it posts its events.
				(error: unknown) => (link instanceof Socket ? this.suspect(error) : link.giveUp(error)),
			);
			cancel = clock.after(pulseMs, pulse);
		};
		cancel = clock.after(pulseMs, pulse);
		const end = await link.ended;
		cancel();
		if (end.kind === "refresh") await Promise.race([this.lanes.idle(), this.sleep(SETTLE_MS)]);
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
		if (this.#silentMs() > SHORT_GAP_MS) this.#miss();
		this.#connection = isSame ? { ...connection, directory: before.directory.on(bot) } : connection;
		const link = url === null ? postbox() : await this.#openSocket(url);
		if (this.isStopping) return link;
		if (url === null) this.#proven("auth.test answered");
		this.#state = "connected";
		this.#detail = undefined;
		this.#catchUp(this.#connection);
		return link;
	}

	async #openSocket(url: string): Promise<Socket> {
		const { clock, log } = this.#options;
		const socket = await Socket.open(
			url,
			{
				clock,
				onAlive: (by) => this.#proven(by),
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
		const key = keyOf(happening);
		if (this.#options.clock.monotonic() - this.#sweptAt < SWEEP_MS) return false;
		return key === null || !(this.#pending.has(key) || this.#done.has(key));
	}

	/** While the machine sleeps, the monotonic clock may stand still. */
	#silentMs(): number {
		const { clock } = this.#options;
		if (this.#aliveAt === null) return Number.POSITIVE_INFINITY;
		return Math.max(clock.monotonic() - this.#alive, clock.now() - this.#aliveAt);
	}

	#miss(): void {
		this.#gap = { through: new Set() };
		this.marks.hold();
		this.lanes.hold();
	}

	/** Runs beside the events; those of a chat wait for its history. One at a time, again until it is through. */
	#catchUp(connection: Connection): void {
		this.#catchingUp = this.#catchingUp.then(async () => {
			for (let failures = 0; !this.isStopping && this.#gap; failures++)
				try {
					const gap = this.#gap;
					this.lanes.hold();
					await this.#options.catchUp(this.#connection ?? connection, this, gap);
					// There may have been another one meanwhile.
					if (this.isStopping || this.#gap !== gap) continue;
					this.#gap = null;
					this.marks.release();
				} catch (error) {
					if (this.isStopping) return;
					if (failures === 0) this.#options.log(`missed messages have not been read yet: ${reasonOf(error)}`);
					await this.pause(failures);
				}
		});
	}

	#hear({ envelope_id: id, type, payload }: Envelope, socket: Socket): void {
		const acknowledge = (isCommitted: boolean) => {
			if (isCommitted) socket.acknowledge(id);
		};
		if (type === "events_api" || type === "interactive" || type === "slash_commands")
			this.#take({ kind: type, payload }, acknowledge);
		else acknowledge(true);
	}

	#take(happening: Happening, settle: (isCommitted: boolean) => void): void {
		const key = keyOf(happening) ?? {};
		const pending = this.#pending.get(key);
		if (pending) {
			pending.settle.push(settle);
			return;
		}
		if (typeof key === "string" && this.#done.has(key) && !messageOf(happening)) {
			settle(true);
			return;
		}
		const entry: Pending = { settle: [settle] };
		this.#pending.set(key, entry);
		const holder = {};
		const ts = messageOf(happening)?.ts ?? eventOf(happening).event_ts;
		if (ts !== undefined) this.marks.begin(holder, ts);
		void this.lanes.run(chatOf(happening), async () => {
			const tell = (isCommitted: boolean) => {
				if (isCommitted && typeof key === "string") this.#done.add(key);
				this.#pending.delete(key);
				for (const settle of entry.settle.splice(0)) settle(isCommitted);
			};
			await this.#handIn(happening, ts, holder, () => tell(true));
			tell(false);
		});
	}

	async #handIn(
		happening: Happening,
		ts: string | undefined,
		holder: object,
		committed: () => void,
	): Promise<void> {
		const connection = this.#connection;
		const chat = chatOf(happening);
		const message = messageOf(happening);
		let after: (() => Promise<void>) | undefined;
		let cursor: string | undefined;
		if (!connection || this.isStopping) return;
		const isKnown = message?.ts !== undefined && this.#fromHistory.has(`${chat}/${message.ts}`);
		const outcome = isKnown
			? "done"
			: await this.commit("an event", async () => {
					cursor = ts === undefined ? undefined : this.marks.cursorOf(holder, ts);
					after = await handIn(happening, cursor, this.#options.contextOf(connection));
				});
		if (outcome === "stopped") return;
		this.marks.end(holder, outcome === "done" ? cursor : undefined);
		if (message?.ts !== undefined) this.#live.add(`${chat}/${message.ts}`);
		committed();
		// What the button did is done; a sentence that comes too late is lost alone.
		await after?.().catch((error: unknown) =>
			this.#options.log("a button press was not answered", reasonOf(error)),
		);
	}

	async #closeAll(): Promise<void> {
		for (const socket of this.#sockets) {
			await socket.close();
			this.#sockets.delete(socket);
		}
	}

	#proven(by: string): void {
		const { clock } = this.#options;
		this.#aliveAt = clock.now();
		this.#alive = clock.monotonic();
		this.#provenBy = by;
	}

	#remark(): string | undefined {
		if (this.#state !== "connected") return undefined;
		if (this.#isForged) return FORGED;
		return this.#counted > 1 ? connectedTimes(this.#counted) : undefined;
	}

	#troubled(error: unknown): void {
		const { state, detail } = troubleOf(error);
		if (this.#detail !== detail) this.#options.log(detail);
		this.#state = state;
		this.#detail = detail;
	}

	/** Longer each time, with chance in it, so that many channels do not come back at once. */
	#pauseMs(failures: number): number {
		const { random, firstPauseMs, longestPauseMs } = this.#options;
		const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 20));
		return most * (0.5 + random() / 2);
	}
}

/** The newest of many. */
class Remembered {
	readonly #keys = new Set<string>();

	add(key: string): void {
		this.#keys.add(key);
		const [oldest] = this.#keys;
		if (this.#keys.size > REMEMBERED && oldest !== undefined) this.#keys.delete(oldest);
	}

	has(key: string): boolean {
		return this.#keys.has(key);
	}
}

const HOPELESS: ReadonlySet<string> = new Set(["source.invalid", "address.incomplete", "profile.invalid"]);

/** What no address can be made of is the same at every try; so is, most likely, what fails for another reason than the store's trouble. */
function isHopeless(error: unknown, failures: number): boolean {
	if (error instanceof KeryxError && HOPELESS.has(error.code)) return true;
	if (error instanceof KeryxError ? mayPass(error) : !(error instanceof TypeError)) return false;
	return failures + 1 >= STUMBLES;
}

/** The store is in trouble, or Keryx stops: later the same is taken. */
function mayPass({ code }: KeryxError): boolean {
	return /^(?:store|gateway)\./.test(code) && code !== "store.conflict" && code !== "store.not_found";
}

/** What Slack calls it, the same however often it is delivered; null where it has no name. */
function keyOf({ payload }: Happening): string | null {
	const { event_id: event, trigger_id: trigger } = payload;
	if (typeof event === "string") return event;
	return typeof trigger === "string" ? trigger : null;
}

/** As they happened in their chat. */
function inOrder(arrivals: readonly Arrival[]): readonly Arrival[] {
	const at = ({ happening }: Arrival) => {
		const { event_ts: changed, ts } = eventOf(happening);
		return Number(changed ?? ts ?? 0);
	};
	return arrivals.toSorted((a, b) => at(a) - at(b));
}

/** Slack posts: there is nothing to open, and nothing to lose but Slack's answers. */
function postbox(): Link {
	let giveUp: Link["giveUp"] = () => {};
	const ended = new Promise<SocketEnd>((resolve) => {
		giveUp = (error) => resolve({ kind: "lost", error });
	});
	return { ended, giveUp: (error) => giveUp(error), ping: () => {} };
}

const FORGED =
	"a request came without the right signature: if Slack sent it, put the signing secret of the app (Basic Information at api.slack.com/apps) in the place of the old one";

function connectedTimes(count: number): string {
	return `${count} programs are connected to this app, and Slack sends each event to only one of them: stop the others`;
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

function troubleOf(error: unknown): Trouble {
	if (error instanceof KeryxError) return attention(`${error.message}: ${error.hint}`);
	if (error instanceof SocketRefused) {
		if (error.end === "disabled")
			return attention("Socket Mode is off for the app: turn it on at api.slack.com/apps, under Socket Mode");
		if (error.end === "too many") return attention(TOO_MANY);
	}
	const word = wordOf(error);
	if (word === "not_allowed_token_type")
		return attention(
			"wrong kind of token: token_env or token_file must hold the bot token (xoxb-), app_token_env or app_token_file the app-level token (xapp-)",
		);
	if (word === "missing_scope")
		return attention(
			"the app-level token is not allowed to connect: create one with the scope connections:write at api.slack.com/apps, under Basic Information",
		);
	if (word === "too_many_websockets") return attention(TOO_MANY);
	if (isTokenRefused(error))
		return attention(
			`Slack does not accept the app's token (${word}): install the app again at api.slack.com/apps, under Install App, and replace the old token; Keryx checks again automatically`,
		);
	return { state: "degraded", detail: `Slack cannot be reached: ${reasonOf(error)}` };
}

const TOO_MANY =
	"ten programs are connected to this app, which is Slack's limit: stop the others, or give each its own app";

function attention(detail: string): Trouble {
	return { state: "needs_attention", detail };
}
