// keryx/mcp: Keryx as a server of the Model Context Protocol, for other people's agents and programs.
// Each tool is a few calls of the API, made with what the caller showed: a caller may do here what it may do there, and nothing else.
// Never here: a right, a row, or anything that the API does not have.

export { mcpEndpoint } from "./endpoint.ts";
export { serverFor } from "./server.ts";
