// What hiding secrets costs a durable round: the time of the processor that it takes, of all that the round takes. Compared in time of
// the processor, since rounds per second differ by more than this from one minute to the next.
import { join } from "node:path";
import {
	createSecrets,
	NO_SECRETS,
	openEngine,
	storeOn,
	systemClock,
	systemIds,
} from "../src/store/index.ts";
import { atMost, measured, median, type Row } from "./harness.ts";
import { KeryxRounds, LANES } from "./store-rounds.ts";

const SECRETS = 10;
const SHARE = 0.03;
const ROUNDS_MS = 1500;
const SAMPLES = 5;
/** So many rounds are hidden for one measurement. */
const REPEATS = 20;

export async function hidingRows(folder: string): Promise<Row[]> {
	const engine = await openEngine({ url: `sqlite:${join(folder, "hiding.db")}`, clock: systemClock });
	/** What the operations of the last rounds were given. */
	let given: unknown[] = [];
	const noting = <Args extends [name: never, args: unknown, ...rest: never[]], Answer>(
		ask: (...args: Args) => Answer,
	) => {
		return (...args: Args): Answer => {
			given.push(args[1]);
			return ask(...args);
		};
	};
	const noted = {
		epoch: engine.epoch,
		write: noting((...args: Parameters<typeof engine.write>) => engine.write(...args)),
		read: noting((...args: Parameters<typeof engine.read>) => engine.read(...args)),
		onCommit: (listener: () => void) => engine.onCommit(listener),
		close: () => engine.close(),
	};
	const store = storeOn(noted, {
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	const rounds = new KeryxRounds(store);
	const secrets = createSecrets(new Map(Array.from({ length: SECRETS }, (_, n) => [`KEY_${n}`, keyOf(n)])));
	const among = (lane: number) => lane + LANES * Math.floor(Math.random() * 10);
	const samples: { round: number; hiding: number }[] = [];
	for (let sample = 0; sample <= SAMPLES; sample++) {
		given = [];
		const began = cpuMs();
		const count = (await rounds.rate(among, ROUNDS_MS)) * (ROUNDS_MS / 1000);
		const round = (cpuMs() - began) / count;
		const hidingBegan = cpuMs();
		for (let n = 0; n < REPEATS; n++) for (const args of given) secrets.hideIn(args);
		const hiding = (cpuMs() - hidingBegan) / REPEATS / count;
		// The first warms up.
		if (sample > 0) samples.push({ round, hiding });
	}
	await store.close();
	return [
		measured("a durable round", 1000 * median(samples.map(({ round }) => round)), "us of the processor"),
		measured(
			`hiding ${SECRETS} secrets in it`,
			1000 * median(samples.map(({ hiding }) => hiding)),
			"us of the processor",
		),
		atMost(
			SHARE,
			measured(
				`hiding ${SECRETS} secrets to a durable round`,
				median(samples.map(({ round, hiding }) => hiding / round)),
				"of the round",
			),
		),
	];
}

/** As providers make them. */
function keyOf(n: number): string {
	const bytes = Buffer.from(`kEy/vAlUe+0123456789${n.toString(36).repeat(8)}`);
	return `sk-proj-${bytes.toString("base64url")}`;
}

function cpuMs(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}
