// The gateway: channels in, lanes, turns, outbox, channels out. Its memory holds only what the store says is unfinished, so kill -9 is
// safe at any moment. This file is its start, its end and what can be asked of it; `parts.ts` puts the parts together.

import type { Config } from "../config/index.ts";
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { isPassing, OPERATOR, type Scope } from "../store/index.ts";
import { untilWritten } from "../time/index.ts";
import type {
	Channel,
	ChannelBridge,
	ChannelReply,
	ChannelRequest,
	Inbound,
	StoredAdmission,
} from "./channel.ts";
import type { Actions } from "./commands/actions.ts";
import { tellStory } from "./commands/why.ts";
import { tellCutOff } from "./lifecycle/cut-off.ts";
import { GatewayLife } from "./lifecycle/life.ts";
import { recover } from "./lifecycle/recovery.ts";
import type { Outlet } from "./outbox/outlet.ts";
import { createGatewayParts, type GatewayParts } from "./parts.ts";
import type { Sending } from "./sending/types.ts";
import type { Delta, PartialAnswer } from "./turn/deltas.ts";
import type { Gateway, GatewayOptions } from "./types.ts";

/** How long the end waits for a store in trouble. After that, people whose turns were cut off are not told. */
const LAST_WORDS_MS = 10_000;

export function createGateway(options: GatewayOptions): Gateway {
	return new RunningGateway(options);
}

class RunningGateway implements Gateway {
	readonly #options: GatewayOptions;
	readonly #life = new GatewayLife();
	readonly #parts: GatewayParts;
	readonly outlet: Outlet;
	readonly sending: Sending;
	readonly actions: Actions;
	readonly commands: Gateway["commands"];
	#unlisten = () => {};

	constructor(options: GatewayOptions) {
		this.#options = options;
		this.#parts = createGatewayParts(options, this.#life);
		this.outlet = this.#parts.outlet;
		this.sending = this.#parts.sending;
		this.actions = this.#parts.actions;
		this.commands = this.#parts.commands.all;
	}

	async start(): Promise<void> {
		const { store, clock, confirmations, processes, schedules } = this.#options;
		const { live, lanes, outbox, connections, runner, sessionSettings, starts } = this.#parts;
		this.#life.begin();
		this.#life.awaySince = await this.#patiently(() => store.lastEventAt({ scope: OPERATOR }));
		// Before unfinished work is read: the end of a restore may end a command, too.
		await this.#patiently(() => this.#finishRestores());
		const unfinished = await this.#patiently(() =>
			recover({
				store,
				clock,
				config: live.values,
				aliveAt: this.#life.awaySince,
				channels: connections.values(),
				outlet: this.outlet,
			}),
		);
		sessionSettings.takeHomes(await this.#patiently(() => store.homeChannels({ scope: OPERATOR })));
		this.#life.accept();
		const unlisten = [
			store.onCommit(() => outbox.kick()),
			confirmations?.onWoken((woken) => starts.wake(woken, "confirmation")),
			processes?.onWoken((woken) => starts.wake(woken, "process")),
			schedules?.onWoken((woken) => {
				if (woken) starts.wake(woken, "schedule");
				this.#parts.scheduleRunner.look();
			}),
		];
		this.#unlisten = () => {
			for (const end of unlisten) end?.();
		};
		// Before any turn resumes: programs left by an earlier run must not be mistaken for this one's.
		await this.#patiently(async () => processes?.open());
		// Commands first: they hold their lanes until they are done.
		for (const item of unfinished.commands) this.#life.track(runner.recover(item));
		for (const { conversation, turn } of unfinished.turns) lanes.resume(conversation, turn);
		for (const { conversation, item, busy } of unfinished.messages) lanes.add(conversation, item, busy);
		outbox.kick();
		this.#parts.watchers.start();
		this.#parts.unheard.start();
		await this.#patiently(() => this.#parts.neighbours.start());
		this.#parts.relay?.start();
		await this.#patiently(() => this.#parts.follower.start());
		await connections.openAll();
		this.#parts.unknownDeliveries.start();
		this.#parts.channelWatch.start();
		this.#parts.scheduleRunner.start();
	}

	/** Channels go last: the final words of drained turns still leave through them. */
	async stop(): Promise<void> {
		const { store, clock, processes } = this.#options;
		const { live, log, lanes, outlet, sessionSettings } = this.#parts;
		const config = live.values;
		this.#life.beginEnd();
		await Promise.all([
			this.#parts.scheduleRunner.stop(),
			this.#parts.channelWatch.stop(),
			this.#parts.unknownDeliveries.stop(),
			this.#parts.unheard.stop(),
			this.#parts.neighbours.stop(),
			this.#life.untilDone(),
		]);
		this.#parts.relay?.stop();
		const unplanned = (error: unknown) => log("the shutdown could not be planned", error);
		const drained = lanes.drain();
		const cancel = clock.after(config.shutdown.drain_seconds * 1000, () => {
			// Marked first: planned stops do not count as interruptions.
			void store
				.planInterruptions()
				.catch(unplanned)
				.then(() => lanes.abortAll("shutdown"));
		});
		await drained;
		cancel();
		await this.#lastWords(() => tellCutOff({ store, config, sessionSettings, outlet })).catch(unplanned);
		this.#unlisten();
		await processes?.close().catch((error: unknown) => log("processes could not be released", error));
		await this.#parts.outbox.stop();
		await this.#parts.connections.stopAll();
		await this.#parts.watchers.stop();
		await this.#parts.follower.stop();
	}

	async connect(channel: Channel): Promise<void> {
		const { connections, channelWatch, outbox } = this.#parts;
		const added = connections.add(channel);
		if (!this.#life.isAccepting) return;
		await connections.open(added);
		channelWatch.look();
		await outbox.reachable(channel);
	}

	disconnect(name: string): Promise<void> {
		return this.#parts.connections.remove(name);
	}

	async receive(name: string, request: ChannelRequest): Promise<ChannelReply> {
		if (!this.#life.isAccepting) return { kind: "later" };
		return (await this.#parts.connections.named(name)?.receive?.(request)) ?? { kind: "refused" };
	}

	bridge(name: string): ChannelBridge | null {
		return this.#parts.connections.named(name)?.bridge ?? null;
	}

	accept(inbound: Inbound): Promise<StoredAdmission> {
		return this.#parts.inbox.accept(inbound);
	}

	async why(message: number, scope: Scope): Promise<string> {
		return tellStory(await this.#options.store.story({ scope, id: message }));
	}

	onDelta(listener: (delta: Delta) => void): () => void {
		return this.#parts.deltas.listen(listener);
	}

	partial(conversation: ConversationId): PartialAnswer | null {
		return this.#parts.deltas.partial(conversation);
	}

	async workspaceOf(conversation: ConversationId): Promise<string> {
		const { store, workspaceOf } = this.#options;
		const { profile } = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		if (!workspaceOf)
			throw new KeryxError("workspace.unusable", "conversations have no workspace folders here");
		return workspaceOf({ conversation, profile }).folder;
	}

	health() {
		return this.#parts.channelWatch.health();
	}

	async reconfigure(config: Config) {
		const { store, clock } = this.#options;
		const { keys, restart } = this.#parts.live.change(config);
		if (keys.length > 0)
			await untilWritten(() => store.noteConfig({ kind: "changed", keys, restart }), {
				clock,
				signal: this.#life.stopping,
				isPassing,
				log: (error) =>
					this.#parts.log("the channels cannot be told about the configuration change yet", error),
			});
		return { keys, restart };
	}

	async refuseConfig({ key, line }: { readonly key?: string; readonly line?: number }) {
		await this.#options.store.noteConfig({ kind: "refused", key: key ?? null, line: line ?? null });
	}

	async holdConfig(sections: readonly string[]) {
		await this.#options.store.noteConfig({ kind: "held", sections });
	}

	async #finishRestores(): Promise<void> {
		for (const { id, workspace, problem, left } of (await this.#options.checkpoints?.recover()) ?? [])
			this.#parts.log(
				problem === null
					? `finished the interrupted restore ${id} of ${workspace}`
					: `cannot finish the interrupted restore ${id} of ${workspace} (${left.length} files left): ${problem}`,
				undefined,
			);
	}

	/** Until the store answers, or the end has begun. */
	#patiently<Value>(work: () => Promise<Value>): Promise<Value> {
		const log = (error: unknown) => this.#parts.log("startup is waiting for the store", error);
		return untilWritten(work, { clock: this.#options.clock, signal: this.#life.stopping, isPassing, log });
	}

	async #lastWords(work: () => Promise<void>): Promise<void> {
		const { clock } = this.#options;
		const enough = new AbortController();
		const cancel = clock.after(LAST_WORDS_MS, () => enough.abort());
		const log = (error: unknown) => this.#parts.log("shutdown is waiting for the store", error);
		await untilWritten(work, { clock, signal: enough.signal, isPassing, log }).finally(cancel);
	}
}
