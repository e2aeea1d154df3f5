// Followers of the events over plain sockets, in a process of their own, so that what they do costs the measuring one nothing. Some
// read everything and count it; the hung ones stop reading after the first frame. Ends when its parent does.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const [port = "", secret = "", readers = "", hung = ""] = process.argv.slice(2);
let bytes = 0;

await Promise.all([
	...Array.from({ length: Number(readers) }, () => follow()),
	...Array.from({ length: Number(hung) }, async () => (await follow()).pause()),
]);
process.on("message", () => process.send?.({ bytes }));
process.on("disconnect", () => process.exit());
process.send?.({ following: true });

/** Resolves with the first frame, which says from where on it follows. */
async function follow(): Promise<Socket> {
	const socket = connect(Number(port), "127.0.0.1");
	await once(socket, "connect");
	socket.write(`GET /events HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${secret}\r\n\r\n`);
	let said = "";
	await new Promise<void>((resolve) => {
		socket.on("data", (chunk: Buffer) => {
			bytes += chunk.length;
			if (said.includes("event: hello\n")) return;
			said += chunk.toString("latin1");
			if (said.includes("event: hello\n")) resolve();
		});
	});
	return socket;
}
