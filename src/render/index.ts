export type { Align, Block, Inline, List } from "./markdown/ast.ts";
export { parseMarkdown } from "./markdown/parse.ts";
export { render, renderParts } from "./render.ts";
export { split } from "./split.ts";
export type { Format, Markup, MessageLimit, Part, Rendered, SplitPart } from "./types.ts";
export { MARKUPS } from "./types.ts";
