// The process host: `node main.js <home> <idle-ms>`. It outlives its starter, holds pipes and terminals, writes logs and waits for exits;
// it exits when idle for a while. It imports only Node and, for terminals, their binary: it may run for weeks.
// Never here: the store.
import { randomBytes } from "node:crypto";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { closeInherited } from "../../walls/index.ts";
import { hostPaths } from "../protocol.ts";
import { Connection } from "./connection.ts";
import { takeLock } from "./lock.ts";
import { ProcessTable } from "./table.ts";

const TOKEN_BYTES = 32;

function main(home: string, idleMs: number): void {
	// Descriptors of the starting program must not leak to programs started here.
	closeInherited();
	const paths = hostPaths(home);
	const lock = takeLock(paths.lock);
	// Another host exists or is just starting: our starter will find it.
	if (!lock) return;
	const token = Buffer.from(randomBytes(TOKEN_BYTES).toString("hex"));
	writeFileSync(`${paths.token}.new`, token, { mode: 0o600 });
	renameSync(`${paths.token}.new`, paths.token);
	rmSync(paths.socket, { force: true });

	const connections = new Set<Connection>();
	let leaving: NodeJS.Timeout | undefined;
	const look = () => {
		clearTimeout(leaving);
		if (connections.size > 0 || table.isBusy) return;
		leaving = setTimeout(() => {
			// Remove the socket file too: new clients start another host, which waits for the lock.
			server.close();
			lock.close();
			process.exit(0);
		}, idleMs);
	};
	const table = new ProcessTable(home, {
		onEnd: (ended) => {
			for (const connection of connections) connection.tellEnd(ended);
		},
		onChange: look,
	});
	const server = createServer((socket) => {
		const connection = new Connection({ socket, home, token, table });
		connections.add(connection);
		socket.on("close", () => {
			connections.delete(connection);
			look();
		});
		look();
	});
	listen(server, paths.socket, look);
	// A failure of one process must not affect the others.
	for (const event of ["uncaughtException", "unhandledRejection"])
		process.on(event, (error: unknown) => {
			process.stderr.write(
				`${new Date().toISOString()} ${error instanceof Error ? error.stack : String(error)}\n`,
			);
		});
}

function listen(server: Server, path: string, ready: () => void): void {
	server.once("error", (error) => {
		process.stderr.write(`${new Date().toISOString()} cannot listen on ${path}: ${error.message}\n`);
		process.exit(1);
	});
	server.listen(path, () => {
		chmodSync(path, 0o600);
		ready();
	});
}

const [home = "", idleMs = ""] = process.argv.slice(2);
main(home, Number(idleMs));
