// A gateway in a process of its own, on a platform that the test holds. It kills itself at the write it is told to.
import "../support/keep-compiled.ts";
import { writeSync } from "node:fs";
import { createGateway, type Gateway, sendTool, systemClock } from "../../src/gateway/index.ts";
import { type Engine, NO_SECRETS, systemIds } from "../../src/store/index.ts";
import { storeOn } from "../../src/store/store.ts";
import { connectScriptedChannel, killingEngine } from "../../src/testing/index.ts";
import { clarify, createTools } from "../../src/tools/index.ts";
import { openAt } from "../support/store-url.ts";
import { agentOf, type Orders } from "./lives.ts";
import { AUDIT_KEY, configOf, confirmationsOn, dangerOnFile, effectOnFile } from "./support.ts";

const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const {
	url,
	address,
	effects,
	config,
	channel,
	killAt = 0,
	killOn,
	when = "before",
	everyWrite = false,
} = orders;

const HOUSEKEEPING: ReadonlySet<string> = new Set([
	"expireBlobs",
	"pruneEvents",
	"pruneRefused",
	"expireConfirmations",
]);
const FILLS_OUTBOX: ReadonlySet<string> = new Set(["endTurn", "answerCommand", "endItems", "openDelivery"]);

try {
	const engine = await openAt(url, systemClock.now(), AUDIT_KEY);
	const onWrite = (n: number, name: string) => say(1, `${n} ${name}\n`);
	const killing = killingEngine(engine, { at: killOn === undefined ? killAt : 0, when, onWrite });
	const counted = everyWrite ? killing : withoutEmpty(engine, killing);
	const store = storeOn(killOn === undefined ? counted : onlyOn(killOn, killing), {
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	const confirmations = confirmationsOn(store, systemClock, configOf(config));
	const sends = sendTool({ sending: () => gateway.sending, workspaceOf: () => "/nowhere", limit: () => 0 });
	const gateway: Gateway = createGateway({
		store,
		confirmations,
		// Told like a write: a pause leaves no other trace.
		agent: agentOf(orders, () => say(1, "0 pause\n")),
		tools: createTools([effectOnFile(effects), dangerOnFile(effects), clarify, sends]),
		channels: [
			connectScriptedChannel({
				address,
				platform: "telegram",
				clock: systemClock,
				reconnectMs: 20,
				...channel,
			}),
		],
		config: configOf(config),
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
		log: (message, error) => say(2, `${message}: ${String(error)}\n`),
	});
	await gateway.start();
	confirmations.start();
	say(1, "started\n");
	setInterval(() => {}, 1 << 30);
} catch (error) {
	say(1, `refused ${JSON.stringify(error)}\n`);
	process.exitCode = 1;
}

/** Ends at a write of that name. */
function onlyOn(wanted: string, engine: Engine): Engine {
	const killing = killingEngine(engine, { at: killAt, when });
	return {
		...engine,
		write: (name, args, drawn) => (name === wanted ? killing : engine).write(name, args, drawn),
	};
}

/** Leaves out writes that find nothing to write: housekeeping of a new store, and claims before there is anything to send. */
function withoutEmpty(engine: Engine, killing: Engine): Engine {
	let deliveries = false;
	return {
		...killing,
		write: (name, args, drawn) => {
			if (FILLS_OUTBOX.has(name)) deliveries = true;
			const empty = HOUSEKEEPING.has(name) || (name === "claimDeliveries" && !deliveries);
			return (empty ? engine : killing).write(name, args, drawn);
		},
	};
}

/** Written before the next thing happens, since that may be death. A pipe that is full for a moment is waited for. */
function say(fd: 1 | 2, text: string): void {
	for (;;)
		try {
			writeSync(fd, text);
			return;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
		}
}
