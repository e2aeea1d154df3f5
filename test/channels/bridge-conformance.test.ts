// The example of a bridge program, as a separate program over HTTP, through the suite that every channel runs.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { describe, test } from "vitest";
import { createPlatforms } from "../../src/domain/index.ts";
import { serveBridge } from "../../src/http/index.ts";
import { PAUSE_MS, testChannel } from "../../src/testing/index.ts";
import { createCarrier } from "../peers/carrier/index.ts";

const LIMIT = 4000;
const NONE = {
	attachments: false,
	buttons: false,
	typing: false,
	threads: false,
	idempotentSend: false,
	drafts: false,
};
const traits = {
	...createPlatforms().traits("carrier"),
	messageLimit: { max: LIMIT, unit: "utf16" },
	shows: { ...NONE, edit: true, lookup: true },
} as const;

const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
	"a bridge in Python": ["python3", "-u", "examples/bridge/bridge.py"],
	"a bridge in TypeScript": [process.execPath, "examples/bridge/bridge.ts"],
};

for (const [title, command] of Object.entries(PROGRAMS))
	testChannel(
		title,
		async () => {
			const carrier = await createCarrier({ limit: LIMIT, pauseSeconds: PAUSE_MS / 1000 });
			const bridge = await serveBridge({ name: "carrier", traits });
			const program = start(command, {
				CARRIER_URL: carrier.url,
				KERYX_URL: bridge.url,
				KERYX_CHANNEL: "carrier",
				KERYX_TOKEN: bridge.token,
			});
			return {
				channel: bridge.channel,
				destination: { platform: "carrier", account: "", chatId: "ann" },
				say: (text) => carrier.say("ann", text),
				edit: carrier.edit,
				redeliver: carrier.redeliver,
				disconnect: carrier.disconnect,
				acknowledged: () =>
					carrier.updates.filter(({ offset }) => offset <= carrier.taken).map(({ id }) => id),
				visible: () => carrier.messages,
				requests: () => carrier.requests,
				next: carrier.next,
				pass: () => setTimeout(5),
				close: async () => {
					program.kill("SIGKILL");
					await once(program, "exit");
					await carrier.close();
					await bridge.close();
				},
			};
		},
		{ describe, test },
	);

function start(
	[program, ...args]: readonly [string, ...string[]],
	env: Readonly<Record<string, string>>,
): ChildProcess {
	return spawn(program, args, { env: { ...process.env, ...env }, stdio: "ignore" });
}
