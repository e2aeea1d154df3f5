// The API's client without its server, for a program that only calls.
// Calls and their types come from the table of endpoints.
// Never here: the server's code: it is not even imported.

export { TURN_BEGINS } from "../schemas.ts";
export type { AskAnswer, AskInput, Asking } from "./ask.ts";
export { apiTransport, type Client, createClient } from "./client.ts";
export { type ConfirmationCalls, type ConfirmCallInput, callConfirm } from "./confirmations.ts";
export type { Patience } from "./patience.ts";
export { readHealth, socketTransport, type Transport, type TransportOptions } from "./socket.ts";
export { httpTransport } from "./transports.ts";
export type { Followed } from "./types.ts";
