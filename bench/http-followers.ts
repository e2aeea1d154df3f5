// What followers of the events cost those who send: the rate of messages with many followers, some of which have hung, against the
// rate without any. The two take turns, so that what else the machine does falls on both. Messages come faster than they are answered, so
// the time goes on until the last answer: otherwise the rate would be that of how many are left to the next sample.
import { fork } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { atLeast, measured, median, type Row } from "./harness.ts";
import type { BenchServer } from "./http.ts";
import type { Usage } from "./http-server.ts";

const LISTENERS = fileURLToPath(new URL("./http-listeners.ts", import.meta.url));
const READERS = 50;
const HUNG = 5;
const SAMPLES = 5;
const BAR = 0.8;
/** All messages are answered when no turn has ended for so long. */
const QUIET_MS = 500;

export async function besideFollowers(
	server: BenchServer,
	send: (server: BenchServer) => Promise<number>,
): Promise<Row[]> {
	const watch = await Watch.of(server);
	const work = async () => {
		await send(server);
		await watch.quiet();
	};
	await work();
	const alone: Sample[] = [];
	const followed: (Sample & { readonly bytes: number })[] = [];
	for (let n = 0; n < SAMPLES; n++) {
		alone.push(await sample(server, watch, work));
		followed.push(await besides(server, watch, work));
	}
	watch.end();
	const what = `inbound messages with ${READERS} followers and ${HUNG} hung ones`;
	const share = (of: (sample: Sample) => number) =>
		median(followed.map((one, n) => of(one) / of(alone[n] as Sample)));
	return [
		measured("inbound messages without followers, answered", median(alone.map((s) => s.rate)), "per second"),
		measured(`${what}, answered`, median(followed.map((s) => s.rate)), "per second"),
		measured("what each follower is sent", median(followed.map((s) => s.bytes)) / 1024, "KiB per message"),
		measured(`${what}: CPU of Keryx per message`, median(followed.map((s) => s.cpu)), "microseconds"),
		measured(
			`${what}: that CPU to the CPU without`,
			share(({ cpu }) => cpu),
			"ratio",
		),
		atLeast(
			BAR,
			measured(
				`${what}: to those without`,
				share(({ rate }) => rate),
				"ratio",
			),
		),
	];
}

interface Sample {
	/** Messages a second. */
	readonly rate: number;
	/** Of Keryx alone, per message. */
	readonly cpu: number;
	readonly sent: number;
}

async function sample(server: BenchServer, watch: Watch, work: () => Promise<void>): Promise<Sample> {
	const [before, began, { accepted }] = [await usageOf(server), performance.now(), watch];
	await work();
	const sent = watch.accepted - accepted;
	const rate = (sent / (watch.endedAt - began)) * 1000;
	return { rate, sent, cpu: ((await usageOf(server)).cpu - before.cpu) / sent };
}

/** Counts accepted messages, and knows when the last turn ended. */
class Watch {
	accepted = 0;
	endedAt = 0;
	readonly #stream: IncomingMessage;

	private constructor(stream: IncomingMessage) {
		this.#stream = stream;
		stream.setEncoding("utf8");
		stream.on("error", () => {});
		let rest = "";
		stream.on("data", (text: string) => {
			rest += text;
			const lines = rest.slice(0, rest.lastIndexOf("\n") + 1);
			rest = rest.slice(lines.length);
			for (const [, type] of lines.matchAll(/^event: (inbound\.accepted|turn\.ended)$/gm))
				if (type === "turn.ended") this.endedAt = performance.now();
				else this.accepted++;
		});
	}

	static async of({ port, secret }: BenchServer): Promise<Watch> {
		const path = "/events?types=inbound.accepted,turn.ended";
		const headers = { authorization: `Bearer ${secret}` };
		const [stream] = await once(get({ host: "127.0.0.1", port, path, headers }), "response");
		return new Watch(stream as IncomingMessage);
	}

	async quiet(): Promise<void> {
		for (;;) {
			const left = this.endedAt + QUIET_MS - performance.now();
			if (left <= 0) return;
			await delay(left);
		}
	}

	end(): void {
		this.#stream.destroy();
	}
}

export async function usageOf({ process }: BenchServer): Promise<Usage> {
	process.send({});
	const [usage] = (await once(process, "message")) as [Usage];
	return usage;
}

async function besides(
	server: BenchServer,
	watch: Watch,
	work: () => Promise<void>,
): Promise<Sample & { readonly bytes: number }> {
	const listeners = fork(LISTENERS, [server.port, server.secret, READERS, HUNG].map(String), {
		execArgv: ["--disable-warning=ExperimentalWarning"],
		stdio: ["ignore", "inherit", "inherit", "ipc"],
	});
	const read = async (): Promise<number> => {
		listeners.send("bytes");
		const [{ bytes }] = (await once(listeners, "message")) as [{ readonly bytes: number }];
		return bytes;
	};
	try {
		await once(listeners, "message");
		const taken = await sample(server, watch, work);
		return { ...taken, bytes: (await read()) / READERS / taken.sent };
	} finally {
		listeners.kill("SIGKILL");
		await once(listeners, "close");
	}
}
