// Models and keys while Keryx runs: what the page and `keryx setup` write holds from the next turn on, and only if it answers.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeryx, type Keryx } from "../../src/app/index.ts";
import { editConfig, writeConfig } from "../../src/config/index.ts";
import { systemClock } from "../../src/gateway/index.ts";
import { createScriptedChannel } from "../../src/testing/index.ts";
import { type ModelServer, type Reply, refuses, says, startModelServer } from "../support/model-server.ts";
import { KEY } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "keryx-live-models-"));
const home = join(folder, "home");
const file = join(home, "config.yaml");
const warnings: string[] = [];
const channel = createScriptedChannel({ platform: "pigeon", clock: systemClock, edit: false });
let keryx: Keryx;
let server: ModelServer;
let other: ModelServer;

beforeAll(async () => {
	mkdirSync(home, { mode: 0o700 });
	mkdirSync(join(folder, "data"));
	writeFileSync(file, "# mine\nauth: { pigeon: { allow: [{ id: '7', role: owner }] } }\n", { mode: 0o600 });
	[server, other] = await Promise.all([startModelServer(), startModelServer()]);
	keryx = await createKeryx({
		home,
		env: { HOME: folder, XDG_DATA_HOME: join(folder, "data"), TZ: "UTC" },
		store: "sqlite::memory:",
		report: { warn: (text) => void warnings.push(text), note: () => {} },
		channels: [channel],
	});
	await keryx.start();
});
afterAll(async () => {
	await keryx.stop();
	await Promise.all([server.close(), other.close()]);
	rmSync(folder, { recursive: true, force: true });
});

async function ask(text: string): Promise<string | undefined> {
	const { world } = channel;
	const before = world.visible("42").length;
	world.say({ chat: "42", user: "7", text });
	await world.until(() => world.visible("42").length > before);
	return world.visible("42").at(-1)?.text;
}

test("a model that is connected while Keryx runs answers from then on, with a key that only its file holds", async () => {
	expect(await ask("hello")).not.toBe("from the model");
	server.always(says("from the model"));
	server.next((response) => {
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: [{ id: "tiny" }, { id: "large" }] }));
	});
	const wanted = { provider: "openai-compatible", base_url: server.url, key: KEY } as const;
	expect(await keryx.client.listModels(wanted)).toEqual({ models: ["large", "tiny"] });
	expect(await keryx.client.takeModel({ ...wanted, model: "tiny" })).toMatchObject({ model: "tiny" });
	const key = join(home, "keys/openai-compatible.key");
	expect(statSync(key).mode & 0o777).toBe(0o600);
	const text = readFileSync(file, "utf8");
	expect(text).toContain("# mine");
	expect(text).not.toContain(KEY);
	expect(JSON.stringify(await keryx.client.model())).not.toContain(KEY);
	await expect.poll(() => ask("and now")).toBe("from the model");
	expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);

	// Another key is used at once, and one that others could read is not.
	writeFileSync(key, "another-key-0123456789\n", { mode: 0o600 });
	expect(await ask("again")).toBe("from the model");
	expect(server.requests.at(-1)?.headers.authorization).toBe("Bearer another-key-0123456789");
	chmodSync(key, 0o644);
	const sent = server.requests.length;
	expect(await ask("once more")).not.toBe("from the model");
	expect(server.requests).toHaveLength(sent);
	chmodSync(key, 0o600);
});

test("a model that does not answer is not taken: the previous one stays, and the operator is told once", async () => {
	other.always(refuses(401, { message: "no such key" }));
	const change = (changes: Record<string, unknown>) =>
		writeConfig(file, editConfig(readFileSync(file, "utf8"), changes));
	const refused = () => warnings.filter((text) => text.includes("agent was not accepted"));
	change({ "agent.base_url": other.url, "agent.max_steps": 7 });
	await expect.poll(refused).toHaveLength(1);
	expect(refused()[0]).toContain("the previous one stays");
	expect(await ask("still there?")).toBe("from the model");

	// Corrected, it is taken.
	other.always(says("from the other"));
	change({ "agent.model": "other" });
	await expect.poll(() => ask("which one?")).toBe("from the other");
	expect(refused()).toHaveLength(1);
});

test("a failover is tried before it is taken: without an answer the list before stays, with one it answers from the next message on", async () => {
	const change = (changes: Record<string, unknown>) =>
		writeConfig(file, editConfig(readFileSync(file, "utf8"), changes));
	const refused = () => warnings.filter((text) => text.includes("spare did not answer"));
	const failover = [{ provider: "openai-compatible", model: "spare", base_url: server.url }];
	server.always(refuses(401, { message: "no such key" }));
	change({ "agent.failover": failover });
	await expect.poll(refused).toHaveLength(1);

	server.always(says("from the spare"));
	change({ "agent.failover": failover, "agent.retries": 0 });
	other.always(refuses(503, { message: "overloaded" }));
	await expect.poll(() => ask("anybody?")).toBe("from the spare");
	expect(refused()).toHaveLength(1);
	other.always(says("from the other"));
	change({ "agent.failover": undefined });
	expect(await ask("and now?")).toBe("from the other");
});

test("what the page asks to connect is refused with what the provider said, and nothing is written", async () => {
	const before = readFileSync(file, "utf8");
	server.always(refuses(404, { message: "no such model" }));
	const asked = keryx.client.takeModel({
		provider: "openai-compatible",
		base_url: server.url,
		model: "none",
		key: KEY,
	});
	await expect(asked).rejects.toMatchObject({ code: "model.unreachable" });
	const without = keryx.client.takeModel({ provider: "openai-compatible", model: "none" });
	await expect(without).rejects.toMatchObject({ code: "argument.invalid", field: "base_url" });
	expect(readFileSync(file, "utf8")).toBe(before);
});

test("a key that no header can hold is refused, and never shown", async () => {
	for (const provider of ["openai", "anthropic", "google"] as const) {
		const asked = keryx.client.listModels({ provider, base_url: server.url, key: "sk-first\nsk-second" });
		await expect(asked).rejects.toSatisfy(
			({ code, message }) => code === "model.unreachable" && !/sk-/.test(message),
		);
	}
});

test("an address with a password is refused, and the password is not shown", async () => {
	const base_url = server.url.replace("//", "//ada:passw0rd@");
	const asked = keryx.client.listModels({ provider: "openai-compatible", base_url, key: KEY });
	await expect(asked).rejects.toSatisfy(
		({ field, message }) => field === "base_url" && !message.includes("passw0rd"),
	);
});

test("a key that is stored goes to no address that it was not given for", async () => {
	server.always(says("mine now"));
	const before = readFileSync(file, "utf8");
	const sent = server.requests.length;
	const elsewhere = { provider: "openai-compatible", base_url: server.url } as const;
	const refused = { code: "argument.invalid", field: "key" };
	await expect(keryx.client.listModels(elsewhere)).rejects.toMatchObject(refused);
	await expect(keryx.client.listModels({ ...elsewhere, key: " " })).rejects.toMatchObject(refused);
	await expect(keryx.client.takeModel({ ...elsewhere, model: "tiny" })).rejects.toMatchObject(refused);
	expect(server.requests).toHaveLength(sent);
	expect(readFileSync(file, "utf8")).toBe(before);
	// To the address in config.yaml it goes.
	other.next((response) => response.end(JSON.stringify({ data: [{ id: "other" }] })));
	const here = { provider: "openai-compatible", base_url: `${other.url}/` } as const;
	expect(await keryx.client.listModels(here)).toEqual({ models: ["other"] });
});

test("a profile that comes while Keryx runs answers at once; its model changes from the next message on, and only if it answers", async () => {
	const change = (changes: Record<string, unknown>) =>
		writeConfig(file, editConfig(readFileSync(file, "utf8"), changes));
	const answers = (one: ModelServer, text: string) =>
		one.always((response, request) =>
			(request.path.endsWith("/models") ? lists("small", "big") : says(text))(response, request),
		);
	answers(server, "at work");
	answers(other, "elsewhere");
	const named = (model: string, base_url: string) => ({
		agent: { kind: "ai-sdk", provider: "openai-compatible", model, base_url },
	});
	change({ "profiles.work": named("small", server.url) });
	const profiles = async () =>
		(await keryx.client.profiles()).profiles.map(({ name, model }) => [name, model]);
	await expect.poll(profiles).toContainEqual(["work", "small"]);
	const say = async (text: string) => {
		const source = { platform: "api_server", chat_id: "desk", chat_type: "dm", profile: "work" };
		const { id, conversation } = await keryx.client.send({ text, client_message_id: text, source });
		await keryx.client.inbound({ id, wait: 30 });
		const { live_session } = await keryx.client.conversation({ conversation: conversation as string });
		const { messages } = await keryx.client.messages({ session: live_session as string });
		return messages.at(-1)?.content;
	};
	expect(await say("hello")).toBe("at work");

	other.always(refuses(401, { message: "no such key" }));
	change({ "profiles.work.agent.base_url": other.url });
	const refused = () => warnings.filter((text) => text.includes("profiles.work.agent was not accepted"));
	await expect.poll(refused).toHaveLength(1);
	expect(await say("still there?")).toBe("at work");

	answers(other, "elsewhere");
	change({ "profiles.work.agent.model": "big" });
	await expect.poll(profiles).toContainEqual(["work", "big"]);
	expect(await say("and now?")).toBe("elsewhere");

	// What can be chosen: the configured one first, then what the provider lists.
	const { models } = await keryx.client.modelChoices({ profile: "work" });
	expect(models).toEqual([
		{ provider: "openai-compatible", model: "big" },
		{ provider: "openai-compatible", model: "small" },
	]);
	await expect(keryx.client.modelChoices({ profile: "none" })).rejects.toMatchObject({
		code: "store.not_found",
	});
});

test("/model without a name lists what can be chosen, and what it lists can be chosen", async () => {
	server.always((response, request) =>
		(request.path.endsWith("/models") ? lists("tiny", "large", "not a name!") : says("from the model"))(
			response,
			request,
		),
	);
	writeConfig(
		file,
		editConfig(readFileSync(file, "utf8"), { "agent.base_url": server.url, "agent.model": "tiny" }),
	);
	const own = async () => (await keryx.client.profiles()).profiles[0]?.model;
	await expect.poll(own).toBe("tiny");
	const said = await ask("/model");
	expect(said).toContain("openai-compatible:tiny");
	expect(said).toContain("openai-compatible:large");
	expect(said).not.toContain("not a name!");
	expect(await ask("/model openai-compatible:large")).toContain("openai-compatible:large");
	await ask("hello again");
	expect(JSON.parse(server.requests.at(-1)?.body ?? "{}").model).toBe("large");
	expect(await ask("/status")).toContain("openai-compatible:large");
});

function lists(...names: readonly string[]): Reply {
	return (response) => {
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify({ data: names.map((id) => ({ id })) }));
	};
}
