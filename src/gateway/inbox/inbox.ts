// The ways in: messages, presses and reactions from channels, and messages from our own ways in (page, CLI, API). All of them pass the
// same admission, in the order in which each way in brought them. It refuses everything while the gateway does not run.
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import type { Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Channel, ChannelHost, ChannelSettings, Inbound, StoredAdmission } from "../channel.ts";
import type { ReceivedCommand } from "../commands/runner.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Connections } from "../lifecycle/connections.ts";
import type { GatewayLife } from "../lifecycle/life.ts";
import type { Audiences } from "../outbox/audiences.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { AddressedAlbums } from "./addressed.ts";
import { admit } from "./admission.ts";
import { ArrivalOrder } from "./arrival-order.ts";
import { createHost } from "./host.ts";
import { type PressOptions, press, pressByReaction } from "./presses.ts";

const OWN_WAY_IN = { name: "", account: "" } as const;
const UNNAMED = { who: "program", via: "api", decides: false } as const;

export interface InboxOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Read each time: it may change. */
	readonly config: () => Config;
	readonly settingsOf: (channel: string) => ChannelSettings;
	readonly randomBytes: (length: number) => Uint8Array;
	/** Null: nobody can be asked. */
	readonly confirmations: Confirmations | null;
	readonly life: GatewayLife;
	readonly lanes: Lanes;
	readonly connections: Pick<Connections, "homes">;
	readonly audiences: Audiences;
	readonly outlet: Outlet;
	readonly onCommand: (command: ReceivedCommand) => void;
}

export class Inbox {
	readonly #with: InboxOptions;
	readonly #ownOrder = new ArrivalOrder();
	readonly #albums = new AddressedAlbums();
	readonly #admitting = new Set<Promise<StoredAdmission>>();

	constructor(options: InboxOptions) {
		this.#with = options;
	}

	/** Without a poster, the writer is a program that decides nothing: it is never taken for a channel. */
	accept(inbound: Inbound): Promise<StoredAdmission> {
		const transport = { poster: UNNAMED, ...inbound.transport };
		return this.#admit({ ...inbound, transport }, OWN_WAY_IN, this.#ownOrder);
	}

	/** What a channel may ask for. Each channel has its own arrival order. */
	hostOf(channel: Channel): ChannelHost {
		const { store, config, settingsOf, lanes, life } = this.#with;
		const order = new ArrivalOrder();
		return createHost(channel, {
			store,
			config,
			settings: () => settingsOf(channel.name),
			lanes,
			accept: (inbound) => this.#admit(inbound, channel, order),
			inOrder: async (write) => {
				life.assertAccepting();
				return inOrder(write, order);
			},
			// Also while Keryx stops: a stopping channel reports where it will continue.
			passed: (write) => inOrder(write, order),
			pressed: (given) => press(given, channel.account, this.#pressing(order)),
			pressedByReaction: (given) => pressByReaction(given, channel.account, this.#pressing(order)),
		});
	}

	/** Resolves when everything that is being admitted now was committed, or has failed. */
	async untilAdmitted(): Promise<void> {
		await Promise.allSettled(this.#admitting);
	}

	async #admit(
		inbound: Inbound,
		{ name, account }: Pick<Channel, "name" | "account">,
		arrivalOrder: ArrivalOrder,
	): Promise<StoredAdmission> {
		const { store, clock, config, settingsOf, randomBytes, life, outlet, onCommand } = this.#with;
		const { connections, audiences, lanes } = this.#with;
		life.assertAccepting();
		const admitting = admit(inbound, account, {
			store,
			clock,
			config: config(),
			settings: settingsOf(name),
			albums: this.#albums,
			randomBytes,
			outlet,
			homes: () => connections.homes(),
			isOwners: (destination) => audiences.isOwners(destination),
			arrivalOrder,
			onOwner: (source) => audiences.ownerAt(source),
			onMessage: (conversation, item, busy) => lanes.add(conversation, item, busy),
			onCommand,
		});
		this.#admitting.add(admitting);
		return admitting.finally(() => this.#admitting.delete(admitting));
	}

	#pressing(arrivalOrder: ArrivalOrder): PressOptions {
		const { store, clock, config, confirmations, life, onCommand } = this.#with;
		life.assertAccepting();
		return { store, clock, config: config(), confirmations, arrivalOrder, onCommand };
	}
}

/** After everything that the channel has brought before. */
async function inOrder<Value>(write: () => Promise<Value>, order: ArrivalOrder): Promise<Value> {
	await order.pass(Promise.resolve());
	return write();
}
