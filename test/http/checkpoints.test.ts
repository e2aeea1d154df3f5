// Checkpoints over the API: on real folders with real git, the gateway in this process.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { KeryxError } from "../../src/errors.ts";
import { defineTool } from "../../src/tools/index.ts";
import { SECRET, type Served, serve } from "./support.ts";

const root = mkdtempSync(join(tmpdir(), "keryx-http-checkpoints-"));
const home = join(root, "home");
const outside = join(root, "outside");
let keryx: Served;
let conversation: string;
let workspace: string;

/** What an agent does to files. */
const edit = defineTool({
	name: "edit",
	description: "writes a file",
	input: z.object({ file: z.string(), text: z.string() }),
	repeatable: false,
	changesFiles: () => true,
	run: async ({ file, text }) => {
		put(file, text);
		return { content: "written" };
	},
});

const write = (file: string, text: string) => ({ tools: [{ name: "edit", input: { file, text } }] });

beforeAll(async () => {
	mkdirSync(home);
	mkdirSync(outside);
	writeFileSync(join(outside, "secret.txt"), "not yours");
	const rules = [
		{
			when: "improve",
			steps: [write("a.txt", "by the agent\n"), write("made.txt", "new\n"), { text: "done" }],
		},
		{ when: "hang", steps: [{ hang: true as const }] },
	];
	keryx = await serve({ rules, otherwise: [{ text: "yes" }] }, {}, {}, undefined, { home, tools: [edit] });
	({ conversation } = await keryx.say("hello"));
	({ workspace } = await keryx.client.checkpoints({ conversation }));
	put("a.txt", "one\n");
});
afterAll(async () => {
	await keryx.close();
	rmSync(root, { recursive: true, force: true });
});

function put(file: string, text: string): void {
	writeFileSync(join(workspace, file), text);
}

const read = (file: string) => readFileSync(join(workspace, file), "utf8");

async function raw(method: "GET" | "POST", path: string, body?: object, bearer?: string) {
	const headers = {
		...(body && { "content-type": "application/json" }),
		...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
	};
	const request = new Request(`http://keryx/api/conversations/${path}`, {
		method,
		headers,
		...(body && { body: JSON.stringify(body) }),
	});
	const response = await keryx.api.fetch(request);
	return { status: response.status, body: (await response.json()) as { error: KeryxError } };
}

describe("the API's checkpoints", () => {
	test("one is taken, listed, compared and gone back to, and the way back is named", async () => {
		const { client } = keryx;
		const first = await client.takeCheckpoint({ conversation, label: " as it was " });
		expect(first).toMatchObject({
			kind: "taken",
			checkpoint: { kind: "manual", label: "as it was", files: 1 },
		});
		expect(await client.takeCheckpoint({ conversation })).toMatchObject({
			kind: "unchanged",
			checkpoint: { id: first.checkpoint.id },
		});
		await keryx.say("improve it");
		put("mine.txt", "a person's\n");

		const { checkpoints } = await client.checkpoints({ conversation });
		expect(checkpoints.map(({ kind }) => kind)).toEqual(["after", "manual"]);
		expect(checkpoints[0]).toMatchObject({
			conversation,
			session: expect.any(String),
			turn: expect.any(String),
			files: 2,
			changed: { files: 2, insertions: 2, deletions: 1 },
			excluded: [],
		});
		const id = first.checkpoint.id.slice(0, 7);
		const { files } = await client.checkpointDiff({ conversation, id });
		expect(files.map(({ path, status }) => [path, status])).toEqual([
			["a.txt", "changed"],
			["made.txt", "added"],
			["mine.txt", "added"],
		]);
		expect(files[0]).toMatchObject({ binary: false, insertions: 1, deletions: 1, cut: false });
		expect(files[0]?.text).toContain("-one\n+by the agent\n");
		const after = checkpoints[0]?.id as string;
		const between = await client.checkpointDiff({ conversation, id, to: after, file: "made.txt" });
		expect(between.files.map(({ path }) => path)).toEqual(["made.txt"]);

		const plan = await client.checkpointPlan({ conversation, id });
		expect(plan).toMatchObject({
			restore: ["a.txt"],
			remove: ["made.txt"],
			kept: [{ path: "mine.txt", reason: "changed_since" }],
		});
		expect(read("a.txt")).toBe("by the agent\n");
		const report = await client.restoreCheckpoint({ conversation, id, file: "a.txt" });
		expect(report).toMatchObject({
			restored: ["a.txt"],
			removed: [],
			kept: [],
			target: { label: "as it was" },
		});
		expect([read("a.txt"), read("made.txt")]).toEqual(["one\n", "new\n"]);
		await client.restoreCheckpoint({ conversation, id: report.before.id });
		expect([read("a.txt"), read("mine.txt")]).toEqual(["by the agent\n", "a person's\n"]);
		const forced = await client.restoreCheckpoint({ conversation, id, force: true });
		expect(forced).toMatchObject({ restored: ["a.txt"], removed: ["made.txt", "mine.txt"], kept: [] });
	});

	test("undo takes the files back with the chat", async () => {
		const { client } = keryx;
		put("a.txt", "before the turn\n");
		await keryx.say("improve it again");
		expect(read("a.txt")).toBe("by the agent\n");
		const undone = await client.undo({ conversation, files: true });
		expect(undone).toMatchObject({ turns: 1, text: "improve it again" });
		expect(undone.restored).toMatchObject({ restored: ["a.txt"], removed: ["made.txt"] });
		expect(read("a.txt")).toBe("before the turn\n");
		await keryx.say("only words");
		expect(await client.undo({ conversation, files: true })).toMatchObject({ turns: 1, restored: null });
	});

	test("nothing is restored under an answer that is being worked on", async () => {
		const { client } = keryx;
		const { checkpoint } = await client.takeCheckpoint({ conversation });
		const { id } = await client.send({
			text: "hang",
			client_message_id: "hangs",
			source: { platform: "local", chat_id: "cli", chat_type: "dm", user_id: "1" },
		});
		await expect.poll(async () => (await client.inbound({ id })).turn).not.toBeNull();
		const refused = await raw("POST", `${conversation}/checkpoints/${checkpoint.id}/restore`, {});
		expect(refused).toMatchObject({ status: 409, body: { error: { code: "checkpoint.busy" } } });
		await client.stop({ conversation });
		await client.inbound({ id, wait: 30 });
		expect((await client.restoreCheckpoint({ conversation, id: checkpoint.id })).restored).toEqual([]);
	});

	const IDS = [
		"--output=x",
		"-h",
		"..%2f..%2fetc",
		"%252e%252e",
		"HEAD",
		"now",
		"abc",
		"0".repeat(41),
		"0123456g",
		"%00",
		"%0a",
	];
	const CALLS = ["diff", "plan", "restore"];

	test.each(CALLS.flatMap((call) => IDS.map((id) => [call, id] as const)))(
		"%s refuses the id %s before anything is done with it",
		async (call, id) => {
			const method = call === "restore" ? "POST" : "GET";
			const body = call === "restore" ? {} : undefined;
			const answer = await raw(method, `${conversation}/checkpoints/${id}/${call}`, body);
			expect(answer).toMatchObject({
				status: 400,
				body: { error: { code: "argument.invalid", field: "id" } },
			});
		},
	);

	const FILES = [
		"../outside/secret.txt",
		"/etc/passwd",
		"a/../../x",
		".git/config",
		"a//b",
		"./a",
		"",
		"a\0b",
	];

	test.each(CALLS.flatMap((call) => FILES.map((file) => [call, file] as const)))(
		"%s refuses the path %j",
		async (call, file) => {
			const { checkpoint } = await keryx.client.takeCheckpoint({ conversation });
			const path = `${conversation}/checkpoints/${checkpoint.id}/${call}`;
			const answer =
				call === "restore"
					? await raw("POST", path, { file })
					: await raw("GET", `${path}?${new URLSearchParams({ file })}`);
			expect(answer).toMatchObject({
				status: 400,
				body: { error: { code: "argument.invalid", field: "file" } },
			});
		},
	);

	test.each([
		["an unknown checkpoint", "GET", "0123456/diff", undefined, 404, "store.not_found"],
		["an unknown one to compare with", "GET", "{id}/diff?to=0123456", undefined, 404, "store.not_found"],
		["a bad one to compare with", "GET", "{id}/diff?to=--output=x", undefined, 400, "argument.invalid"],
		["force that is no word", "GET", "{id}/plan?force=yes", undefined, 400, "argument.invalid"],
		["force that is no boolean", "POST", "{id}/restore", { force: "yes" }, 400, "argument.invalid"],
		["a field that is none", "POST", "{id}/restore", { files: "a" }, 400, "argument.invalid"],
		["a label that is none", "POST", "", { label: 1 }, 400, "argument.invalid"],
		["a label without an end", "POST", "", { label: "x".repeat(1000) }, 400, "argument.invalid"],
	] as const)("%s is refused", async (_name, method, path, body, status, code) => {
		const { checkpoint } = await keryx.client.takeCheckpoint({ conversation });
		const where = `${conversation}/checkpoints/${path.replace("{id}", checkpoint.id)}`.replace(/\/$/, "");
		expect(await raw(method, where, body)).toMatchObject({ status, body: { error: { code } } });
	});

	test("what is reached through a link that leads out is neither shown nor written", async () => {
		const { client } = keryx;
		mkdirSync(join(workspace, "folder"));
		put("folder/secret.txt", "ours\n");
		const { checkpoint } = await client.takeCheckpoint({ conversation, label: "a folder" });
		const { id } = checkpoint;
		rmSync(join(workspace, "folder"), { recursive: true });
		symlinkSync(outside, join(workspace, "folder"));
		const { files } = await client.checkpointDiff({ conversation, id });
		expect(JSON.stringify(files)).not.toContain("not yours");
		for (const file of ["folder/secret.txt", undefined]) {
			const wanted = { conversation, id, force: true, ...(file !== undefined && { file }) };
			const report = await client.restoreCheckpoint(wanted);
			expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("not yours");
			if (file === undefined) expect(report.restored).toEqual(["folder/secret.txt"]);
		}
		expect(read("folder/secret.txt")).toBe("ours\n");
	});

	test("a conversation that is not there has none, by every call", async () => {
		for (const [method, path] of [
			["GET", ""],
			["POST", ""],
			["GET", "/0123456/diff"],
			["GET", "/0123456/plan"],
			["POST", "/0123456/restore"],
		] as const) {
			const answer = await raw(method, `none/checkpoints${path}`, method === "POST" ? {} : undefined);
			expect(answer).toMatchObject({ status: 404, body: { error: { code: "store.not_found" } } });
		}
	});

	test("readers look, and only operators take and restore", async () => {
		const admin = keryx.newApi();
		const tokenOf = async (role: string): Promise<string> => {
			const response = await admin.fetch(
				new Request("http://keryx/api/tokens", {
					method: "POST",
					headers: { "content-type": "application/json", authorization: `Bearer ${SECRET}` },
					body: JSON.stringify({ name: `c-${role}`, role }),
				}),
			);
			return ((await response.json()) as { token: string }).token;
		};
		const { checkpoint } = await keryx.client.takeCheckpoint({ conversation });
		const at = `${conversation}/checkpoints`;
		const statuses = async (bearer: string) => [
			(await raw("GET", at, undefined, bearer)).status,
			(await raw("GET", `${at}/${checkpoint.id}/diff`, undefined, bearer)).status,
			(await raw("GET", `${at}/${checkpoint.id}/plan`, undefined, bearer)).status,
			(await raw("POST", at, {}, bearer)).status,
			(await raw("POST", `${at}/${checkpoint.id}/restore`, {}, bearer)).status,
		];
		expect(await statuses(await tokenOf("reader"))).toEqual([200, 200, 200, 403, 403]);
		expect(await statuses(await tokenOf("approver"))).toEqual([200, 200, 200, 403, 403]);
		expect(await statuses(await tokenOf("agent"))).toEqual([403, 403, 403, 403, 403]);
		expect(await statuses(await tokenOf("operator"))).toEqual([200, 200, 200, 200, 200]);
		admin.close();
	});

	test("where checkpoints are off, every call says so", async () => {
		const plain = await serve();
		try {
			const { conversation: there } = await plain.say("hello");
			const refusal = { code: "checkpoint.disabled" };
			await expect(plain.client.checkpoints({ conversation: there })).rejects.toMatchObject(refusal);
			await expect(plain.client.takeCheckpoint({ conversation: there })).rejects.toMatchObject(refusal);
			await expect(
				plain.client.restoreCheckpoint({ conversation: there, id: "0123456" }),
			).rejects.toMatchObject(refusal);
		} finally {
			await plain.close();
		}
	});
});
