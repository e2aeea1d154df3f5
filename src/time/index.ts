// Time: the clock, waiting for instants, and work that is due.
// Everything that waits gets its clock injected (I13).
// Never here: what is due, or why.

export { type Clock, createSystemClock, holdingClock, type SystemTimers, systemClock } from "./clock.ts";
export { WallHistory, wakeAt } from "./instants.ts";
export { Rounds, type RoundsOptions } from "./rounds.ts";
