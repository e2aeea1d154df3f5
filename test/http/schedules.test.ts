// Jobs of the operator over the API: they never run where somebody else would answer their questions.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Scene } from "../mcp/scene.ts";

const scene = new Scene();
beforeAll(() => scene.start({}));
afterAll(() => scene.end());

const JOB = { when: "0 9 * * *", task: "prompt", text: "report" } as const;

test("a job of the operator runs in no private chat of somebody else, and in its own conversation or the terminal's", async () => {
	await scene.ask("hello", "8");
	const { client } = scene.keryx;
	const { conversations } = await client.conversations({});
	const private_ = conversations.find(({ platform }) => platform === "pigeon");
	await expect(client.createSchedule({ ...JOB, conversation: private_?.id as string })).rejects.toMatchObject(
		{
			code: "schedule.invalid",
			field: "conversation",
		},
	);
	await expect(client.createSchedule({ ...JOB, conversation: "nobody" })).rejects.toMatchObject({
		code: "store.not_found",
	});
	expect((await client.schedules({})).jobs).toEqual([]);
	expect(await client.createSchedule(JOB)).toMatchObject({
		own_conversation: true,
		principal: null,
		model: null,
	});
	const { conversation } = await client.send({
		text: "hello",
		client_message_id: "1",
		source: { platform: "local", chat_id: "cli", chat_type: "dm", user_id: "1" },
	});
	expect(await client.createSchedule({ ...JOB, conversation: conversation as string })).toMatchObject({
		own_conversation: false,
		conversation,
	});
});

test("the model of a job is a name, or the one of its conversation", async () => {
	const { client } = scene.keryx;
	const { id: job } = await client.createSchedule({ ...JOB, model: "openai:gpt-5" });
	expect((await client.schedule({ job })).model).toBe("openai:gpt-5");
	await expect(client.updateSchedule({ job, model: "a b" })).rejects.toMatchObject({ field: "model" });
	expect((await client.updateSchedule({ job, name: "other" })).model).toBe("openai:gpt-5");
	expect((await client.updateSchedule({ job, model: null })).model).toBeNull();
});

test("the id of a send stands for one text: another one is refused, and sends nothing", async () => {
	const { client } = scene.keryx;
	const wanted = { target: "pigeon:chat-8", id: "report-1", text: "the report" };
	expect(await client.sendTo(wanted)).toMatchObject({ repeated: false });
	expect(await client.sendTo(wanted)).toMatchObject({ repeated: true });
	await expect(client.sendTo({ ...wanted, text: "another report" })).rejects.toMatchObject({
		code: "send.conflict",
	});
	await scene.channel.world.until(() => scene.channel.world.visible("chat-8").length > 1);
	expect(scene.channel.world.visible("chat-8").filter(({ text }) => text.includes("report"))).toHaveLength(1);
});
