// A TCP proxy that misbehaves as networks do: it delays, trickles, cuts, and goes silent with the connection open.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

export type LinkState =
	| "open"
	/** Accepts connections and bytes, and passes nothing on, silently. */
	| "silent"
	/** Refuses connections, and closes existing ones. */
	| "cut";

export interface FaultProxy {
	readonly port: number;
	readonly url: string;
	/** The delay of each piece. */
	delayMs: number;
	/** The most bytes passed on at a time; the rest follows piece by piece. */
	pieceBytes: number;
	set(state: LinkState): Promise<void>;
	/** Closes every connection; new ones are accepted. */
	cut(): void;
	connections(): number;
	/** How many bytes were not passed on. */
	swallowed(): number;
	close(): Promise<void>;
}

export async function createFaultProxy(target: string): Promise<FaultProxy> {
	const { hostname, port } = new URL(target);
	const pairs = new Set<readonly [Socket, Socket]>();
	let state: LinkState = "open";
	let swallowed = 0;
	const proxy = { delayMs: 0, pieceBytes: Number.POSITIVE_INFINITY };

	/** Reads the state for each piece, so that a change applies at once. */
	const line = () =>
		new Transform({
			transform(chunk: Buffer, _encoding, done) {
				const pass = (from: number) => {
					if (state === "silent") {
						swallowed += chunk.length - from;
						return done();
					}
					if (from >= chunk.length) return done();
					this.push(chunk.subarray(from, from + proxy.pieceBytes));
					const next = () => pass(from + proxy.pieceBytes);
					if (proxy.delayMs > 0) setTimeout(next, proxy.delayMs).unref();
					else setImmediate(next);
				};
				if (proxy.delayMs > 0) setTimeout(() => pass(0), proxy.delayMs).unref();
				else pass(0);
			},
		});
	const server = createServer((near) => {
		const far = connect(Number(port), hostname);
		const pair = [near, far] as const;
		pairs.add(pair);
		const end = () => {
			pairs.delete(pair);
			near.destroy();
			far.destroy();
		};
		for (const socket of pair) socket.on("error", end).on("close", end).setNoDelay();
		near.pipe(line()).pipe(far);
		far.pipe(line()).pipe(near);
	});
	/** Someone else may use the port for a moment. */
	const listen = (at: number) =>
		new Promise<void>((resolve) => {
			const again = () => setImmediate(() => server.listen(at, "127.0.0.1"));
			server.on("error", again);
			server.once("listening", () => {
				server.off("error", again);
				resolve();
			});
			server.listen(at, "127.0.0.1");
		});
	await listen(0);
	const cut = () => {
		for (const [near, far] of pairs) {
			near.destroy();
			far.destroy();
		}
	};
	const closeServer = async () => {
		const closed = new Promise<void>((resolve) => server.close(() => resolve()));
		cut();
		await closed;
	};
	const own = (server.address() as AddressInfo).port;
	return Object.assign(proxy, {
		port: own,
		url: `http://127.0.0.1:${own}`,
		set: async (next: LinkState) => {
			state = next;
			if (state === "cut") await closeServer();
			else if (!server.listening) await listen(own);
		},
		cut,
		connections: () => pairs.size,
		swallowed: () => swallowed,
		close: closeServer,
	});
}
