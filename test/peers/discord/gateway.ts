// Discord's gateway: sessions that outlive their connections, with everything that happened since, so that they can be resumed.
import type { WebSocket } from "ws";
import { type BotAccount, CONTENT_FLAG, type Happened, INTENT, userJson, type World } from "./world.ts";

const OP = {
	dispatch: 0,
	heartbeat: 1,
	identify: 2,
	resume: 6,
	reconnect: 7,
	invalid: 9,
	hello: 10,
	ack: 11,
} as const;

interface Dispatch {
	readonly t: string;
	readonly s: number;
	readonly d: unknown;
}

export interface Session {
	readonly id: string;
	readonly bot: BotAccount;
	readonly intents: number;
	readonly sent: Dispatch[];
	socket: WebSocket | null;
	/** What the bot last said that it has received. */
	told: number;
}

interface GatewayOptions {
	readonly world: World;
	readonly heartbeatMs: () => number;
	/** Where bots connect, as they are told. */
	readonly url: () => string;
	readonly onChange: () => void;
}

export class Gateway {
	readonly sessions: Session[] = [];
	/** Messages of people that a bot has said it received. */
	readonly received = new Set<string>();
	/** How often each was asked for. */
	readonly counts = { identify: 0, resume: 0, resumed: 0 };
	/** Heartbeats are not acknowledged, and nothing is sent. */
	isSilent = false;
	/** The next resume is refused. */
	refusesResume = false;
	/** Events wait, and are sent when it is let go. */
	#held: (() => void)[] | null = null;
	readonly #options: GatewayOptions;
	readonly #sockets = new Set<WebSocket>();
	#count = 0;

	constructor(options: GatewayOptions) {
		this.#options = options;
		options.world.tell = (event) => this.happened(event);
	}

	get connections(): number {
		return this.#sockets.size;
	}

	happened({ t, d, intent, blanked, to }: Happened): void {
		for (const session of this.sessions) {
			if (!to(session.bot) || (intent !== 0 && (session.intents & intent) === 0)) continue;
			const isBlank = blanked && (session.intents & INTENT.messageContent) === 0;
			this.dispatch(session, t, isBlank ? blanked : d);
		}
		this.#options.onChange();
	}

	dispatch(session: Session, t: string, d: unknown): void {
		const event = { t, s: session.sent.length + 1, d };
		session.sent.push(event);
		const { socket } = session;
		if (!socket || this.isSilent) return;
		if (this.#held) this.#held.push(() => write(socket, { op: OP.dispatch, ...event }));
		else write(socket, { op: OP.dispatch, ...event });
	}

	accept(socket: WebSocket): void {
		const { onChange } = this.#options;
		this.#sockets.add(socket);
		let session: Session | null = null;
		write(socket, { op: OP.hello, d: { heartbeat_interval: this.#options.heartbeatMs() } });
		socket.on("error", () => socket.terminate());
		socket.on("close", (code) => {
			this.#sockets.delete(socket);
			if (session?.socket !== socket) return;
			session.socket = null;
			// Whoever says goodbye politely has ended the session.
			if (code === 1000 || code === 1001) this.forget(session);
			onChange();
		});
		socket.on("message", (data) => {
			const { op, d } = JSON.parse(String(data)) as { op: number; d: unknown };
			if (op === OP.heartbeat) {
				if (session) this.#told(session, Number(d ?? 0));
				if (!this.isSilent) write(socket, { op: OP.ack });
			}
			if (op === OP.identify) session = this.#identify(socket, d as Identify);
			if (op === OP.resume) session = this.#resume(socket, d as Resume);
			onChange();
		});
	}

	forget(session: Session): void {
		const at = this.sessions.indexOf(session);
		if (at >= 0) this.sessions.splice(at, 1);
	}

	/** Asks every bot to connect again. */
	askToReconnect(): void {
		for (const socket of this.#sockets) write(socket, { op: OP.reconnect, d: null });
	}

	askForHeartbeat(): void {
		for (const socket of this.#sockets) write(socket, { op: OP.heartbeat, d: null });
	}

	/** Declares every session void, or says that it may be resumed. */
	invalidate(isResumable: boolean): void {
		for (const session of [...this.sessions]) {
			if (session.socket) write(session.socket, { op: OP.invalid, d: isResumable });
			if (!isResumable) this.forget(session);
		}
	}

	/** Closes every connection; sessions stay. */
	disconnect(code?: number): void {
		for (const socket of this.#sockets)
			if (code === undefined) socket.terminate();
			else socket.close(code);
	}

	hold(): () => void {
		const held: (() => void)[] = [];
		this.#held = held;
		return () => {
			this.#held = null;
			for (const send of held) send();
		};
	}

	#told(session: Session, to: number): void {
		for (const { t, d } of session.sent.slice(session.told, to)) {
			// A test may send anything.
			const { id, author } = (d ?? {}) as {
				readonly id?: string;
				readonly author?: { readonly bot?: boolean };
			};
			if (t === "MESSAGE_CREATE" && id !== undefined && !author?.bot) this.received.add(id);
		}
		session.told = Math.max(session.told, to);
	}

	#identify(socket: WebSocket, { token, intents }: Identify): Session | null {
		const { world, url } = this.#options;
		this.counts.identify++;
		const bot = world.bots.find((one) => one.token === token);
		if (!bot) {
			socket.close(4004, "Authentication failed.");
			return null;
		}
		if ((intents & INTENT.messageContent) !== 0 && !bot.mayReadContent) {
			socket.close(4014, "Disallowed intent(s).");
			return null;
		}
		const session: Session = {
			id: `session-${++this.#count}-${bot.id}`,
			bot,
			intents,
			sent: [],
			socket,
			told: 0,
		};
		this.sessions.push(session);
		const guilds = world.guilds.filter((guild) => guild.bots.has(bot));
		this.dispatch(session, "READY", {
			v: 10,
			user: { ...userJson(bot), verified: true, mfa_enabled: false, email: null, flags: 0 },
			guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
			session_id: session.id,
			session_type: "normal",
			resume_gateway_url: url(),
			private_channels: [],
			relationships: [],
			presences: [],
			shard: [0, 1],
			application: { id: bot.id, flags: bot.mayReadContent ? CONTENT_FLAG : 0 },
		});
		for (const guild of guilds) this.dispatch(session, "GUILD_CREATE", world.guildJson(guild, bot));
		return session;
	}

	#resume(socket: WebSocket, { token, session_id: id, seq }: Resume): Session | null {
		this.counts.resume++;
		const { world } = this.#options;
		if (!world.bots.some((bot) => bot.token === token)) {
			socket.close(4004, "Authentication failed.");
			return null;
		}
		const session = this.sessions.find((one) => one.id === id && one.bot.token === token);
		if (!session || this.refusesResume) {
			this.refusesResume = false;
			if (session) this.forget(session);
			write(socket, { op: OP.invalid, d: false });
			return null;
		}
		if (seq > session.sent.length) {
			socket.close(4007, "Invalid sequence.");
			return null;
		}
		session.socket?.terminate();
		session.socket = socket;
		this.#told(session, seq);
		this.counts.resumed++;
		for (const event of session.sent.slice(seq)) write(socket, { op: OP.dispatch, ...event });
		this.dispatch(session, "RESUMED", { _trace: [] });
		return session;
	}
}

interface Identify {
	readonly token: string;
	readonly intents: number;
}

interface Resume {
	readonly token: string;
	readonly session_id: string;
	readonly seq: number;
}

function write(socket: WebSocket, payload: object): void {
	socket.send(JSON.stringify(payload));
}
