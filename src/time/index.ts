// Time: the clock, waiting for instants on it, and work that is done when it is due.
// Everything that waits gets its clock from outside (I13).
// Never here: what is due, or why.

export { type Clock, createSystemClock, type SystemTimers, systemClock } from "./clock.ts";
export { WallHistory, wakeAt } from "./instants.ts";
export { Rounds, type RoundsOptions } from "./rounds.ts";
