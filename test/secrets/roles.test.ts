// I18: a secret is the owner's to name in commands, unless its roles say otherwise. To everybody else it is not there.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Keryx, openKeryx } from "../page/support.ts";

const VALUES = {
	OWNERS_SECRET: "the owner's, 25 characters",
	MEMBERS_SECRET: "for members, and 28 letters",
	EVERYBODYS_SECRET: "for guests, too: some letters",
};
type Name = keyof typeof VALUES;

let keryx: Keryx;
beforeAll(async () => {
	Object.assign(process.env, VALUES);
	const counting = (name: Name) => ({
		when: name,
		steps: [
			{ tools: [{ name: "terminal", input: { command: `printf %s "\u0024{secret:${name}}" | wc -c` } }] },
			{ text: "done" },
		],
	});
	keryx = await openKeryx({
		script: { rules: (Object.keys(VALUES) as Name[]).map(counting), otherwise: [{ text: "what?" }] },
		config: {
			auth: { telegram: { allow: ["owner", "member", "guest"].map((role) => ({ id: role, role })) } },
			tools: { by_role: { guest: ["terminal"] } },
			approvals: { mode: "off" },
			gateway: { batch_ms: 0 },
			secrets: [
				"OWNERS_SECRET",
				{ name: "MEMBERS_SECRET", roles: ["owner", "member"] },
				{ name: "EVERYBODYS_SECRET", roles: ["owner", "member", "guest"] },
			],
		},
	});
});
afterAll(async () => {
	await keryx.close();
	for (const name of Object.keys(VALUES)) delete process.env[name];
});

test.each([
	["owner", ["OWNERS_SECRET", "MEMBERS_SECRET", "EVERYBODYS_SECRET"]],
	["member", ["MEMBERS_SECRET", "EVERYBODYS_SECRET"]],
	["guest", ["EVERYBODYS_SECRET"]],
] as const)("a turn of the %s may name %j", async (who, mayName) => {
	const { client } = keryx;
	for (const name of Object.keys(VALUES) as Name[]) {
		const source = { platform: "telegram", chat_type: "dm" as const, chat_id: who, user_id: who };
		const { id, conversation } = await client.send({
			text: name,
			client_message_id: `${who}-${name}`,
			source,
		});
		await client.inbound({ id, wait: 30 });
		const { live_session } = await client.conversation({ conversation: conversation ?? "" });
		const { messages } = await client.messages({ session: live_session ?? "", limit: 100 });
		const result = JSON.stringify(messages.filter(({ role }) => role === "tool").at(-1)?.content);
		const isTold = (mayName as readonly string[]).includes(name);
		if (isTold) expect(result).toContain(`${VALUES[name].length}\\\\n`);
		else expect(result).toContain(`There is no secret named ${name}`);
	}
});
