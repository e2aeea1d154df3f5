// Whether a message proves who decides (I14, I17). A channel authenticates its platform's people. A program that posts a message
// speaks for itself alone: the name that it puts into the source proves nothing, whatever rights its poster has. A platform's bot is
// authenticated, and is no human. Some platforms do not say who somebody is: then a human in front of them decides nothing there.

import { isOwnPlatform } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { CommandContext } from "../commands/index.ts";
import { texts } from "../texts.ts";

const NOBODY = { who: "program", via: "api" } as const;

/** Throws where it does not, after the audit has named the poster. */
export async function assertProof(command: string, context: CommandContext): Promise<void> {
	const { poster, source, confirmations } = context;
	const own = isOwnPlatform(source.platform);
	// No channel brings what comes by a way in of our own.
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
