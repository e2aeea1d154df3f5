// An IRC channel on a real server, with people around it and a network between them that fails as told.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createIrcChannel, type IrcOptions, type IrcSecrets } from "../../src/channels/irc/index.ts";
import type { Channel, ChannelHost, Outgoing } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { IrcPerson } from "../support/irc-person.ts";
import { until } from "../support/until.ts";
import type { Heard } from "./telegram-scene.ts";

/** As fast as the server takes it. */
export const FAST = { burst: 1000, everyMs: 1 };

export function ircChannelOn(
	port: number,
	options: Partial<IrcOptions> = {},
	secrets: () => IrcSecrets = () => ({ keys: new Map() }),
): Channel {
	return createIrcChannel({
		name: "irc",
		server: { host: "127.0.0.1", port, tls: false },
		nick: "keryx",
		secrets: async () => secrets(),
		join: [],
		clock: systemClock,
		log: () => {},
		firstPauseMs: 5,
		longestPauseMs: 20,
		flood: FAST,
		...options,
	});
}

export async function connected(channel: Channel, host: ChannelHost = new TakingHost()): Promise<void> {
	await channel.start(host);
	await until(() => channel.health().state === "connected");
}

let deliveries = 0;

export function outgoing(chatId: string, text: string, plain = false): Outgoing {
	return {
		id: `d${++deliveries}`,
		destination: { platform: "irc", account: "", chatId },
		body: { text, plain: text },
		plain,
		openBlob: async function* () {},
	};
}

type Fault = "refuse" | "pause" | "lose_ack" | "lost";

interface LineProxy {
	readonly port: number;
	/** What becomes of the next message of the channel. */
	fault: Fault | null;
	/** Messages that reached the server's side. */
	readonly requests: string[];
	/** Everything that the channel has sent. */
	readonly sent: string[];
	/** Ends the connections. */
	cut: () => void;
	close(): Promise<void>;
}

/** Between the channel and the server: reads lines, and answers or swallows some in the server's place. */
async function lineProxy(port: number): Promise<LineProxy> {
	const sockets = new Set<Socket>();
	const server = createServer((near) => {
		const far = connect(port, "127.0.0.1");
		let isSwallowing = false;
		let nick = "*";
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.on("error", () => {}).setNoDelay();
			socket.on("close", () => {
				sockets.delete(socket);
				near.destroy();
				far.destroy();
			});
		}
		eachLine(near, (line) => {
			proxy.sent.push(line);
			[, nick = nick] = /^NICK :?(\S+)/.exec(line) ?? [];
			const [, target] = /^PRIVMSG (\S+) /.exec(line) ?? [];
			if (target !== undefined) {
				proxy.requests.push(line);
				const fault = proxy.fault;
				proxy.fault = null;
				if (fault === "refuse")
					return near.write(`:irc.test 404 ${nick} ${target} :Cannot send to channel\r\n`);
				if (fault === "pause") return near.write(`:irc.test 263 ${nick} PRIVMSG :Please wait a while\r\n`);
				if (fault === "lost") {
					isSwallowing = true;
					return proxy.cut();
				}
				if (fault === "lose_ack") isSwallowing = true;
			} else if (isSwallowing && !line.startsWith("PING")) return;
			return far.write(`${line}\r\n`);
		});
		eachLine(far, (line) => {
			if (!isSwallowing) return near.write(`${line}\r\n`);
			// The server has taken the message: its answer is lost with the connection.
			return / PONG /.test(line) ? proxy.cut() : undefined;
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const proxy: LineProxy = {
		port: (server.address() as AddressInfo).port,
		fault: null,
		requests: [],
		sent: [],
		cut: () => {
			for (const socket of sockets) socket.destroy();
		},
		close: async () => {
			proxy.cut();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	return proxy;
}

function eachLine(socket: Socket, take: (line: string) => unknown): void {
	let rest = "";
	socket.setEncoding("utf8").on("data", (text) => {
		const lines = (rest + String(text)).split("\r\n");
		rest = lines.pop() ?? "";
		for (const line of lines) take(line);
	});
}

/**
 * Somebody who writes to the bot. Where nobody is there, the server tells them, and they write again when they see the bot come back:
 * an IRC server keeps nothing.
 */
class Writer {
	readonly person: IrcPerson;
	readonly #bot: string;
	readonly #waiting: string[] = [];
	readonly #written: string[] = [];
	#isThere = false;
	/** The bot's connection was cut, and the server has not said so yet. */
	#isLeaving = false;

	constructor(person: IrcPerson, bot: string) {
		this.person = person;
		this.#bot = bot;
		person.onMessage = ({ command, nick, params }) => {
			if (nick === bot && command === "JOIN") this.#came();
			if (nick === bot && command === "QUIT") {
				this.#isThere = false;
				this.#isLeaving = false;
			}
			if (command === "401" && params[1] === bot) {
				const text = this.#written.pop();
				if (text !== undefined) this.#waiting.unshift(text);
			}
			if (command === "PONG") this.#written.length = 0;
		};
	}

	/** The bot was cut off. */
	cutOff(): void {
		this.#isLeaving = this.#isThere;
	}

	say(text: string): void {
		this.#waiting.push(text);
		this.#write();
	}

	#came(): void {
		this.#isThere = true;
		this.#write();
	}

	#write(): void {
		if (!this.#isThere || this.#isLeaving) return;
		for (const text of this.#waiting.splice(0)) {
			this.#written.push(text);
			this.person.say(this.#bot, text);
		}
	}
}

let scenes = 0;

export interface IrcServerAt {
	readonly port: number;
	readonly password?: string;
	/** What a person's client says first: capabilities, a login. */
	readonly begin?: (nick: string) => readonly string[];
}

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function ircPeer(
	server: IrcServerAt,
	options: Partial<IrcOptions> = {},
): Promise<ChannelPeer & Heard & { readonly proxy: FaultProxy }> {
	const n = ++scenes;
	const [bot, nick, room] = [`bot${n}`, `ada${n}`, `#room${n}`];
	const lines = await lineProxy(server.port);
	const proxy = await createFaultProxy(`http://127.0.0.1:${lines.port}`);
	const ada = await IrcPerson.connect({
		port: server.port,
		nick,
		...(server.password !== undefined && { password: server.password }),
		...(server.begin && { begin: server.begin(nick) }),
	});
	await ada.join(room);
	const writer = new Writer(ada, bot);
	let { password } = server;
	let said = 0;
	let taken = 0;
	const accepted: string[] = [];
	const channel = ircChannelOn(
		proxy.port,
		{ account: "net2", nick: bot, join: [room], messageId: () => `m${++taken}`, ...options },
		() => ({ keys: new Map(), ...(password !== undefined && { serverPassword: password }) }),
	);
	return {
		proxy,
		channel: {
			...channel,
			start: (host) =>
				channel.start({
					// A class has its methods on its prototype.
					...Object.fromEntries(METHODS.map((name) => [name, (host[name] as () => unknown).bind(host)])),
					accept: async (inbound: Parameters<ChannelHost["accept"]>[0]) => {
						const admission = await host.accept(inbound);
						accepted.push(inbound.platformMessage);
						return admission;
					},
				} as ChannelHost),
			send: async (one) => {
				// The fault is for a message that is really sent.
				if (lines.fault) await until(() => channel.health().state === "connected");
				const result = await channel.send(one);
				await ada.sync();
				return result;
			},
		},
		destination: { platform: "irc", account: "net2", chatId: `${nick}!~${nick}@127.0.0.1` },
		say: (text) => {
			writer.say(text);
			return `m${++said}`;
		},
		disconnect: () => {
			writer.cutOff();
			proxy.cut();
		},
		refuseConnections: async () => {
			writer.cutOff();
			await proxy.set("cut");
			await until(() => channel.health().state !== "connected");
			return () => proxy.set("open");
		},
		acknowledged: () => accepted,
		visible: () => ada.lines(bot).map((text, at) => ({ receipt: String(at), text })),
		requests: () => lines.requests.length,
		next: (behaviour) => {
			if (behaviour !== "markup_refused") lines.fault = behaviour;
		},
		never: ["markup_refused"],
		...(password !== undefined && {
			revoke: () => {
				password = "no longer";
				proxy.cut();
			},
		}),
		// A line has no line break in it.
		shownAs: (text) => text.replaceAll("\n", "\u240a"),
		pass: () => pause(1),
		person: `${nick}!~${nick}@127.0.0.1`,
		received: () => lines.sent.join("\n"),
		close: async () => {
			ada.leave();
			await proxy.close();
			await lines.close();
		},
	};
}

const METHODS = [
	"cursor",
	"putBlob",
	"edited",
	"deleted",
	"reacted",
	"pressed",
	"gone",
	"moved",
	"passed",
	"commands",
] as const;
