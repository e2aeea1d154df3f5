// Finds processes: their host or its files, and the store. A running Keryx is not asked: it may hang.

import { type Home, homeAt, mayHaveStore, storeUrlOf } from "../../../app/home.ts";
import { keryxHome, type LoadedConfig } from "../../../config/index.ts";
import { isConversationId } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import { localMachine, type ProcessMachine } from "../../../processes/index.ts";
import { type Conversation, OPERATOR, openStore, type Store, systemIds } from "../../../store/index.ts";
import { systemClock } from "../../../time/index.ts";
import { type CliContext, openConfig } from "../../context.ts";
import type { Output } from "../../io/output.ts";
import { found } from "../../named-conversation.ts";
import { texts } from "../../texts.ts";

export interface Reach {
	readonly output: Output;
	readonly machine: ProcessMachine;
	/** Whether a host runs and does not answer within a few seconds. */
	readonly isSilent: () => Promise<boolean>;
	/** Opened on first use. Null if there is none, or it cannot be read, which was reported. */
	readonly store: () => Promise<Store | null>;
}

/** `needsStore`: an unreadable one is an error. Otherwise the host alone is trusted, so that a process can still be killed. */
export async function withProcesses(
	context: CliContext,
	{ needsStore }: { readonly needsStore: boolean },
	use: (reach: Reach) => Promise<void>,
): Promise<void> {
	const { config, output } = openConfig(context);
	const home = homeAt(keryxHome(context.env));
	let opened: Promise<Store | null> | undefined;
	const open = () =>
		storeIn(home, config).catch((error: unknown) => {
			if (needsStore || !(error instanceof KeryxError)) throw error;
			output.warn(texts.processes.storeUnreadable(error.message));
			return null;
		});
	const store = () => (opened ??= open());
	try {
		await use({
			output,
			machine: localMachine(home.path),
			store,
			isSilent: () => isSilent(localMachine(home.path, { answerMs: ANSWER_MS })),
		});
	} finally {
		await (await opened?.catch(() => null))?.close();
	}
}

const ANSWER_MS = 5000;

async function isSilent(machine: ProcessMachine): Promise<boolean> {
	try {
		await (await machine.find())?.close();
		return false;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "process.host_silent") return true;
		throw error;
	}
}

function storeIn(home: Home, { values, secrets }: LoadedConfig): Promise<Store | null> {
	if (!mayHaveStore(home, values)) return Promise.resolve(null);
	const url = storeUrlOf(home, values);
	return openStore({ url, clock: systemClock, ids: systemIds(systemClock), secrets, access: "read" });
}

/** By its id or key; a missing one is an error. */
export async function conversationNamed(reach: Reach, name: string): Promise<Conversation> {
	const store = await reach.store();
	for (const ref of [...(isConversationId(name) ? [{ id: name }] : []), { key: name }]) {
		const there = store && (await found(store.conversation({ scope: OPERATOR, ref })));
		if (there) return there;
	}
	throw new KeryxError("store.not_found", texts.conversation.notFound(JSON.stringify(name)), {
		field: "conversation",
		hint: texts.conversation.notFoundHint,
	});
}
