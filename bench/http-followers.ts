// What followers of the events cost those who send: the rate of messages with many followers, some of which have hung, against the
// rate without any. The two take turns, so that what else the machine does falls on both.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { atLeast, measured, median, type Row } from "./harness.ts";
import type { BenchServer } from "./http.ts";
import type { Usage } from "./http-server.ts";

const LISTENERS = fileURLToPath(new URL("./http-listeners.ts", import.meta.url));
const READERS = 50;
const HUNG = 5;
const SAMPLES = 5;
const BAR = 0.8;

export async function besideFollowers(
	server: BenchServer,
	send: (server: BenchServer) => Promise<number>,
): Promise<Row[]> {
	await send(server);
	const alone: Sample[] = [];
	const followed: (Sample & { readonly bytes: number })[] = [];
	for (let n = 0; n < SAMPLES; n++) {
		alone.push(await sample(server, send));
		followed.push(await besides(server, send));
	}
	const what = `inbound messages with ${READERS} followers and ${HUNG} hung ones`;
	const share = (of: (sample: Sample) => number) =>
		median(followed.map((one, n) => of(one) / of(alone[n] as Sample)));
	return [
		measured("inbound messages without followers", median(alone.map((s) => s.rate)), "requests/s"),
		measured(what, median(followed.map((s) => s.rate)), "requests/s"),
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
}

async function sample(
	server: BenchServer,
	send: (server: BenchServer) => Promise<number>,
): Promise<Sample & { readonly sent: number }> {
	const before = await usageOf(server);
	const began = performance.now();
	const rate = await send(server);
	const sent = (rate * (performance.now() - began)) / 1000;
	return { rate, sent, cpu: ((await usageOf(server)).cpu - before.cpu) / sent };
}

export async function usageOf({ process }: BenchServer): Promise<Usage> {
	process.send({});
	const [usage] = (await once(process, "message")) as [Usage];
	return usage;
}

async function besides(
	server: BenchServer,
	send: (server: BenchServer) => Promise<number>,
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
		const taken = await sample(server, send);
		return { ...taken, bytes: (await read()) / READERS / taken.sent };
	} finally {
		listeners.kill("SIGKILL");
		await once(listeners, "close");
	}
}
