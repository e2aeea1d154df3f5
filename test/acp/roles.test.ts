// I18: a program remembers what it was told. It is kept for one conversation and one role.
import { afterAll, expect, test } from "vitest";
import { inputOf, person } from "./input.ts";
import { answer, Bench, textIn } from "./support.ts";

const bench = new Bench();
afterAll(() => bench.end());

test("turns of another role in the same conversation get a program of their own", async () => {
	const { agent } = bench.make();
	const pid = async (conversation: string, standing: "owner" | "member" | "guest") => {
		const input = inputOf({ history: [person("where")], conversation, standing });
		return (JSON.parse(textIn(await answer(agent, input))) as { pid: number }).pid;
	};
	const owner = await pid("c", "owner");
	expect(await pid("c", "owner")).toBe(owner);
	const pids = [owner, await pid("c", "member"), await pid("c", "guest"), await pid("d", "owner")];
	expect(new Set(pids).size).toBe(4);
	expect(await pid("c", "member")).toBe(pids[1]);
});
