// keryx: a Keryx in your own program. Here the parts are put together; nothing here reads arguments or prints for people, and no part
// below knows of it.

export { type ConfigInput, type LoadedConfig, loadConfig } from "../config/index.ts";
export type { PlatformTraits } from "../domain/index.ts";
export { KeryxError } from "../errors.ts";
export type { ChatCommand, CommandCall } from "../gateway/index.ts";
export { defineTool } from "../tools/index.ts";
export { createKeryx, type EngineOptions, type Keryx, type KeryxOptions } from "./keryx.ts";
export type { Report } from "./report.ts";
