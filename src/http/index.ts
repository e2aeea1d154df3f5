// keryx/http: the API, how it is served, and a client for it.

export { type Api, createApi } from "./app.ts";
export type { ApiHost, ChannelFound, ChannelSetup, WebhookRoute } from "./call.ts";
export type {
	apiTransport,
	Client,
	createClient,
	Followed,
	Patience,
	socketTransport,
	Transport,
	TransportOptions,

<<<<<<< HEAD
} from "./client/client.ts";

export type { Patience } from "./client/patience.ts";
export {
	type ConfirmAnswer,
	type ConfirmBody,
	type ConfirmCallName,
	confirmCalls,
	type WireAuditEntry,
	type WireConfirmation,
	type WireGrant,
} from "./confirm/schemas.ts";

=======
} from "./client/index.ts";
>>>>>>> door

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
