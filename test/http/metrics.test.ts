// What a monitor reads: numbers that say what happened, and a dashboard that asks for numbers there are.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Served, serve } from "./support.ts";

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
	// Nobody has asked for numbers yet: they begin with the gateway.
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
