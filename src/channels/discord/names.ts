// Names shared by the channel and its set-up.

export const API_ROOT = "https://discord.com/api";
/** Application flag: it may read the text of messages. */
export const CONTENT_FLAGS = (1 << 18) | (1 << 19);
export const NO_INTENT =
	"Discord hides the text of messages from this bot: turn on Message Content Intent in the Developer Portal, under Bot; Keryx checks again automatically";
