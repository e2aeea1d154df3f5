// What both the channel and its setting up go by.

export const API_ROOT = "https://discord.com/api";
/** Of an application: it may read the text of messages. */
export const CONTENT_FLAGS = (1 << 18) | (1 << 19);
export const NO_INTENT =
	"Discord does not show this bot the text of messages: turn on Message Content Intent in the Developer Portal, under Bot; Keryx looks again by itself";
