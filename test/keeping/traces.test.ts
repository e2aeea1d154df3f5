// Traces: the way of a message as a collector of OpenTelemetry gets it, and nothing where none is named.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeryx } from "../../src/app/index.ts";
import { createScriptedAgent } from "../../src/testing/index.ts";
import { systemClock } from "../../src/time/index.ts";

interface Sent {
	readonly name: string;
	readonly traceId: string;
	readonly spanId: string;
	readonly parentSpanId?: string;
	readonly startTimeUnixNano: string;
	readonly endTimeUnixNano: string;
	readonly attributes: readonly { readonly key: string }[];
}

const root = mkdtempSync(join(tmpdir(), "keryx-traces-"));
const got: { readonly path: string; readonly text: string }[] = [];
const collector = createServer((request, response) => {
	let text = "";
	request.on("data", (chunk: Buffer) => {
		text += chunk.toString("utf8");
	});
	request.on("end", () => {
		got.push({ path: request.url ?? "", text });
		response.end("{}");
	});
});
beforeAll(() => new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve)));
afterAll(async () => {
	await new Promise((resolve) => collector.close(resolve));
	rmSync(root, { recursive: true, force: true });
});

async function talk(name: string, config: object): Promise<void> {
	const agent = createScriptedAgent({
		script: { otherwise: [{ text: "the answer is zanzibar" }] },
		clock: systemClock,
	});
	const report = { warn() {}, note() {} };
	const keryx = await createKeryx({ home: join(root, name), config, agent, env: {}, report });
	await keryx.start();
	const source = { platform: "local", chat_id: "cli", chat_type: "dm", user_id: "1" };
	const { id } = await keryx.client.send({ text: "my word is mango", client_message_id: "m1", source });
	await keryx.client.inbound({ id, wait: 30 });
	await keryx.stop();
}

test("a turn is one trace with its parts below it, in the form of OTLP, and without what was said", async () => {
	const { port } = collector.address() as AddressInfo;
	await talk("on", { traces: { endpoint: `http://127.0.0.1:${port}` } });
	expect(new Set(got.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
	const text = got.map((one) => one.text).join("\n");
	expect(text).not.toMatch(/zanzibar|mango/);
	const spans = got.flatMap((one) => {
		const { resourceSpans } = JSON.parse(one.text) as {
			resourceSpans: { scopeSpans: { spans: Sent[] }[] }[];
		};
		return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
	});
	const [turn] = spans.filter(({ name }) => name === "turn");
	expect(spans.map(({ name }) => name).toSorted()).toEqual(["accept", "delivery", "model step", "turn"]);
	expect(turn?.parentSpanId).toBeUndefined();
	for (const span of spans) {
		expect(span.traceId).toBe(turn?.traceId);
		expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
		expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
		if (span !== turn) expect(span.parentSpanId).toBe(turn?.spanId);
		expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
	}
	expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
});

test("without an address nothing is sent", async () => {
	const before = got.length;
	await talk("off", {});
	expect(got.length).toBe(before);
});
