// The channel's end of a line to a platform in another process.
import { connect, type Socket } from "node:net";
import type { Channel } from "../gateway/index.ts";
import type { Link, LinkEvents, PlatformAnswer } from "./link.ts";
import { type ChannelSettings, channelOver } from "./scripted-channel.ts";
import { type FromPlatform, onLines, writeLine } from "./wire.ts";

export interface ConnectOptions extends ChannelSettings {
	/** The address of a platform server. */
	readonly address: string;
}

/** A scripted channel whose platform runs in another process, behind `createPlatformServer`. */
export function connectScriptedChannel({ address, ...settings }: ConnectOptions): Channel {
	return channelOver(socketLink(address), settings);
}

interface Waiting {
	resolve(answer: PlatformAnswer): void;
	reject(error: Error): void;
}

function socketLink(address: string): Link {
	let socket: Socket | undefined;
	let asked = 0;
	const waiting = new Map<number, Waiting>();
	const drop = () => {
		const before = socket;
		socket = undefined;
		before?.destroy();
		for (const { reject } of waiting.values()) reject(new Error("the line broke"));
		waiting.clear();
	};
	return {
		open: async (events) => {
			drop();
			const opened = await connected(address);
			socket = opened;
			listen(opened, waiting, events);
			opened.on("close", () => {
				if (socket !== opened) return;
				drop();
				events.onBroken();
			});
		},
		subscribe: (after, subscription) => {
			if (socket) writeLine(socket, { kind: "subscribe", after, subscription });
		},
		ask: (request) =>
			new Promise((resolve, reject) => {
				if (!socket) return reject(new Error("the line is not open"));
				const id = ++asked;
				waiting.set(id, { resolve, reject });
				writeLine(socket, { kind: "request", id, request });
			}),
		acknowledge: (offset) => {
			if (socket) writeLine(socket, { kind: "acknowledge", offset });
		},
		close: drop,
	};
}

function connected(address: string): Promise<Socket> {
	return new Promise((resolve, reject) => {
		const socket = connect(address);
		socket.once("connect", () => resolve(socket));
		// It stays for the socket's whole life: a close follows every error.
		socket.on("error", reject);
	});
}

function listen(socket: Socket, waiting: Map<number, Waiting>, { onUpdate }: LinkEvents): void {
	onLines<FromPlatform>(socket, (line) => {
		if (line.kind === "update") return onUpdate(line.update, line.subscription);
		const { resolve } = waiting.get(line.id) ?? {};
		waiting.delete(line.id);
		resolve?.(line.answer);
	});
}
