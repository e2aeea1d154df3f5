// Markdown in the dialect and within the limits of each platform, and as plain text.
// Pure: text in, parts out.
// Never here: sending, or a limit that only one chat has.

export type { Align, Block, Inline, List } from "./markdown/ast.ts";
export { decodeReferences } from "./markdown/entities.ts";
export { parseMarkdown } from "./markdown/parse.ts";
export { sizeOf } from "./measure.ts";
export { render, renderParts } from "./render.ts";
export { split } from "./split.ts";
export type { Format, Markup, MessageLimit, Part, Rendered, SplitPart } from "./types.ts";
export { MARKUPS } from "./types.ts";
