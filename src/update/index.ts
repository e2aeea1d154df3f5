// keryx/update: another version of Keryx takes the place of the one that runs, or nothing changes.
// Versions lie side by side in the home; a journal says how far an update is, so that a start after a kill can finish or undo it.
// Never here: asking people, printing, or SQL.

export { type Asked, forHandOver, handOver, untilAsked } from "./follow.ts";
export { heldUntilToldToGo } from "./held.ts";
export { type Installation, installation, newestVersion, type Plan, planUpdate } from "./plan.ts";
export { tidyWhenOld } from "./tidy.ts";
export { type Outcome, runUpdate, type UpdateStep } from "./update.ts";
