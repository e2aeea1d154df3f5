// The API over a port, beside a bare Hono app that does the least that could be called the same; the two take turns, so that what else
// the machine does falls on both. Then events: how long from the commit until each of many followers has it.
import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../src/store/index.ts";
import { addConversations } from "./gateway-data.ts";
import { atLeast, atMost, measured, median, type Row } from "./harness.ts";
import { fanOut } from "./http-events.ts";
import { besideFollowers } from "./http-followers.ts";

const SERVER = fileURLToPath(new URL("./http-server.ts", import.meta.url));
const CONVERSATIONS = 10_000;
const CHATS = 64;
const CONNECTIONS = 32;
const SAMPLES = 5;
const SAMPLE_SECONDS = 3;
const LIST_BAR = 0.35;
const INBOUND_BAR = 0.35;
const FOLLOWERS = 200;
const FAN_OUT_BAR_MS = 100;

export interface BenchServer {
	readonly process: ChildProcess;
	readonly port: number;
	readonly secret: string;
	/** A link that logs a browser in; Keryx has one. */
	readonly login: string;
}

export async function measureHttp(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-bench-"));
	const secret = randomBytes(32).toString("base64url");
	await makeStore(folder);
	const bare = await startServer("bare", folder, secret);
	const keryx = await startServer("keryx", folder, secret);
	try {
		const lists = await beside(bare, keryx, list);
		const inbound = await beside(bare, keryx, send);
		const followed = await besideFollowers(keryx, send);
		const { p50, p95 } = await fanOut(keryx, FOLLOWERS);
		const followers = `from commit to each of ${FOLLOWERS} followers`;
		return [
			...rowsOf(`list of 50 among ${CONVERSATIONS.toLocaleString("en")} conversations`, lists, LIST_BAR),
			...rowsOf("inbound message, durable", inbound, INBOUND_BAR),
			...followed,
			measured(`event, ${followers}, p50`, p50, "ms"),
			atMost(FAN_OUT_BAR_MS, measured(`event, ${followers}, p95`, p95, "ms")),
		];
	} finally {
		for (const { process } of [bare, keryx]) {
			process.kill("SIGKILL");
			await once(process, "close");
		}
		rmSync(folder, { recursive: true, force: true });
	}
}

export async function makeStore(folder: string): Promise<void> {
	const path = join(folder, "keryx.db");
	await (
		await openStore({
			url: `sqlite:${path}`,
			clock: systemClock,
			ids: systemIds(systemClock),
			secrets: NO_SECRETS,
		})
	).close();
	addConversations(path, CONVERSATIONS);
	copyFileSync(path, join(folder, "copy.db"));
}

export async function startServer(
	which: "bare" | "keryx",
	folder: string,
	secret: string,
): Promise<BenchServer> {
	const child = fork(SERVER, [which, folder, secret], {
		execArgv: ["--disable-warning=ExperimentalWarning"],
		stdio: ["ignore", "inherit", "inherit", "ipc"],
	});
	const { port, login = "" } = await new Promise<{ port: number; login?: string }>((resolve, reject) => {
		child.once("message", (said) => resolve(said as { port: number; login?: string }));
		child.once("exit", (code) => reject(new Error(`the server ${which} ended with ${code}`)));
	});
	return { process: child, port, secret, login };
}

interface Rates {
	readonly bare: number;
	readonly keryx: number;
}

async function beside(
	bare: BenchServer,
	keryx: BenchServer,
	work: (server: BenchServer) => Promise<number>,
): Promise<Rates[]> {
	await work(bare);
	await work(keryx);
	const samples: Rates[] = [];
	for (let n = 0; n < SAMPLES; n++) samples.push({ bare: await work(bare), keryx: await work(keryx) });
	return samples;
}

function rowsOf(what: string, samples: readonly Rates[], bar: number): Row[] {
	return [
		measured(`${what}: bare Hono and better-sqlite3`, median(samples.map((s) => s.bare)), "requests/s"),
		measured(`${what}: Keryx`, median(samples.map((s) => s.keryx)), "requests/s"),
		atLeast(bar, measured(`${what}: Keryx to bare`, median(samples.map((s) => s.keryx / s.bare)), "ratio")),
	];
}

function list(server: BenchServer): Promise<number> {
	return perSecond(server, [{ method: "GET", path: "/api/conversations" }]);
}

let sent = 0;

function send(server: BenchServer): Promise<number> {
	return perSecond(server, [
		{
			method: "POST",
			path: "/api/inbound",
			headers: { "content-type": "application/json" },
			setupRequest: (shot) => {
				const chat = `chat ${++sent % CHATS}`;
				const source = { platform: "api_server", chat_id: chat, chat_type: "dm", user_id: chat };
				return { ...shot, body: JSON.stringify({ text: "hello", client_message_id: `m${sent}`, source }) };
			},
		},
	]);
}

/** Answered well, per second; anything else ends the bench. */
async function perSecond(
	{ port, secret }: BenchServer,
	requests: NonNullable<Parameters<typeof autocannon>[0]["requests"]>,
): Promise<number> {
	const {
		"2xx": good,
		non2xx,
		errors,
		timeouts,
		duration,
	} = await autocannon({
		url: `http://127.0.0.1:${port}`,
		connections: CONNECTIONS,
		duration: SAMPLE_SECONDS,
		headers: { authorization: `Bearer ${secret}` },
		requests,
	});
	if (non2xx + errors + timeouts > 0)
		throw new Error(`${requests[0]?.path}: ${non2xx} refused, ${errors + timeouts} failed`);
	return good / duration;
}
