// An XMPP channel on a real server, with people around it and a network between them that fails as told.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createXmppChannel, type XmppOptions, type XmppSecrets } from "../../src/channels/xmpp/index.ts";
import { NS } from "../../src/channels/xmpp/stream/namespaces.ts";
import { Parser } from "../../src/channels/xmpp/stream/parser.ts";
import { child, type Element, element, serialize } from "../../src/channels/xmpp/stream/xml.ts";
import type { Channel, ChannelHost, Outgoing } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";
import { type ChannelPeer, type SeenMessage, TakingHost } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { PASSWORD, type Prosody } from "../support/prosody.ts";
import { until } from "../support/until.ts";
import { XmppPerson } from "../support/xmpp-person.ts";
import type { Heard } from "./telegram-scene.ts";

/** As fast as the server takes it. */
export const FAST = { burst: 1000, everyMs: 1 };

export function xmppChannelOn(
	port: number,
	options: Partial<XmppOptions> = {},
	secrets: () => Partial<XmppSecrets> = () => ({}),
): Channel {
	return createXmppChannel({
		name: "xmpp",
		jid: "keryx@localhost",
		nick: "keryx",
		server: { host: "127.0.0.1", port, tls: "none" },
		secrets: async () => ({ password: PASSWORD, roomPasswords: new Map(), ...secrets() }),
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

export function outgoing(chatId: string, text: string, more: Partial<Outgoing> = {}): Outgoing {
	return {
		id: `d${++deliveries}`,
		destination: { platform: "xmpp", account: "", chatId },
		body: { text, plain: text },
		plain: false,
		openBlob: async function* () {},
		...more,
	};
}

/** A room is joined some time after the login. */
export async function sendUntilTaken(channel: Channel, chatId: string, text: string): Promise<void> {
	while ((await channel.send(outgoing(chatId, text))).kind !== "sent") await pause(1);
}

type Fault = "refuse" | "pause" | "lose_ack" | "lost";

export interface StanzaProxy {
	readonly port: number;
	/** What becomes of the next message of the channel. */
	fault: Fault | null;
	/** Sessions that were cut off are not continued. */
	forgetsSessions: boolean;
	/** Messages that reached the server's side. */
	readonly requests: Element[];
	/** Everything that the channel has sent. */
	readonly sent: Element[];
	/** Everything that the channel was sent. */
	readonly delivered: Element[];
	/** Ids, as their senders gave them, of messages that the server was told of. */
	readonly acknowledged: Set<string>;
	/** The sender's id, by the server's. */
	readonly names: Map<string, string>;
	/** Delivers a stanza that it has delivered before. */
	again(id: string): void;
	cut(): void;
	close(): Promise<void>;
}

const isStanza = ({ name }: Element) => name === "message" || name === "presence" || name === "iq";

/** The stanzas of one direction of a session, and whether the other side knows of them. */
class Count {
	stanzas: { readonly stanza: Element; readonly isReal: boolean }[] = [];

	/** Of the first so many, those that are real. */
	real(count: number): number {
		return this.stanzas.slice(0, count).filter(({ isReal }) => isReal).length;
	}

	/** The place of the last of so many real ones. */
	place(real: number): number {
		for (let at = 0, seen = 0; at < this.stanzas.length; at++) {
			if (seen === real) return at;
			if (this.stanzas[at]?.isReal) seen++;
		}
		return this.stanzas.length;
	}
}

/** Between the channel and the server: reads stanzas, and answers or swallows some in the server's place. */
export async function stanzaProxy(port: number): Promise<StanzaProxy> {
	const sockets = new Set<Socket>();
	/** Of the session, which outlives connections. */
	let [up, down] = [new Count(), new Count()];
	let toChannel: (stanza: Element) => unknown = () => {};
	const server = createServer((near) => {
		const far = connect(port, "127.0.0.1");
		let isSwallowing = false;
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.setEncoding("utf8").setNoDelay();
			socket.on("error", () => {});
			socket.on("close", () => {
				sockets.delete(socket);
				near.destroy();
				far.destroy();
			});
		}
		const write = (socket: Socket, one: Element) => socket.write(serialize(one, NS.client));
		const header = (socket: Socket, attrs: Readonly<Record<string, string>>) =>
			void socket.write(
				serialize(element("stream:stream", NS.client, { "xmlns:stream": NS.stream, ...attrs }), "").replace(
					/\/>$/,
					">",
				),
			);
		const inject = (stanza: Element): unknown => {
			down.stanzas.push({ stanza, isReal: false });
			return write(near, stanza);
		};
		toChannel = inject;
		const fromChannel = (one: Element): unknown => {
			proxy.sent.push(one);
			const h = Number(one.attrs.h);
			if (one.ns === NS.management && one.name === "enable") [up, down] = [new Count(), new Count()];
			if (one.ns === NS.management && one.name === "a") {
				for (const { stanza } of down.stanzas.slice(0, h)) {
					const name = senderId(stanza);
					if (name !== undefined) proxy.acknowledged.add(name);
				}
				return write(far, element("a", NS.management, { h: String(down.real(h)) }));
			}
			if (one.ns === NS.management && one.name === "resume") {
				if (proxy.forgetsSessions) {
					proxy.forgetsSessions = false;
					return write(near, element("failed", NS.management));
				}
				const real = down.real(h);
				down.stanzas = down.stanzas.slice(0, h);
				return write(far, { ...one, attrs: { ...one.attrs, h: String(real) } });
			}
			const isMessage = one.name === "message" && child(one, "body") !== undefined;
			const fault = isMessage ? proxy.fault : null;
			if (isMessage) {
				proxy.requests.push(one);
				proxy.fault = null;
			}
			const isKept = fault === "refuse" || fault === "pause" || fault === "lost";
			if (isStanza(one)) up.stanzas.push({ stanza: one, isReal: !isKept });
			if (fault === "refuse") return inject(errorOf(one, "auth", "forbidden"));
			if (fault === "pause") return inject(errorOf(one, "wait", "resource-constraint"));
			if (fault === "lost" || fault === "lose_ack") proxy.forgetsSessions = true;
			if (fault === "lost") return proxy.cut();
			if (fault === "lose_ack") isSwallowing = true;
			return write(far, one);
		};
		const fromServer = (one: Element): unknown => {
			if (one.ns === NS.sasl && one.name === "success") {
				read(near, far, fromChannel);
				read(far, near, fromServer);
			}
			if (one.ns === NS.management && (one.name === "a" || one.name === "resumed")) {
				// The server has taken the message: its answer is lost with the connection.
				if (isSwallowing) return proxy.cut();
				const h = up.place(Number(one.attrs.h));
				if (one.name === "resumed") up.stanzas = up.stanzas.slice(0, h);
				return write(near, { ...one, attrs: { ...one.attrs, h: String(h) } });
			}
			if (isSwallowing) return;
			if (isStanza(one)) {
				down.stanzas.push({ stanza: one, isReal: true });
				proxy.delivered.push(one);
				noteName(one, proxy.names);
			}
			return write(near, one);
		};
		/** A new stream: from here on with a new parser. */
		const read = (from: Socket, to: Socket, take: (one: Element) => unknown) => {
			const parser = new Parser({
				opened: (attrs) => header(to, attrs),
				element: take,
				closed: () => void to.end("</stream:stream>"),
			});
			from.removeAllListeners("data");
			from.on("data", (text) => parser.feed(String(text)));
		};
		read(near, far, fromChannel);
		read(far, near, fromServer);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const proxy: StanzaProxy = {
		port: (server.address() as AddressInfo).port,
		fault: null,
		forgetsSessions: false,
		requests: [],
		sent: [],
		delivered: [],
		acknowledged: new Set(),
		names: new Map(),
		again: (id) => {
			const stanza = proxy.delivered.find((one) => one.name === "message" && one.attrs.id === id);
			if (stanza) toChannel(stanza);
		},
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

function errorOf({ attrs }: Element, type: string, condition: string): Element {
	const error = element("error", NS.client, { type }, element(condition, NS.stanzas));
	return element("message", NS.client, { type: "error", id: attrs.id, from: attrs.to }, error);
}

/** Of a message with words, live or from the archive. */
function inner(stanza: Element): Element {
	const forwarded = child(child(stanza, "result", NS.archive) ?? stanza, "forwarded", NS.forward);
	return (forwarded && child(forwarded, "message", NS.client)) ?? stanza;
}

function senderId(stanza: Element): string | undefined {
	const message = inner(stanza);
	return message.name === "message" && child(message, "body") ? message.attrs.id : undefined;
}

function noteName(stanza: Element, names: Map<string, string>): void {
	const id =
		child(stanza, "result", NS.archive)?.attrs.id ?? child(inner(stanza), "stanza-id", NS.ids)?.attrs.id;
	const name = senderId(stanza);
	if (id !== undefined && name !== undefined) names.set(id, name);
}

let scenes = 0;

/** For the suite that every channel passes, and for tests of a whole gateway on any platform. */
export async function xmppPeer(
	server: Prosody,
	options: Partial<XmppOptions> = {},
): Promise<ChannelPeer & Heard & { readonly proxy: FaultProxy; readonly stanzas: StanzaProxy }> {
	const n = ++scenes;
	const bot = server.account(`bot${n}`);
	const stanzas = await stanzaProxy(server.port);
	const proxy = await createFaultProxy(`http://127.0.0.1:${stanzas.port}`);
	const ada = await XmppPerson.connect(server, `ada${n}`);
	let password = PASSWORD;
	const files = new Map<string, Uint8Array>();
	const channel = xmppChannelOn(proxy.port, { account: "two", jid: bot, ...options }, () => ({ password }));
	/** The ids that the people gave: the server's are known only when they come. */
	const named = <Value extends { readonly platformMessage: string }>(value: Value): Value => ({
		...value,
		platformMessage: stanzas.names.get(value.platformMessage) ?? value.platformMessage,
	});
	return {
		proxy,
		stanzas,
		channel: {
			...channel,
			start: (host) =>
				channel.start({
					// A class has its methods on its prototype.
					...Object.fromEntries(METHODS.map((name) => [name, (host[name] as () => unknown).bind(host)])),
					known: async (chat: string, ids: readonly string[]) => {
						const known = await host.known(
							chat,
							ids.map((id) => stanzas.names.get(id) ?? id),
						);
						return ids.filter((id) => known.includes(stanzas.names.get(id) ?? id));
					},
					accept: (inbound: Parameters<ChannelHost["accept"]>[0]) => host.accept(named(inbound)),
					edited: (edit: Parameters<ChannelHost["edited"]>[0]) => host.edited(named(edit)),
				} as unknown as ChannelHost),
			send: async (one) => {
				// The fault is for a message that is really sent.
				if (stanzas.fault) await until(() => channel.health().state === "connected");
				const result = await channel.send(one);
				await ada.sync();
				for (const { files: urls } of ada.shown(bot))
					for (const url of urls)
						if (!files.has(url)) files.set(url, new Uint8Array(await (await fetch(url)).arrayBuffer()));
				return result;
			},
			edit: async (receipt, one) => {
				const result = await (channel.edit as NonNullable<Channel["edit"]>)(receipt, one);
				await ada.sync();
				return result;
			},
		},
		destination: { platform: "xmpp", account: "two", chatId: ada.jid },
		say: (text) => ada.say(bot, text),
		edit: (id, text) => void ada.correct(bot, "chat", id, text),
		sendFile: (text, name, bytes) => {
			const id = `file-of-ada-${n}-${name}`;
			void putFile(ada, server, name, bytes).then((url) =>
				ada.session.write(fileMessage(bot, id, text, url)),
			);
			return id;
		},
		redeliver: (id) => stanzas.again(id),
		disconnect: () => proxy.cut(),
		refuseConnections: async () => {
			await proxy.set("cut");
			await until(() => channel.health().state !== "connected");
			return () => proxy.set("open");
		},
		acknowledged: () => [...stanzas.acknowledged],
		visible: () => ada.shown(bot).flatMap((one) => seenAs(one, files)),
		requests: () => stanzas.requests.length,
		next: (behaviour) => {
			if (behaviour !== "markup_refused") stanzas.fault = behaviour;
		},
		never: ["markup_refused"],
		revoke: () => {
			password = "no longer";
			proxy.cut();
		},
		pass: () => pause(1),
		person: ada.jid,
		received: () => stanzas.sent.map((one) => serialize(one, "")).join("\n"),
		close: async () => {
			await ada.leave();
			await proxy.close();
			await stanzas.close();
		},
	};
}

/** One message shows its words and its files. */
function seenAs(
	{ id, text, files: urls }: ReturnType<XmppPerson["shown"]>[number],
	files: ReadonlyMap<string, Uint8Array>,
): SeenMessage[] {
	const words = text
		.split("\n")
		.filter((line) => !urls.includes(line))
		.join("\n");
	if (urls.length === 0) return [{ receipt: id, text: words }];
	return urls.map((url, at) => ({
		receipt: `${id}${at === 0 ? "" : `.${at}`}`,
		text: at === 0 ? words : "",
		file: { name: new URL(url).pathname.split("/").at(-1) ?? "", bytes: files.get(url) ?? new Uint8Array() },
	}));
}

/** Stores a file as a program of a person does; answers its address. */
export async function putFile(
	person: XmppPerson,
	server: Prosody,
	name: string,
	bytes: Uint8Array,
): Promise<string> {
	const request = element("request", NS.upload, {
		filename: name,
		size: String(bytes.length),
		"content-type": "application/octet-stream",
	});
	const answer = await person.session.request("get", `upload.${server.domain}`, request);
	const slot = child(answer, "slot", NS.upload) as Element;
	const put = child(slot, "put") as Element;
	const headers = Object.fromEntries(
		put.children.flatMap((one) =>
			typeof one === "string" ? [] : [[one.attrs.name ?? "", one.children.join("")]],
		),
	);
	const { ok, status } = await fetch(put.attrs.url as string, {
		method: "PUT",
		headers: { ...headers, "content-type": "application/octet-stream" },
		body: Buffer.from(bytes),
	});
	if (!ok) throw new Error(`the file was not stored: ${status}`);
	return child(slot, "get")?.attrs.url as string;
}

export function fileMessage(to: string, id: string, text: string, url: string): Element {
	return element(
		"message",
		NS.client,
		{ to, type: "chat", id },
		element("body", NS.client, {}, text === "" ? url : `${text}\n${url}`),
		element("x", NS.outOfBand, {}, element("url", NS.outOfBand, {}, url)),
	);
}

const METHODS = [
	"cursor",
	"putBlob",
	"deleted",
	"reacted",
	"pressed",
	"gone",
	"moved",
	"passed",
	"commands",
] as const;
