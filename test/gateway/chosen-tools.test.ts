import { expect, test } from "vitest";
import { z } from "zod";
import { configSchema } from "../../src/config/schema.ts";
import { ChosenTools } from "../../src/gateway/inbox/chosen-tools.ts";
import { createTools, defineTool, type Tool } from "../../src/tools/index.ts";

function tool(name: string): Tool {
	return defineTool({
		name,
		description: name,
		input: z.object({}),
		repeatable: true,
		run: () => Promise.resolve({ content: "" }),
	});
}

test("what a turn may use is what tools and configuration say at that moment, and the same list while they are the same", () => {
	const config = (by_role: object) => configSchema.parse({ tools: { by_role } });
	let current = config({});
	let more: readonly Tool[] = [tool("one")];
	const registry = createTools([tool("own"), tool("other")], {
		tools: () => more,
		ready: () => Promise.resolve(),
	});
	const chosen = new ChosenTools(registry, () => current);
	const facts = { profile: "", platform: "telegram", only: null } as const;
	const member = chosen.for({ ...facts, role: "member" });
	const job = chosen.for({ ...facts, role: "member", only: ["own", "two"] });
	expect([member.names, job.names]).toEqual([["own", "other", "one"], ["own"]]);
	expect(member.names).toBe(chosen.for({ ...facts, role: "member" }).names);
	expect(member.specs).toBe(member.specs);

	more = [tool("two")];
	expect([member.names, job.names]).toEqual([
		["own", "other", "two"],
		["own", "two"],
	]);
	expect([member.find("one"), member.find("two")?.name]).toEqual([undefined, "two"]);

	current = config({ member: ["other", "two"] });
	expect(member.names).toEqual(["other", "two"]);
	expect(member.specs.map(({ name }) => name)).toEqual(["other", "two"]);
	expect([member.find("own"), job.find("own"), job.find("two")?.name]).toEqual([undefined, undefined, "two"]);
	expect(chosen.for({ ...facts, role: "none" }).names).toEqual([]);
});
