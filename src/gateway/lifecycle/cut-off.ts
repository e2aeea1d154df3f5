// A planned shutdown: marks running turns, so that they do not count as interruptions, and notifies their users.
import type { Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { cutOffSentence } from "../sentences.ts";
import type { SessionSettings } from "../session-settings.ts";

/** Call it when no turn writes any more: users notified here get no answer before the shutdown. */
export async function tellCutOff({
	store,
	config,
	sessionSettings,
	outlet,
}: {
	readonly store: Store;
	readonly config: Config;
	readonly sessionSettings: SessionSettings;
	readonly outlet: Outlet;
}): Promise<void> {
	const { turns } = await store.planInterruptions();
	// Another gateway continues them at once.
	if (!config.shutdown.notify || store.cluster?.hasOthers) return;
	const text = cutOffSentence(config.auto_continue_freshness);
	for (const { turn, conversation, platform, chatType, destination } of turns) {
		if (sessionSettings.policyFor(platform, chatType).notifyExcludePlatforms.includes(platform)) continue;
		// Uses the turn's id: its user is notified once, however often it is cut off.
		const deliveries = toDeliveries(
			text,
			{ id: `${turn}:cut-off`, kind: "notice", class: "status", destination },
			outlet,
		);
		await store.notify({ conversation, turn, deliveries });
	}
}
