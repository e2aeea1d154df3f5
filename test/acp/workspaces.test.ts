// Where programs work, and what they see of the environment.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgent } from "../../src/app/agent.ts";
import { programEnvironment } from "../../src/app/program-environment.ts";
import { configSchema } from "../../src/config/schema.ts";
import { createWorkspaces, type WorkspaceFolders } from "../../src/gateway/index.ts";
import { NO_SECRETS } from "../../src/secrets/index.ts";

const ID = "01a1df6124a57928b4169b8dca60f65e";
let home: string;
let folders: WorkspaceFolders;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "keryx-workspaces-"));
	folders = { home, root: join(home, "outside") };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

describe("a workspace", () => {
	test("of a conversation is made when first needed, private to this user", () => {
		const workspaces = createWorkspaces({ mode: "per_conversation" }, folders);
		expect(readdirSync(home)).toEqual([]);
		const folder = workspaces.of(ID);
		expect(folder).toBe(join(home, "outside", ID));
		expect([folder, join(home, "outside")].map((path) => statSync(path).mode & 0o777)).toEqual([
			0o700, 0o700,
		]);
		writeFileSync(join(folder, "kept"), "");
		expect(workspaces.of(ID)).toBe(folder);
		expect(existsSync(join(folder, "kept"))).toBe(true);
	});

	test("I10: never has a name that Keryx did not make", () => {
		const workspaces = createWorkspaces({ mode: "per_conversation" }, folders);
		const hostile = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.constantFrom("..", "../x", `${ID}/..`, `${ID}\n`, ID.toUpperCase(), `${ID}0`, "", "."),
		);
		fc.assert(
			fc.property(hostile, (id) => {
				expect(() => workspaces.of(id)).toThrowError(expect.objectContaining({ code: "workspace.unusable" }));
			}),
		);
		expect(readdirSync(home)).toEqual([]);
	});

	test("that is shared is the same for all", () => {
		const ours = createWorkspaces({ mode: "shared" }, folders);
		expect([ours.of(ID), ours.of("anything")]).toEqual([
			join(home, "outside/shared"),
			join(home, "outside/shared"),
		]);
		expect(createWorkspaces({ mode: "shared", path: "deep/er" }, folders).of(ID)).toBe(join(home, "deep/er"));
	});

	test("that is fixed must be there, at the start and later", () => {
		const path = join(home, "project");
		const unusable = expect.objectContaining({ code: "workspace.unusable", field: "workspace.path" });
		expect(() => createWorkspaces({ mode: "fixed", path }, folders)).toThrowError(unusable);
		writeFileSync(path, "a file");
		expect(() => createWorkspaces({ mode: "fixed", path }, folders)).toThrowError(unusable);
		rmSync(path);
		mkdirSync(path);
		const workspaces = createWorkspaces({ mode: "fixed", path }, folders);
		expect(workspaces.of(ID)).toBe(path);
		rmSync(path, { recursive: true });
		expect(() => workspaces.of(ID)).toThrowError(unusable);
		expect(existsSync(path)).toBe(false);
	});

	test.each([{ mode: "fixed" as const }, { mode: "per_conversation" as const, path: "x" }])(
		"whose settings contradict each other is refused: %j",
		(settings) => {
			expect(() => createWorkspaces(settings, folders)).toThrowError(
				expect.objectContaining({ code: "config.invalid", field: "workspace.path" }),
			);
		},
	);

	test("of a profile is not shared by default", () => {
		const { success, error } = configSchema.safeParse({
			profiles: { work: { workspace: { mode: "shared" } } },
		});
		expect(success).toBe(false);
		expect(error?.issues[0]?.path).toEqual(["profiles", "work", "workspace"]);
	});
});

describe("the environment of a program", () => {
	const env = {
		PATH: "/bin",
		LANG: "C",
		KERYX_HOME: "/home/ada/.keryx",
		KERYX_AGENT_KIND: "acp",
		BOT_TOKEN: "token",
		MAIN_KEY: "main",
		SPARE_KEY: "spare",
		WORK_KEY: "work",
		ANTHROPIC_API_KEY: "usual",
		NOTHING: undefined,
	};
	const config = configSchema.parse({
		secrets: ["BOT_TOKEN"],
		agent: {
			api_key_env: "MAIN_KEY",
			failover: [{ provider: "openai", model: "m", api_key_env: "SPARE_KEY" }],
		},
		profiles: { work: { agent: { api_key_env: "WORK_KEY" } } },
	});

	test("has no key, no secret and nothing of Keryx's own", () => {
		expect(programEnvironment(config, env, [])).toEqual({ PATH: "/bin", LANG: "C" });
	});

	test("has what its settings pass on", () => {
		expect(programEnvironment(config, env, ["ANTHROPIC_API_KEY", "BOT_TOKEN", "ABSENT"])).toEqual({
			PATH: "/bin",
			LANG: "C",
			ANTHROPIC_API_KEY: "usual",
			BOT_TOKEN: "token",
		});
	});
});

describe("an acp agent from the configuration", () => {
	const store = { blob: () => Promise.reject(new Error("not asked for")), secrets: NO_SECRETS };

	test("needs a command", () => {
		const config = configSchema.parse({ agent: { kind: "acp" } });
		expect(() => createAgent(config, { env: { KERYX_HOME: home }, store })).toThrowError(
			expect.objectContaining({ code: "config.invalid", field: "agent.command" }),
		);
	});

	test("is refused at the start where its fixed workspace is missing", () => {
		const agent = { kind: "acp", command: "program" };
		const config = configSchema.parse({ agent, workspace: { mode: "fixed", path: "not/there" } });
		expect(() => createAgent(config, { env: { KERYX_HOME: home }, store })).toThrowError(
			expect.objectContaining({ code: "workspace.unusable" }),
		);
	});
});
