// A secret that the configuration names while Keryx runs: put into commands and hidden from the same moment on.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { calls, says } from "../support/model-server.ts";
import { eventually } from "../support/soon.ts";
import { formsOf, traceOf } from "./traces.ts";
import { WatchedKeryx } from "./watched-keryx.ts";

const LATE = "late-Sécret/42+x";
const LATER = "later-still-9/Q_z";
const keryx = new WatchedKeryx({ LATE, LATER, MODEL_KEY: "sk-model-key-1" });
beforeAll(() => keryx.start({ agent: { api_key_env: "MODEL_KEY" } }));
afterAll(() => keryx.end());

const config = () => JSON.parse(readFileSync(join(keryx.home, "config.yaml"), "utf8"));
const traces = (secret: string) => [
	...keryx.heard.map(({ text }) => traceOf([secret], text)),
	...keryx.files().map((file) => traceOf([secret], readFileSync(file))),
	traceOf([secret], keryx.printed.join("\n")),
];

test("it is hidden from the moment that it is read, whoever reads it, and is put into commands without a restart", async () => {
	await keryx.talk("before");
	keryx.write({ ...config(), secrets: ["LATE"] });
	// Looking at the configuration reads it.
	await keryx.ask("GET", "/api/config");
	await keryx.talk(Object.values(formsOf(LATE)).join(" ; "), [says(LATE)]);
	expect(traces(LATE).filter((trace) => trace !== null)).toEqual([]);
	const changed = async () => {
		const { events } = (await keryx.ask("GET", "/api/events?after=")).body as {
			events: { type: string; facts: object }[];
		};
		expect(events.filter(({ type }) => type === "config.changed").at(-1)?.facts).toMatchObject({
			keys: ["secrets"],
			restart: [],
		});
	};
	await eventually(changed);
	const args = JSON.stringify({
		command: "printf %s \u0024{secret:LATE} | wc -c; printf %s \u0024{secret:LATE}",
	});
	const { conversation } = await keryx.talk("run", [
		calls({ id: "run", name: "terminal", args }),
		says("done"),
	]);
	const result = (await keryx.rows(conversation)).find(({ tool_call_id: id }) => id === "run");
	expect(JSON.parse(String(result?.content))).toMatchObject({
		output: `${Buffer.byteLength(LATE)}\n\u0024{secret:LATE}`,
	});
	expect(traces(LATE).filter((trace) => trace !== null)).toEqual([]);
});

test("it is hidden also where the rest of the configuration is wrong and not taken", async () => {
	keryx.write({ ...config(), secrets: ["LATE", "LATER"], nonsense: LATER });
	const refused = () => expect(keryx.printed.join()).toContain("was not accepted");
	await eventually(refused);
	await keryx.talk(LATER, [says(LATER)]);
	expect(traces(LATER).filter((trace) => trace !== null)).toEqual([]);
});
