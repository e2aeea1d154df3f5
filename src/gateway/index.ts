// keryx/gateway: inbox, lanes, turns and outbox, over a store, an agent and channels.

export type {
	Admission,
	Channel,
	ChannelHealth,
	ChannelHost,
	Inbound,
	Outgoing,
	SendResult,
} from "./channel.ts";
export { type GatewayClock, systemClock } from "./clock.ts";
export type { Delta, Partial } from "./deltas.ts";
export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { tellStory } from "./why.ts";
