// The chat of the terminal: what is shown, how it is drawn, and how one writes.

export type { Complete } from "./editor-state.ts";
export type { ChatEvent } from "./events.ts";
export { createPlainChat } from "./plain.ts";
export { type ChatTerminal, createChatTerminal } from "./terminal.ts";
