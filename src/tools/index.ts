// keryx/tools: the agent's tools, and the classifier that says which commands need a human first.
// A tool checks its arguments, says what to ask, and runs.
// Never here: who may use a tool, or the rows of its result.

export { createAttachTool } from "./attach.ts";
export { isBehindWider, WIDEN_WALL } from "./call-wall.ts";
export {
	type CommandAction,
	type CommandClass,
	type CommandFacts,
	type CommandVerdict,
	classifyCommand,
	type DangerReason,
	ONCE_ONLY,
} from "./classifier/index.ts";
export { serverOf } from "./mcp/naming.ts";
export { type Browser, LoginNeeded, loginOf } from "./mcp/oauth.ts";
export { RESOURCE_TOOL } from "./mcp/resources.ts";
export {
	createMcpServers,
	type McpCaller,
	type McpServerReport,
	type McpServers,
	type McpServersOptions,
	mayUseServer,
} from "./mcp/servers.ts";
export { createTools, OWN_TOOLS, type ToolRegistry, WORLD_TOOLS } from "./registry.ts";
export { createScheduleTool } from "./schedule.ts";
export { createSendTool, OWNER_ONLY, SEND_TO_OTHERS, type SendToolOptions } from "./send.ts";
export { clarify, sessionRead, sessionSearch } from "./sessions.ts";
export { createTerminalTools } from "./terminal.ts";
export type { TerminalLimits, TerminalOptions } from "./terminal-options.ts";
export {
	type ConfirmationQuestion,
	defineTool,
	type PreparedCall,
	type Tool,
	type ToolCaller,
	type ToolContext,
	type ToolDefinition,
	type ToolPart,
	type ToolResult,
} from "./types.ts";
export { createWebFetchTool } from "./web/fetch.ts";
