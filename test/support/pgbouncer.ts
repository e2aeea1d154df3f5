// A PgBouncer in front of the tests' PostgreSQL server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { serverUser } from "./postgres-server.ts";

export interface PgBouncer {
	readonly url: string;
	stop(): Promise<void>;
}

export async function startPgBouncer(
	serverPort: number,
	mode: "transaction" | "session",
): Promise<PgBouncer> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-pooler-"));
	chmodSync(folder, 0o755);
	const port = await freePort();
	const file = join(folder, "pgbouncer.ini");
	writeFileSync(
		file,
		`[databases]
postgres = host=127.0.0.1 port=${serverPort} dbname=postgres user=keryx
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = extra_float_digits
`,
	);
	const child = spawn("/usr/sbin/pgbouncer", [file], {
		...serverUser(),
		cwd: folder,
		stdio: ["ignore", "ignore", "pipe"],
	});
	let said = "";
	child.stderr.on("data", (data) => (said += data));
	while (!(await answers(port)))
		if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${said}`);
	return {
		url: `postgres://keryx@127.0.0.1:${port}/postgres?schema=pooled`,
		stop: async () => {
			const ended = once(child, "exit");
			child.kill("SIGKILL");
			await ended;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

function answers(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect(port, "127.0.0.1", () => {
			socket.destroy();
			resolve(true);
		});
		socket.on("error", () => resolve(false));
	});
}
