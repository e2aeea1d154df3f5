// A change of config.yaml reaches a gateway that runs, and its operator hears what came of it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { followConfig } from "../src/cli/follow-config.ts";
import { createGateway, systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, type StoreEvent, systemIds } from "../src/store/index.ts";
import { createScriptedAgent } from "../src/testing/index.ts";
import { createTools } from "../src/tools/index.ts";
import { configOf } from "./gateway/support.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

test("a good change is in force and told by its keys, a bad one is told by its line and changes nothing", async () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-follow-"));
	ends.push(() => rmSync(home, { recursive: true, force: true }));
	const store = await openStore({
		url: "sqlite::memory:",
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
	});
	ends.push(() => store.close());
	const gateway = createGateway({
		store,
		agent: createScriptedAgent({ script: {}, clock: systemClock }),
		tools: createTools([]),
		channels: [],
		config: configOf(),
		clock: systemClock,
		pseudonymKey: new Uint8Array(32),
	});
	await gateway.start();
	ends.push(() => gateway.stop());
	const warnings: string[] = [];
	const write = (yaml: string) => writeFileSync(join(home, "config.yaml"), yaml);
	write("gateway: { batch_ms: 0 }\n");
	const following = followConfig({
		home,
		env: {},
		gateway,
		secrets: store.secrets,
		output: { warn: (text) => warnings.push(text) },
	});
	ends.push(() => following.close());

	const told = async (count: number): Promise<StoreEvent[]> => {
		for (;;) {
			const committed = new Promise<void>((resolve) => {
				const unlisten = store.onCommit(() => {
					unlisten();
					resolve();
				});
			});
			const page = await store.events({ scope: { kind: "operator" }, after: "", limit: 100 });
			const found = page.kind === "events" ? page.events : [];
			const about = found.filter(({ type }) => type.startsWith("config."));
			if (about.length >= count) return about.slice(count - 1);
			await committed;
		}
	};
	await told(1);
	write("gateway: { batch_ms: 0, max_turns: 5 }\nagent: { kind: scripted, script: sk-not-a-value.yaml }\n");
	const [changed] = await told(2);
	expect(changed).toMatchObject({
		type: "config.changed",
		facts: {
			keys: ["agent.kind", "agent.script", "gateway.max_turns"],
			restart: ["agent.kind", "agent.script"],
		},
	});
	expect(JSON.stringify(changed)).not.toContain("not-a-value");
	expect(warnings).toEqual(["config.yaml: agent.kind, agent.script will hold after a restart"]);
	write("gateway:\n  max_turns: many\n");
	const [refused] = await told(3);
	expect(refused).toMatchObject({ type: "config.refused", facts: { key: "gateway.max_turns", line: 2 } });
	expect(warnings[1]).toMatch(
		/was not taken, the last good one stays: .*config\.yaml:2:14: gateway\.max_turns/,
	);
});
