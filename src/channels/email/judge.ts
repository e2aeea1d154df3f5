// Who a mail is from, whether the sender is proven, and whether it may be answered at all. Pure.
import type { Inbound } from "../../gateway/index.ts";
import { proofOf } from "./authentication.ts";
import { hopsOf, isWanted, whyAutomatic } from "./automatic.ts";
import type { Mail } from "./mail.ts";
import type { EmailOptions } from "./options.ts";

const HOP_LIMIT = 5;

export type JudgeOptions = Pick<
	EmailOptions,
	"authservId" | "trust" | "decides" | "answerAutomatic" | "hopLimit"
> & { readonly own: ReadonlySet<string> };

/** Facts about the writer that only the channel knows. */
export function judge(mail: Mail, options: JudgeOptions): NonNullable<Inbound["transport"]> {
	const {
		authservId,
		trust = false,
		decides = false,
		answerAutomatic = [],
		hopLimit = HOP_LIMIT,
		own,
	} = options;
	const { from } = mail;
	if (!from) return { refused: "it does not have exactly one sender" };
	if (own.has(from.address)) return { own: true };
	const hops = hopsOf(mail);
	if (hops >= hopLimit)
		return {
			refused: `it is the ${hops}th answer of a Keryx without a person in between (hop limit ${hopLimit})`,
		};
	const proof = proofOf(from.address, mail.headers("authentication-results"), authservId);
	if (!proof.isProven && !trust) return { refused: `the sender is not proven: ${proof.reason}` };
	const unproven = !proof.isProven && !decides ? { unproven: true } : {};
	// Another Keryx is a bot: heard only if bots are, and it decides nothing.
	if (hops > 0) return { isBot: true, ...unproven };
	const automatic = whyAutomatic(mail);
	if (automatic === null) return unproven;
	if (!isWanted(from.address, answerAutomatic)) return { refused: `${automatic} is not answered` };
	// No person wrote it, so it decides nothing.
	return { unproven: true };
}
