// A small load balancer: passes each connection on to the first gateway that accepts it, in an order the test may change.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
	readonly url: string;
	/** Ports of gateways, in the order they are tried. For new connections only. */
	order: readonly number[];
	close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
	const sockets = new Set<Socket>();
	const server = createServer((near) => {
		kept(near);
		void first(balancer.order).then((far) => {
			if (!far || near.destroyed) {
				near.destroy();
				far?.destroy();
				return;
			}
			kept(far);
			near.pipe(far).pipe(near);
			near.on("close", () => far.destroy());
			far.on("close", () => near.destroy());
		});
	});
	const kept = (socket: Socket) => {
		sockets.add(socket);
		socket.on("error", () => {}).on("close", () => sockets.delete(socket));
	};
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const balancer: Balancer = {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		order: [],
		close: async () => {
			server.close();
			for (const socket of sockets) socket.destroy();
			await once(server, "close");
		},
	};
	return balancer;
}

/** Null: nobody accepts it. */
async function first(ports: readonly number[]): Promise<Socket | null> {
	for (const port of ports) {
		const socket = connect(port, "127.0.0.1");
		const taken = await new Promise<boolean>((resolve) => {
			socket.once("connect", () => resolve(true));
			socket.once("error", () => resolve(false));
		});
		if (taken) return socket;
	}
	return null;
}
