// keryx/update: another version of Keryx replaces the running one, or nothing changes.
// Versions are next to each other in the home; a journal records an update's progress, so that a start after a kill can finish or undo it.
// Never here: asking people, printing, or SQL.

export { type Asked, forHandOver, handOver, untilAsked } from "./follow.ts";
export { heldUntilReleased } from "./held.ts";
export { updatePaths } from "./journal.ts";
export { npm } from "./npm.ts";
export { type Installation, installation, newestVersion, type Plan, planUpdate } from "./plan.ts";
export { tidyWhenOld } from "./tidy.ts";
export { type Outcome, runUpdate, type UpdateStep } from "./update.ts";
