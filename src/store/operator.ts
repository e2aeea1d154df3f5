import type { OperatorScope } from "./types.ts";

/** Keryx itself, or its operator. */
export const OPERATOR: OperatorScope = { kind: "operator" };
