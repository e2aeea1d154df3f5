// keryx/gateway: inbox, lanes, turns and outbox, over a store, an agent and channels.

export { type Clock, systemClock } from "../time/index.ts";
export type { Actions } from "./actions.ts";
export { storeAttachments } from "./attachments.ts";
export type {
	Admission,
	Channel,
	ChannelHealth,
	ChannelHost,
	Inbound,
	Outgoing,
	SendResult,
} from "./channel.ts";
export { COMMANDS as commandList } from "./commands/index.ts";
export type { Delta, Partial } from "./deltas.ts";
export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { profileFor, toolsFor } from "./profiles.ts";
export {
	type Align,
	type Block as MarkdownBlock,
	type Inline as MarkdownInline,
	type List as MarkdownList,
	parseMarkdown,
} from "./render/index.ts";
export { toDeliveries } from "./reply.ts";
export { homesOf } from "./surroundings.ts";
export {
	chooseWall,
	createWalls,
	type ProgramTurn,
	tidyWalls,
	type Walls,
	type WallsOptions,
} from "./walls.ts";
export { tellStory } from "./why.ts";
export {
	createWorkspaces,
	moveWorkspaces,
	snapshotName,
	type Workspace,
	type WorkspaceFolders,
	workspaceFinder,
	workspaceFolders,
} from "./workspaces.ts";
