// Letting people in from a chat: for the owner alone, as a member or a guest. An owner is made where Keryx runs, or on the page.
import { OPERATOR } from "../../store/index.ts";
import { LET_IN } from "../sentences.ts";
import { wrongArgument } from "./parse.ts";
import type { Changing, CommandContext } from "./types.ts";
import { counted, inert } from "./words.ts";

const FORM = /^(approve|deny)\s+(\d{1,9})(?:\s+(member|guest))?$/;
const LISTED = 10;

export const pair: Changing<"decidePairing"> = {
	name: "pair",
	usage: "/pair [approve n]",
	about: "let people in who asked",
	group: "Answers",
	roles: ["owner"],
	asksForProof: true,
	change: "decidePairing",
	plan: (context) => {
		const { args, source } = context;
		if (args === "") return list(context);
		const [, decision, n, role] = FORM.exec(args) ?? [];
		if ((decision !== "approve" && decision !== "deny") || (decision === "deny" && role !== undefined))
			throw wrongArgument(
				"/pair takes approve or deny and a number, and guest for less than a member",
				args,
				"/pair approve 3 guest",
			);
		const by = `${source.platform}:${source.userId ?? source.chatId}`;
		return {
			args: {
				decision,
				which: { n: Number(n) },
				role: role === "guest" ? "guest" : "member",
				welcome: LET_IN,
				by,
				via: "chat",
			},
		};
	},
	answer: (result) => {
		if (result.kind !== "done") return "Nothing was changed.";
		const { n, state, role } = result.pairing;
		const who = named(result.pairing);
		if (state === "approved")
			return `${who} is let in as a ${role ?? "member"}. /pair deny ${n} sends them away again.`;
		return state === "denied"
			? `The request of ${who} is refused. They are told nothing.`
			: `${who} may not write here any more.`;
	},
};

async function list({ store, now }: CommandContext): Promise<string> {
	const open = (await store.pairings({ scope: OPERATOR, now })).filter(({ state }) => state === "open");
	if (open.length === 0) return "Nobody waits to be let in.";
	return [
		`${counted(open.length, "person waits", "people wait")} to be let in:`,
		...open.slice(0, LISTED).map((one) => `- ${one.n}: ${named(one)}`),
		...(open.length > LISTED ? ["`keryx pair list` has all of them."] : []),
		"",
		"Names are what people call themselves: compare the code before you say yes. /pair approve or /pair deny and the number answers.",
	].join("\n");
}

function named({
	name,
	id,
	platform,
}: {
	readonly name: string | null;
	readonly id: string;
	readonly platform: string;
}) {
	return `${name === null ? "somebody" : inert(name)} (${inert(id)} on ${platform})`;
}
