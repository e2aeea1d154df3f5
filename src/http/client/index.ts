// The API's client without its server, for a program that only calls. How the API answers never comes in here.

export { confirmCalls } from "../confirm/schemas.ts";
export {
	apiTransport,
	type Client,
	createClient,
	type Followed,
	socketTransport,
	type Transport,
	type TransportOptions,
} from "./client.ts";
export type { Patience } from "./patience.ts";
