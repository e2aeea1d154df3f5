// keryx/http: the API, its server, and a client for it.
// A call is one entry in a table of endpoints; server, OpenAPI, client and page take their types from it.
// Never here: what a call does beyond reading its input and wording its answer.

export { toWireServer } from "./agent/mcp-servers.ts";
export { type Api, createApi } from "./app.ts";
export { type ServedBridge, serveBridge } from "./bridge/server.ts";
export type {
	ApiHost,
	Author,
	ChannelFound,
	ChannelSetup,
	McpSetup,
	ModelSetup,
	SettingsEditor,
	SettingsWanted,
	SettingValue,
	WebhookRoute,
} from "./call.ts";
export {
	type AskAnswer,
	type AskInput,
	type Asking,
	apiTransport,
	type Client,
	type ConfirmationCalls,
	createClient,
	type Followed,
	httpTransport,
	type Patience,
	socketTransport,
	type Transport,
	type TransportOptions,
} from "./client/index.ts";
export {
	type ConfirmAnswer,
	type ConfirmBody,
	type ConfirmCallName,
	type ConfirmQuery,
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
