// A channel's address on a port, behind a network that fails as told.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Channel, ChannelReply, ChannelRequest } from "../../src/gateway/index.ts";
import { createFaultProxy, type FaultProxy } from "../../src/testing/fault-proxy.ts";

export interface Received {
	/** Leads through the proxy. */
	readonly url: string;
	readonly proxy: FaultProxy;
	/** What was answered, in order. */
	readonly replies: ChannelReply["kind"][];
	close(): Promise<void>;
}

const STATUS = { taken: 200, refused: 401, later: 503 } as const;

export async function receiving(channel: Pick<Channel, "receive">): Promise<Received> {
	const replies: ChannelReply["kind"][] = [];
	const server = await serveChannel(channel, 0, (kind) => replies.push(kind));
	const proxy = await createFaultProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	return {
		url: proxy.url,
		proxy,
		replies,
		close: async () => {
			await proxy.close();
			server.closeAllConnections();
			await new Promise((done) => server.close(done));
		},
	};
}

/** Hands each request to the channel; 0 is any port. */
export async function serveChannel(
	{ receive }: Pick<Channel, "receive">,
	port: number,
	onReply: (kind: ChannelReply["kind"]) => void = () => {},
): Promise<Server> {
	const server = createServer((request, response) => {
		const asked: ChannelRequest = {
			header: (name) => request.headers[name] as string | undefined,
			body: () => buffer(request),
		};
		void (receive?.(asked) ?? Promise.resolve<ChannelReply>({ kind: "refused" })).then(
			(reply) => {
				onReply(reply.kind);
				response.writeHead(STATUS[reply.kind]).end("text" in reply ? reply.text : "");
			},
			() => response.destroy(),
		);
	});
	await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
	return server;
}
