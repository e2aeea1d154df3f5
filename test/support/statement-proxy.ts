// A proxy in front of a PostgreSQL server that cuts the connection at an exact statement: before the server gets it, or after the server
// has executed it and before its answer arrives.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface StatementProxy {
	readonly port: number;
	/** At the nth statement from now on, over all connections, or those of this application. */
	cutAt(n: number, when: "before" | "after", of?: string): void;
	/** At the first statement before and after, then at the second, and so on, each counted from the last cut; null stops it. */
	sweep(of: string | null): void;
	/** How many cuts the sweep has made. */
	readonly swept: number;
	/** How many statements came since the last cut. */
	readonly statements: number;
	/** Whether the cut was made. */
	readonly isCut: boolean;
	/** Closes all connections now. */
	cutAll(): void;
	close(): Promise<void>;
}

/** A simple query, or the end of an extended one. */
const STATEMENT_ENDS = new Set(["Q", "S"]);

export async function startStatementProxy(serverPort: number): Promise<StatementProxy> {
	let statements = 0;
	let cut = { at: 0, when: "before" as "before" | "after", of: "" };
	let isCut = false;
	let isSweeping = false;
	let swept = 0;
	const sweepOn = () => {
		if (!isSweeping) return;
		swept++;
		statements = 0;
		cut = cut.when === "before" ? { ...cut, when: "after" } : { ...cut, at: cut.at + 1, when: "before" };
	};
	const sockets = new Set<Socket>();
	const server = createServer((near) => {
		const far = connect(serverPort, "127.0.0.1");
		const end = () => {
			near.destroy();
			far.destroy();
		};
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.setNoDelay().on("error", end);
			socket.on("close", () => {
				sockets.delete(socket);
				end();
			});
		}
		// Statements that the server has received, and answered, here.
		let sent = 0;
		let answered = 0;
		let endsAfter = 0;
		// The first message names the application.
		let startup = "";
		const asked = messages({ startup: true }, (type, bytes) => {
			if (near.destroyed || endsAfter > 0) return;
			if (type === "") startup = bytes.toString("latin1");
			if (STATEMENT_ENDS.has(type) && startup.includes(cut.of) && ++statements === cut.at) {
				isCut = true;
				if (cut.when === "before") {
					sweepOn();
					return end();
				}
				endsAfter = sent + 1;
			}
			if (STATEMENT_ENDS.has(type)) sent++;
			far.write(bytes);
		});
		const answers = messages({ startup: false }, (type, bytes) => {
			if (type === "Z" && sent > 0) answered++;
			if (endsAfter > 0 && answered >= endsAfter) {
				if (!near.destroyed) sweepOn();
				return end();
			}
			if (!near.destroyed) near.write(bytes);
		});
		near.on("data", asked);
		far.on("data", answers);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		port: (server.address() as AddressInfo).port,
		cutAt: (at, when, of = "") => {
			statements = 0;
			isCut = false;
			cut = { at, when, of };
			isSweeping = false;
		},
		sweep: (of) => {
			statements = 0;
			swept = 0;
			isSweeping = of !== null;
			cut = { at: of === null ? 0 : 1, when: "before", of: of ?? "" };
		},
		get swept() {
			return swept;
		},
		get statements() {
			return statements;
		},
		get isCut() {
			return isCut;
		},
		cutAll: () => {
			for (const socket of sockets) socket.destroy();
		},
		close: async () => {
			server.close();
			for (const socket of sockets) socket.destroy();
			await once(server, "close");
		},
	};
}

/** Splits a stream into the messages of PostgreSQL's protocol. A client's first one has no type. */
function messages(
	{ startup }: { startup: boolean },
	each: (type: string, bytes: Buffer) => void,
): (chunk: Buffer) => void {
	let held: Buffer = Buffer.alloc(0);
	let isFirst = startup;
	return (chunk) => {
		held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
		for (;;) {
			const head = isFirst ? 0 : 1;
			if (held.length < head + 4) return;
			const length = head + held.readUInt32BE(head);
			if (held.length < length) return;
			const type = isFirst ? "" : String.fromCharCode(held[0] as number);
			isFirst = false;
			each(type, held.subarray(0, length));
			held = held.subarray(length);
		}
	};
}
