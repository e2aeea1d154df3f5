// /pair: the owner lets in members and guests from a chat. Owners are made on the command line or on the page.

import { OPERATOR } from "../../store/index.ts";
import { LET_IN } from "../sentences.ts";
import { texts } from "../texts.ts";
import { wrongArgument } from "./parse.ts";
import type { Changing, CommandContext } from "./types.ts";
import { counted, inert } from "./words.ts";

const FORM = /^(approve|deny)\s+(\d{1,9})(?:\s+(member|guest))?$/;
const LISTED = 10;

export const pair: Changing<"decidePairing"> = {
	name: "pair",
	usage: "/pair [approve n]",
	about: texts.pair.about,
	group: "Answers",
	roles: ["owner"],
	asksForProof: true,
	change: "decidePairing",
	plan: (context) => {
		const { args, source } = context;
		if (args === "") return list(context);
		const [, decision, n, role] = FORM.exec(args) ?? [];
		if ((decision !== "approve" && decision !== "deny") || (decision === "deny" && role !== undefined))
			throw wrongArgument(texts.pair.takes, args, "/pair approve 3 guest");
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
		if (result.kind !== "done") return texts.pair.nothing;
		const { n, state, role } = result.pairing;
		const who = named(result.pairing);
		if (state === "approved") return texts.pair.approved(who, role ?? "member", n);
		return state === "denied" ? texts.pair.denied(who) : texts.pair.revoked(who);
	},
};

async function list({ store, now }: CommandContext): Promise<string> {
	const open = (await store.pairings({ scope: OPERATOR, now })).filter(({ state }) => state === "open");
	if (open.length === 0) return texts.pair.nobody;
	return [
		texts.pair.heading(counted(open.length, "person is", "people are")),
		...open.slice(0, LISTED).map((one) => `- ${one.n}: ${named(one)}`),
		...(open.length > LISTED ? [texts.pair.more] : []),
		"",
		texts.pair.howTo,
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
	return texts.pair.who(name === null ? texts.pair.someone : inert(name), inert(id), platform);
}
