import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createAgent } from "../../src/app/agent.ts";
import { checkConfig } from "../../src/config/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";
import { KEY } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function check(yaml: string, env: Record<string, string> = {}) {
	const file = join(folder, "config.yaml");
	writeFileSync(file, yaml);
	return checkConfig({ home: folder, env, file });
}

describe("I12: the key of a model", () => {
	test.each([
		["agent.api_key_env", "agent: {api_key_env: MY_KEY, base_url: VALUE}"],
		[
			"the failover list",
			"agent: {failover: [{provider: openai, model: m, api_key_env: MY_KEY}], base_url: VALUE}",
		],
		["no name, by its usual variable", "agent: {provider: openai, base_url: VALUE}"],
	])("is never shown, known by %s", (_name, yaml) => {
		const value = "plain words nobody would guess";
		const { problems } = check(yaml.replace("VALUE", JSON.stringify(value)), {
			MY_KEY: value,
			OPENAI_API_KEY: value,
		});
		expect(problems).toHaveLength(1);
		expect(JSON.stringify(problems)).not.toContain(value);
		expect(problems[0]?.message).toMatch(/\$\{secret:(MY_KEY|OPENAI_API_KEY)\}/);
	});

	test("that stands where its variable's name belongs is refused, and not repeated", () => {
		const { problems } = check(`agent: {api_key_env: ${KEY}}`);
		expect(problems[0]?.message).toMatch(
			/^agent\.api_key_env must be the name of an environment variable, not its value/,
		);
		expect(JSON.stringify(problems)).not.toContain(KEY);
	});

	test("cannot hide in an address", () => {
		expect(check("agent: {base_url: 'https://me:secret@host/v1'}").problems[0]?.message).toMatch(
			/without a user or password/,
		);
	});
});

const store = { blob: async () => new Uint8Array(), secrets: NO_SECRETS };

describe("what a model agent needs", () => {
	const agent = (settings: object) =>
		createAgent(configSchema.parse({ agent: { kind: "ai-sdk", ...settings } }), { env: {}, store });

	test.each([
		[{}, "agent.provider"],
		[{ provider: "openai" }, "agent.model"],
		[{ provider: "openai-compatible", model: "m" }, "agent.base_url"],
		[
			{ provider: "openai", model: "m", failover: [{ provider: "openai-compatible", model: "m" }] },
			"agent.failover.0.base_url",
		],
	])("%j lacks %s", (settings, field) => {
		expect(() => agent(settings)).toThrow(expect.objectContaining({ code: "config.invalid", field }));
	});

	test("a provider and a model are enough for a hosted one and for a local one", () => {
		expect(agent({ provider: "anthropic", model: "claude-sonnet-5" }).name).toBe("ai-sdk");
		expect(agent({ provider: "ollama", model: "llama3.2" }).name).toBe("ai-sdk");
	});

	test("a wrong entry of the failover list is told with its place", () => {
		const { problems } = check(
			"agent:\n  failover:\n    - {provider: openai, model: m}\n    - {provider: acme, model: m}\n",
		);
		expect(problems).toMatchObject([{ key: "agent.failover.1.provider", line: 4 }]);
	});
});

test("no provider's library is loaded before a model of it is asked", () => {
	const agents = new URL("../../src/agents/index.ts", import.meta.url);
	const code = `
		import { registerHooks } from "node:module";
		const seen = [];
		registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) });
		const { createModelAgent } = await import(${JSON.stringify(agents.href)});
		createModelAgent({ settings: { provider: "openai", model: "m" }, env: {}, clock: {}, readBlob: null });
		console.log(JSON.stringify(seen.filter((name) => name.startsWith("@ai-sdk"))));
	`;
	const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", code];
	expect(execFileSync(process.execPath, args, { encoding: "utf8" }).trim()).toBe("[]");
});

test("the examples of the guide to models are right configurations", () => {
	const text = readFileSync(new URL("../../docs/guides/models.md", import.meta.url), "utf8");
	const examples = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml]) => yaml as string);
	expect(examples.length).toBeGreaterThan(3);
	for (const yaml of examples) {
		const { problems, config } = check(yaml);
		expect(problems).toEqual([]);
		if (config?.values.agent.kind === "ai-sdk")
			expect(createAgent(config.values, { env: {}, store }).name).toBe("ai-sdk");
	}
});
