// The messages between a scripted channel and its platform's server: one JSON value per line.
import type { Socket } from "node:net";
import type { PlatformAnswer, PlatformRequest } from "./link.ts";
import type { Update } from "./platform.ts";

export type FromChannel =
	| { readonly kind: "request"; readonly id: number; readonly request: PlatformRequest }
	| { readonly kind: "subscribe"; readonly after: number | null; readonly subscription: number }
	| { readonly kind: "acknowledge"; readonly offset: number };

export type FromPlatform =
	| { readonly kind: "answer"; readonly id: number; readonly answer: PlatformAnswer }
	| { readonly kind: "update"; readonly update: Update; readonly subscription: number };

/** Does nothing if the other end is gone: waiting callers learn it from the closed socket. */
export function writeLine(socket: Socket, line: FromChannel | FromPlatform): void {
	if (socket.writable) socket.write(`${JSON.stringify(line)}\n`);
}

export function onLines<Line>(socket: Socket, handle: (line: Line) => void): void {
	let rest = "";
	socket.setEncoding("utf8");
	socket.on("data", (data: string) => {
		const lines = (rest + data).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) handle(JSON.parse(line) as Line);
	});
}
