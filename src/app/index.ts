// keryx: a Keryx in your own program. Here the parts are put together from a configuration: createKeryx, and what runs at a start.
// The command line and programs that embed Keryx use the same functions.
// Never here: reading arguments, printing for people, rules of a single part. No part below knows of this folder.

export { type ConfigInput, type LoadedConfig, loadConfig } from "../config/index.ts";
export type { PlatformTraits } from "../domain/index.ts";
export { KeryxError } from "../errors.ts";
export type { ChatCommand, CommandCall } from "../gateway/index.ts";
export { defineTool } from "../tools/index.ts";
export { createKeryx } from "./keryx.ts";
export type { Report } from "./report/report.ts";
export type { EngineOptions, Keryx, KeryxOptions } from "./types.ts";
