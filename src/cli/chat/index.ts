// The terminal chat: what is shown, how it is drawn, and input.
// `keryx chat` uses it: drawn in a terminal, plain lines elsewhere.
// Never here: a call of the API.

export type { Complete } from "./editor-state.ts";
export type { ChatEvent } from "./events.ts";
export { createPlainChat } from "./plain.ts";
export { type ChatTerminal, createChatTerminal } from "./terminal.ts";
