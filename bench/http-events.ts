// Many followers of the events over HTTP, in this process, and how late each hears of what was committed in the server's.
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { BenchServer } from "./http.ts";

const MESSAGES = 60;
const WARM_UP = 10;
/** For the rest of a turn's events, which are followed, too. */
const PAUSE_MS = 50;
/** Turns of an earlier load have ended when a follower hears nothing for so long. */
const QUIET_MS = 1000;

export async function fanOut(
	server: BenchServer,
	followers: number,
): Promise<{ readonly p50: number; readonly p95: number }> {
	const agent = new Agent({ keepAlive: true });
	await nothingHappens(server, agent);
	const heard = new Heard();
	const streams = await Promise.all(
		Array.from({ length: followers }, () => follow(server, agent, (subject) => heard.tell(subject))),
	);
	const latencies: number[] = [];
	for (let n = 0; n < MESSAGES + WARM_UP; n++) {
		server.process.send({ say: `aloud ${n}` });
		const [{ said, committed }] = (await once(server.process, "message")) as [Said];
		const times = await heard.all(String(said), followers);
		if (n >= WARM_UP) latencies.push(...times.map((at) => Number(at - BigInt(committed)) / 1e6));
		await delay(PAUSE_MS);
	}
	for (const stream of streams) stream.destroy();
	agent.destroy();
	latencies.sort((a, b) => a - b);
	const part = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
	return { p50: part(0.5), p95: part(0.95) };
}

async function nothingHappens(server: BenchServer, agent: Agent): Promise<void> {
	const stream = await follow(server, agent, () => {});
	await new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, QUIET_MS);
		stream.on("data", () => timer.refresh());
	});
	stream.destroy();
}

interface Said {
	readonly said: number;
	/** Of a clock that all processes of this machine share, in nanoseconds. */
	readonly committed: string;
}

/** When each follower heard of a message, by its number. */
class Heard {
	readonly #times = new Map<string, bigint[]>();
	#waiting: { readonly subject: string; readonly count: number; readonly resolve: () => void } | null = null;

	tell(subject: string): void {
		const times = this.#times.get(subject) ?? [];
		this.#times.set(subject, times);
		times.push(process.hrtime.bigint());
		if (this.#waiting?.subject === subject && times.length >= this.#waiting.count) this.#waiting.resolve();
	}

	async all(subject: string, count: number): Promise<readonly bigint[]> {
		if ((this.#times.get(subject)?.length ?? 0) < count)
			await new Promise<void>((resolve) => {
				this.#waiting = { subject, count, resolve };
			});
		return this.#times.get(subject) ?? [];
	}
}

const ACCEPTED = /^event: inbound\.accepted\n(?:.*\n)*?data: .*"subject":"(\d+)"/gm;

/** Resolves when it follows: the first frame says from where on. */
async function follow(
	{ port, secret }: BenchServer,
	agent: Agent,
	tell: (subject: string) => void,
): Promise<IncomingMessage> {
	const headers = { authorization: `Bearer ${secret}` };
	const [stream] = (await once(
		get({ agent, host: "127.0.0.1", port, path: "/events", headers }),
		"response",
	)) as [IncomingMessage];
	stream.setEncoding("utf8");
	stream.on("error", () => {});
	await new Promise<void>((resolve) => {
		let rest = "";
		stream.on("data", (text: string) => {
			rest += text;
			const end = rest.lastIndexOf("\n\n") + 2;
			if (end < 2) return;
			const frames = rest.slice(0, end);
			rest = rest.slice(end);
			if (frames.includes("event: hello\n")) resolve();
			for (const [, subject = ""] of frames.matchAll(ACCEPTED)) tell(subject);
		});
	});
	return stream;
}
