// Time: the clock, waiting for instants, work that is due, deadlines, times as text, and retries until something is written.
// Everything that waits gets its clock injected (I13).
// Never here: what is due, or why.

export { type Clock, createSystemClock, holdingClock, type SystemTimers, systemClock } from "./clock.ts";
export { Aborted, DeadlinePassed, signalWithin, withDeadlines, within } from "./deadline.ts";
export { WallHistory, wakeAt } from "./instants.ts";
export { isoTime } from "./iso.ts";
export { Rounds, type RoundsOptions } from "./rounds.ts";
export { type Patience, Pauses, untilWritten } from "./until-written.ts";
