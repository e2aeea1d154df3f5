import type { OperatorScope } from "./types.ts";

/** Keryx itself reads, or who runs it. */
export const OPERATOR: OperatorScope = { kind: "operator" };
