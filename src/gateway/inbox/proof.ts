// Whether a message proves who decides (I14, I17). A channel authenticates its platform's people. A program that posts a message speaks
// only for itself: the name in the source proves nothing, whatever the poster's rights. A platform's bot is authenticated but not human.
// On platforms that do not prove identity, nobody decides.

import { isOwnPlatform } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { CommandContext } from "../commands/index.ts";
import { texts } from "../texts.ts";

const NOBODY = { who: "program", via: "api" } as const;

/** Throws if it does not, after auditing the poster. */
export async function assertProof(command: string, context: CommandContext): Promise<void> {
	const { poster, source, confirmations } = context;
	const own = isOwnPlatform(source.platform);
	// Messages over our own channels come from no platform channel.
	if (own ? poster?.decides : poster === null) return;
	const name = `${source.platform}:${source.userId ?? source.chatId}`;
	const isUnproven = poster?.unproven === true;
	const isBots = poster?.via === "chat" && !isUnproven;
	await confirmations?.refused(
		poster ?? NOBODY,
		`/${command}`,
		isUnproven
			? `written as ${name}, whom the platform does not vouch for`
			: isBots
				? "written by a bot"
				: own
					? `posted as ${name} without proof of identity`
					: `posted as ${name}, which a program cannot prove`,
	);
	if (isUnproven)
		throw new KeryxError("confirmation.refused", texts.proof.unproven, { hint: texts.proof.unprovenHint });
	if (isBots)
		throw new KeryxError("confirmation.refused", texts.proof.bot, {
			hint: texts.proof.botHint,
		});
	throw own
		? new KeryxError("confirmation.refused", texts.proof.noIdentity, {
				hint: texts.proof.noIdentityHint,
			})
		: new KeryxError("confirmation.refused", texts.proof.posted, {
				hint: texts.proof.postedHint,
			});
}
