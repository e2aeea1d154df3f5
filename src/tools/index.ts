export {
	type CommandAction,
	type CommandFacts,
	type CommandRule,
	type CommandVerdict,
	classifyCommand,
	type DangerReason,
} from "./classifier/index.ts";
export { createTools, onlyTools, type ToolRegistry } from "./registry.ts";
export { clarify, sessionRead, sessionSearch } from "./sessions.ts";
export {
	type ConfirmationQuestion,
	defineTool,
	type PreparedCall,
	type Tool,
	type ToolContext,
	type ToolDefinition,
	type ToolPart,
	type ToolResult,
} from "./types.ts";
