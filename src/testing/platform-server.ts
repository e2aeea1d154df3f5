// A platform behind a socket: the test owns it, and a gateway in another process connects as to a real one. Killing that
// process leaves the platform's memory intact.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../time/index.ts";
import { follow, serve } from "./link.ts";
import type { ScriptedPlatform } from "./platform.ts";
import { type FromChannel, onLines, writeLine } from "./wire.ts";

export interface PlatformServer {
	/** The address for `connectScriptedChannel`. */
	readonly address: string;
	readonly platform: ScriptedPlatform;
	/** Breaks every connection. Channels come back by themselves. */
	disconnect(): void;
	close(): Promise<void>;
}

export async function createPlatformServer({
	platform,
	clock = systemClock,
}: {
	readonly platform: ScriptedPlatform;
	readonly clock?: Clock;
}): Promise<PlatformServer> {
	const directory = mkdtempSync(join(tmpdir(), "keryx-platform-"));
	const address = join(directory, "socket");
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
		serveConnection(platform, clock, socket);
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(address, resolve);
	});
	const disconnect = () => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		address,
		platform,
		disconnect,
		close: async () => {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			disconnect();
			await closed;
			rmSync(directory, { recursive: true, force: true });
		},
	};
}

function serveConnection(platform: ScriptedPlatform, clock: Clock, socket: Socket): void {
	let unfollow = () => {};
	// A killed process resets its connections, which is an ordinary end.
	socket.on("error", () => {});
	socket.on("close", () => unfollow());
	onLines<FromChannel>(socket, (line) => {
		if (line.kind === "acknowledge") platform.acknowledge(line.offset);
		else if (line.kind === "subscribe") {
			const { after, subscription } = line;
			unfollow();
			unfollow = follow(platform, after, (update) =>
				writeLine(socket, { kind: "update", update, subscription }),
			);
		} else {
			const { id, request } = line;
			void serve(platform, clock, request).then((answer) =>
				writeLine(socket, { kind: "answer", id, answer }),
			);
		}
	});
}
