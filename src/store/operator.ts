// The operator's scope: sees and may do everything.
import type { OperatorScope } from "./types.ts";

/** Keryx itself, or its operator. */
export const OPERATOR: OperatorScope = { kind: "operator" };
