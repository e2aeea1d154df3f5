// What a monitor reads: numbers that say what happened, and a dashboard that asks for numbers there are.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeryx } from "../../src/app/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { serveOnPort } from "../../src/http/index.ts";
import { createScriptedAgent } from "../../src/testing/index.ts";
import { type Served, serve, TERMINAL } from "./support.ts";

let keryx: Served;
beforeAll(async () => {
	keryx = await serve({
		rules: [{ when: "fail", steps: [{ fail: { kind: "provider_down" } }] }],
		otherwise: [{ text: "you said {{input}}" }],
	});
});
afterAll(() => keryx.close());

async function read(): Promise<Map<string, number>> {
	const response = await keryx.api.fetch(new Request("http://keryx/metrics"));
	const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
	return new Map(
		lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
	);
}

test("messages, what became of them, turns, deliveries and commits are counted", async () => {
	await keryx.api.startCounting();
	await keryx.say("good day");
	await keryx.say("fail");
	await keryx.say("/status");
	const now = await read();
	expect(now.get("keryx_inbound_accepted_total")).toBe(3);
	expect(now.get('keryx_dispositions_total{kind="answered"}')).toBe(1);
	expect(now.get('keryx_dispositions_total{kind="failed"}')).toBe(1);
	expect(now.get('keryx_dispositions_total{kind="command"}')).toBe(1);
	expect(now.get("keryx_turn_seconds_count")).toBe(2);
	expect(now.get('keryx_turn_seconds_bucket{le="+Inf"}')).toBe(2);
	expect(now.get("keryx_commit_seconds_count")).toBeGreaterThan(5);
	expect(now.get('keryx_channel_connected{channel="local"}')).toBe(1);
	for (const [name, value] of now) expect(Number.isFinite(value), name).toBe(true);
});

test("a Keryx counts from its start, before anybody asks for the numbers", async () => {
	const home = mkdtempSync(join(tmpdir(), "keryx-metrics-"));
	const agent = createScriptedAgent({ script: { otherwise: [{ text: "yes" }] }, clock: systemClock });
	let url = "";
	const whole = await createKeryx({
		home,
		env: { HOME: home, TZ: "UTC", XDG_DATA_HOME: join(home, "data") },
		config: {},
		agent,
		report: { note: () => {}, warn: () => {} },
		serve: async (api, ready) => {
			const served = await serveOnPort(api, { host: "127.0.0.1", port: 0 });
			url = `http://127.0.0.1:${served.port}`;
			await ready();
			return { ...served, url };
		},
	});
	try {
		await whole.start();
		const { id } = await whole.client.send({ text: "hello", client_message_id: "1", source: TERMINAL });
		await whole.client.inbound({ id, wait: 30 });
		const authorization = `Bearer ${readFileSync(join(home, "operator.secret"), "utf8").trim()}`;
		const text = await (await fetch(`${url}/metrics`, { headers: { authorization } })).text();
		expect(text).toMatch(/^keryx_inbound_accepted_total 1$/m);
		expect(text).toMatch(/^keryx_dispositions_total\{kind="answered"\} 1$/m);
		expect(text).not.toMatch(/^keryx_commit_seconds_count 0$/m);
	} finally {
		await whole.stop();
		rmSync(home, { recursive: true, force: true });
	}
});

test("buckets add up, and the largest holds them all", async () => {
	const now = await read();
	const buckets = [...now]
		.filter(([name]) => name.startsWith("keryx_commit_seconds_bucket"))
		.map(([, n]) => n);
	expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
	expect(buckets.at(-1)).toBe(now.get("keryx_commit_seconds_count"));
});

test("every query of the dashboard names a metric and labels that exist", async () => {
	const now = await read();
	const labelsOf = new Map<string, Set<string>>();
	for (const name of now.keys()) {
		const [metric = "", labels = ""] = name.split("{");
		const known = labelsOf.get(metric) ?? new Set();
		for (const [, label = ""] of labels.matchAll(/(\w+)=/g)) known.add(label);
		labelsOf.set(metric, known);
	}
	const file = new URL("../../docs/monitoring/grafana-dashboard.json", import.meta.url);
	const { panels } = JSON.parse(readFileSync(file, "utf8")) as {
		panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
	};
	const asked = panels.flatMap(({ targets }) => targets);
	expect(asked.length).toBeGreaterThan(15);
	for (const { expr, legendFormat } of asked) {
		const metrics = expr.match(/keryx_\w+/g) ?? [];
		expect(metrics.length, expr).toBe(1);
		const labels = labelsOf.get(metrics[0] ?? "");
		expect(labels, expr).toBeDefined();
		const named = [
			...expr.matchAll(/by \((\w+)\)|\{(\w+)=|(?:^|,)\s*(\w+)=/g),
			...legendFormat.matchAll(/\{\{(\w+)\}\}/g),
		];
		for (const [, ...found] of named)
			for (const label of found.filter((one) => one !== undefined))
				expect(labels, `${expr}: ${label}`).toContain(label);
	}
});
