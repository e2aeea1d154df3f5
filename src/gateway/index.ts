// keryx/gateway: inbox, lanes, turns and outbox, over a store, an agent and channels.
// Each stage of a message has a folder: inbox, lanes, turn, outbox; next to them commands, files and lifecycle.
// Never here: SQL, a platform's protocol, HTTP.

export {
	type Align,
	type Block as MarkdownBlock,
	type Inline as MarkdownInline,
	type List as MarkdownList,
	parseMarkdown,
} from "../render/index.ts";
export { type Clock, systemClock } from "../time/index.ts";
export type {
	Admission,
	BridgeOutcome,
	BridgeWork,
	Channel,
	ChannelBridge,
	ChannelHealth,
	ChannelHost,
	ChannelReply,
	ChannelRequest,
	ChannelSettings,
	ChannelTraits,
	Inbound,
	Outgoing,
	SendResult,
	StoredAdmission,
} from "./channel.ts";
export type { Actions } from "./commands/actions.ts";
export { assertMayDecide } from "./commands/confirmations.ts";
export { type ChatCommand, COMMANDS as commandList, type CommandCall } from "./commands/index.ts";
export { tellStory } from "./commands/why.ts";
export {
	createWorkspaces,
	moveWorkspaces,
	snapshotName,
	type Workspace,
	type WorkspaceFolders,
	workspaceFinder,
	workspaceFolders,
} from "./files/workspaces.ts";
export { createGateway } from "./gateway.ts";
export { putBlobStream } from "./inbox/blobs.ts";
export { codeDigest } from "./inbox/pairing-code.ts";
export { profileFor, toolsFor } from "./inbox/profiles.ts";
export { questionDeliveries } from "./outbox/question.ts";
export { toDeliveries } from "./outbox/reply.ts";
export type { Needs, Resolution, Sender, Verdict } from "./sending/targets.ts";
export { sendTool } from "./sending/tool.ts";
export type { NewSend, Sending, Sent } from "./sending/types.ts";
export { LET_IN } from "./sentences.ts";
export { homesOf } from "./session-settings.ts";
export { storeAttachments } from "./turn/attachments/attachments.ts";
export type { Delta, PartialAnswer } from "./turn/deltas.ts";
export { chooseWall, limitsOf } from "./turn/walls/choice.ts";
export { tidyWalls } from "./turn/walls/tmp.ts";
export { createWalls, type ProgramTurn, type Walls, type WallsOptions } from "./turn/walls/walls.ts";
export type { Gateway, GatewayOptions } from "./types.ts";
