// A change of config.yaml reaches a gateway that runs, and its operator hears what came of it.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { followConfig } from "../src/app/follow-config.ts";
import { createGateway, systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, type StoreEvent, systemIds } from "../src/store/index.ts";
import { createScriptedAgent, createVirtualClock } from "../src/testing/index.ts";
import { createTools } from "../src/tools/index.ts";
import { configOf } from "./gateway/support.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

test("a good change is in force and told by its keys; a bad one, or one that loses a section, is told and changes nothing", async () => {
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
	const clock = createVirtualClock(0);
	const write = async (yaml: string) => {
		writeFileSync(join(home, "draft"), yaml);
		renameSync(join(home, "draft"), join(home, "config.yaml"));
		await expect.poll(() => clock.pendingTimers().length, { interval: 1 }).toBeGreaterThan(0);
		await clock.advance(50);
	};
	writeFileSync(join(home, "config.yaml"), "gateway: { batch_ms: 0 }\n");
	const output = { warn: (text: string) => warnings.push(text) };
	const following = followConfig({ home, env: {}, gateway, secrets: store.secrets, clock, output });
	ends.push(() => following.close());
	await clock.advance(1000);

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
	await write(
		"gateway: { batch_ms: 0, max_turns: 5 }\nhttp: { port: 4712 }\nworkspace: { root: /sk-not-a-value }\n",
	);
	const [changed] = await told(2);
	expect(changed).toMatchObject({
		type: "config.changed",
		facts: {
			keys: ["workspace.root", "gateway.max_turns", "http.port"],
			restart: ["workspace.root", "http.port"],
		},
	});
	expect(JSON.stringify(changed)).not.toContain("not-a-value");
	expect(warnings).toEqual(["config.yaml: workspace.root, http.port takes effect after a restart"]);
	await write("gateway:\n  max_turns: many\n");
	const [refused] = await told(3);
	expect(refused).toMatchObject({ type: "config.refused", facts: { key: "gateway.max_turns", line: 2 } });
	expect(warnings[1]).toMatch(
		/was not accepted, so the last good version stays in use: .*config\.yaml:2:14: gateway\.max_turns/,
	);
	await write("approvals: { mode: readonly }\n");
	await told(4);
	await write("gateway: { max_turns: 7 }\n");
	const [held] = await told(5);
	expect(held).toMatchObject({ type: "config.held", facts: { sections: ["approvals"] } });
	expect(warnings.at(-1)).toContain("config.yaml no longer has approvals: this takes effect in 5 seconds");
	expect(following.current()?.values.approvals.mode).toBe("readonly");
	await clock.advance(5000);
	const [lost] = await told(6);
	expect(lost).toMatchObject({
		type: "config.changed",
		facts: { keys: expect.arrayContaining(["approvals.mode"]) },
	});
	expect(following.current()?.values.approvals.mode).toBe("manual");
});
