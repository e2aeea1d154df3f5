export { followPartials, type PartialAnswer, takeDelta, usePartial } from "./partials.ts";
export { refreshByEvents } from "./refresh.ts";
export { type ConnectionState, onFrames, startLive, stayConnected, useConnection } from "./stream.ts";
export { followTurns, noteRunning, useRunningTurn } from "./turns.ts";
