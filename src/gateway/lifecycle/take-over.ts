// A gateway on the same store has died: its started and accepted work continues here.
import type { Store } from "../../store/index.ts";
import type { Unheard } from "../inbox/unheard.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { LastAnswered } from "../lanes/last-answered.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Connections } from "./connections.ts";
import { takeFromDead } from "./recovery.ts";
import type { ScheduleRunner } from "./schedule-runner.ts";

export async function takeOver({
	store,
	lanes,
	lastAnswered,
	connections,
	unheard,
	outbox,
	scheduleRunner,
}: {
	readonly store: Store;
	readonly lanes: Lanes;
	readonly lastAnswered: LastAnswered;
	readonly connections: Connections;
	readonly unheard: Unheard;
	readonly outbox: Outbox;
	readonly scheduleRunner: ScheduleRunner;
}): Promise<void> {
	lastAnswered.forgetOthers();
	lanes.reconsider();
	const channels = connections.values();
	for (const { conversation, turn } of await takeFromDead({ store, aliveAt: null, channels }))
		if (!lanes.isBusy(conversation)) lanes.resume(conversation, turn);
	unheard.look();
	await connections.openWaiting();
	outbox.kick();
	// Its jobs, and the ends of its runs.
	scheduleRunner.look();
}
