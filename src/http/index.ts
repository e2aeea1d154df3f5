// keryx/http: the API, how it is served, and a client for it.

export { type Api, createApi } from "./app.ts";
export type { ApiHost, ChannelFound, ChannelSetup, ModelSetup, WebhookRoute } from "./call.ts";
export {
	apiTransport,
	type Client,
	createClient,
	type Followed,
	type Patience,
	socketTransport,
	type Transport,
	type TransportOptions,
} from "./client/index.ts";
export {
	type ConfirmAnswer,
	type ConfirmBody,
	type ConfirmCallName,
	confirmCalls,
	type WireAuditEntry,
	type WireConfirmation,
	type WireGrant,
} from "./confirm/schemas.ts";
export type { Answer, EndpointName } from "./endpoints.ts";
export type {
	EventType,
	WireConversation,
	WireDelivery,
	WireEvent,
	WireHit,
	WireInbound,
	WireMessage,
	WireSession,
} from "./schemas.ts";
export { type PortOptions, type Served, type ServedOnPort, serveOnPort, serveOnSocket } from "./serve.ts";
