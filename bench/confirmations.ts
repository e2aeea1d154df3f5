// Submit, approve and status over HTTP, durable, beside a bare handler that does one insert and one update. The two take turns, so
// that what else the machine does falls on both.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { atLeast, measured, median, type Row } from "./harness.ts";

const SERVER = fileURLToPath(new URL("./confirmations-server.ts", import.meta.url));
const AT_ONCE = 32;
const SAMPLE_MS = 2500;
const SAMPLES = 5;
const BAR = 0.6;

interface Server {
	readonly process: ChildProcess;
	readonly port: number;
	readonly agent: Agent;
	readonly asker: string;
	readonly approver: string;
}

export async function measureConfirmations(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const secret = randomBytes(32).toString("base64url");
	const bare = await start("bare", folder, secret);
	const keryx = await start("keryx", folder, secret);
	try {
		await rounds(bare, SAMPLE_MS);
		await rounds(keryx, SAMPLE_MS);
		const samples: { bare: number; keryx: number }[] = [];
		for (let n = 0; n < SAMPLES; n++)
			samples.push({ bare: await rounds(bare, SAMPLE_MS), keryx: await rounds(keryx, SAMPLE_MS) });
		return [
			measured(
				"bare Hono and better-sqlite3: submit, approve, status",
				median(samples.map((s) => s.bare)),
				"rounds/s",
			),
			measured("Keryx: submit, approve, status", median(samples.map((s) => s.keryx)), "rounds/s"),
			atLeast(BAR, measured("Keryx to bare", median(samples.map((s) => s.keryx / s.bare)), "ratio")),
		];
	} finally {
		for (const { process, agent } of [bare, keryx]) {
			agent.destroy();
			process.kill("SIGKILL");
			await once(process, "close");
		}
		rmSync(folder, { recursive: true, force: true });
	}
}

async function start(which: "bare" | "keryx", folder: string, secret: string): Promise<Server> {
	const child = spawn(
		process.execPath,
		["--disable-warning=ExperimentalWarning", SERVER, which, folder, secret],
		{
			stdio: ["ignore", "pipe", "inherit"],
		},
	);
	const [line] = (await once(child.stdout, "data")) as [Buffer];
	const port = Number(line.toString("utf8"));
	const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
	const server = { process: child, port, agent, asker: "", approver: secret };
	if (which === "bare") return server;
	const made = await call(server, "POST", "/api/tokens", { name: "robot", role: "agent" }, secret);
	return { ...server, asker: made.token as string };
}

/** Per second, so many at once. */
async function rounds(server: Server, ms: number): Promise<number> {
	const began = performance.now();
	let done = 0;
	const one = async (worker: number): Promise<void> => {
		while (performance.now() - began < ms) {
			const action = `deploy-${worker}-${done}`;
			const body = { action, description: "ship version 2", details: { version: 2, target: "eu-west" } };
			const { id } = await call(server, "POST", "/confirm", body, server.asker);
			await call(server, "POST", `/confirm/${String(id)}/approve`, { approver: "ada" }, server.approver);
			const { status } = await call(server, "GET", `/confirm/${String(id)}`, undefined, server.asker);
			if (status !== "approved") throw new Error(`confirmation ${String(id)} is ${String(status)}`);
			done++;
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => one(worker)));
	return (done / (performance.now() - began)) * 1000;
}

function call(
	{ port, agent }: Pick<Server, "port" | "agent">,
	method: string,
	path: string,
	body: object | undefined,
	bearer: string,
): Promise<Record<string, unknown>> {
	const text = body === undefined ? undefined : JSON.stringify(body);
	return new Promise((resolve, reject) => {
		const sent = request(
			{
				agent,
				host: "127.0.0.1",
				port,
				method,
				path,
				headers: {
					...(bearer && { authorization: `Bearer ${bearer}` }),
					...(text !== undefined && {
						"content-type": "application/json",
						"content-length": Buffer.byteLength(text),
					}),
				},
			},
			(response) => {
				const chunks: Buffer[] = [];
				response.on("data", (chunk: Buffer) => chunks.push(chunk));
				response.on("end", () => {
					const answer = Buffer.concat(chunks).toString("utf8");
					if ((response.statusCode ?? 500) >= 300)
						reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`));
					else resolve(JSON.parse(answer) as Record<string, unknown>);
				});
			},
		);
		sent.on("error", reject);
		sent.end(text);
	});
}
