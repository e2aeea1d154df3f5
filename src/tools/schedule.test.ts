// Whose yes a job needs, and whose jobs a caller reaches (I18).
import { expect, test } from "vitest";
import type { Target } from "../domain/index.ts";
import type { Schedules } from "../schedules/index.ts";
import { createScheduleTool } from "./schedule.ts";
import type { ToolCaller, ToolContext } from "./types.ts";

const BOB: Target = { kind: "chat", platform: "telegram", account: "", chatId: "bob" };
const WHEN = "2030-01-01T09:00";

function toolOf(needs: "nothing" | "person" | "owner") {
	const asked: { scope?: object; wanted?: Parameters<Schedules["create"]>[0] } = {};
	const view = {
		exact: WHEN,
		isExact: true,
		zone: "UTC",
		shown: "once",
		next: [],
		nextShown: [],
		change: null,
	};
	const task = { kind: "text", text: "x" };
	const job = { id: "job_1", name: "x", task, isOwn: true, state: "paused", zone: "UTC" };
	const schedules = {
		understand: () => view,
		view: () => view,
		create: async (wanted: Parameters<Schedules["create"]>[0]) => {
			asked.wanted = wanted;
			return job;
		},
		find: async () => ({ ...job, deliver: { target: BOB, shown: "Bob", approved: true }, failure: null }),
		list: async (scope: object) => {
			asked.scope = scope;
			return { jobs: [], next: null };
		},
	} as unknown as Schedules;
	const tool = createScheduleTool({
		schedules,
		resolve: async () => ({ kind: "target", target: BOB, shown: "Bob", needs }),
		check: async () => ({ kind: "may", needs }),
	});
	return { tool, asked };
}

function callerIn(reach: "private" | "shared"): ToolCaller {
	const scope = {
		kind: "principal",
		principal: reach === "private" ? "ada" : "",
		profile: "",
		conversation: "c",
	};
	return { conversation: "c", standing: "member", scope } as unknown as ToolCaller;
}

function prepared(tool: ReturnType<typeof toolOf>["tool"], input: object) {
	const call = tool.prepare(input);
	if ("problem" in call) throw new Error(call.problem);
	return call;
}

const run = (
	tool: ReturnType<typeof toolOf>["tool"],
	input: object,
	reach: "private" | "shared",
	destination: object = { platform: "telegram", ...(reach === "shared" && { group: true }) },
) => prepared(tool, input).run({ ...callerIn(reach), speaker: "ada", destination } as unknown as ToolContext);

test.each([
	["nothing", null],
	["person", "schedule_send"],
	["owner", "send_to_others"],
] as const)("a target that needs %s is asked about as %s", async (needs, action) => {
	const input = { action: "create", when: WHEN, text: "hello", deliver: "telegram:bob" };
	const question = await prepared(toolOf(needs).tool, input).question(callerIn("private"));
	expect(question?.action ?? null).toBe(action);
});

test("another text for a target that somebody agreed to is asked about again", async () => {
	const { tool } = toolOf("owner");
	const question = await prepared(tool, { action: "update", job: "job_1", text: "another" }).question(
		callerIn("private"),
	);
	expect(question?.action).toBe("send_to_others");
});

test("where others read along, a job runs in that conversation, and only jobs made there are in reach", async () => {
	const { tool, asked } = toolOf("nothing");
	await run(tool, { action: "create", when: WHEN, prompt: "search" }, "shared");
	expect(asked.wanted).toMatchObject({ conversation: "c", deliver: null });
	await run(tool, { action: "list" }, "shared");
	expect(asked.scope).toMatchObject({ principal: "ada", origin: "c" });
	await run(tool, { action: "create", when: WHEN, prompt: "search" }, "private");
	expect(asked.wanted).toMatchObject({ deliver: { target: BOB } });
	expect(asked.wanted?.conversation).toBeUndefined();
	await run(tool, { action: "list" }, "private");
	expect(asked.scope).not.toHaveProperty("origin");
});

test("where others read along, a text that runs elsewhere becomes nothing that reaches more", async () => {
	const { tool } = toolOf("nothing");
	for (const task of [{ prompt: "search" }, { command: "ls" }])
		await expect(run(tool, { action: "update", job: "job_1", ...task }, "shared")).rejects.toThrow(
			"a conversation of its own",
		);
});

test("an answer for several people in a private chat makes no job that reaches what one of them may see", async () => {
	const { tool, asked } = toolOf("nothing");
	for (const task of [{ prompt: "search" }, { prompt: "search", here: true }, { command: "ls" }]) {
		const given = { action: "create", when: WHEN, ...task };
		await expect(run(tool, given, "shared", { platform: "telegram" })).rejects.toThrow("several people");
	}
	expect(asked.wanted).toBeUndefined();
	await run(tool, { action: "create", when: WHEN, text: "tea" }, "shared", { platform: "telegram" });
	expect(asked.wanted).toMatchObject({ task: { kind: "text", text: "tea" } });
});
