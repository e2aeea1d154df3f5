// What each backend keeps of what a wall promises. The conformance suite holds each to its word.

export interface WallPromises {
	/** Keryx's home cannot be read or written, nor exchanged for another one. */
	readonly hidesHome: boolean;
	/** Other processes can be neither seen nor signalled. */
	readonly ownProcesses: boolean;
	/** Nothing the program started outlives its end. */
	readonly endsEverything: boolean;
	/** exact: a signal is told as one. code: as 128 and its number. */
	readonly signals: "exact" | "code";
	/** Keryx's ports cannot be reached: always, or where the wall has no network. */
	readonly closesPorts: "always" | "without_network";
	readonly terminals: boolean;
	/** Unix sockets outside cannot be reached. */
	readonly closesUnixSockets: boolean;
	/** Variables reach the program without ever being in an argument list. */
	readonly hidesVariables: boolean;
}

export const BUBBLEWRAP_PROMISES: WallPromises = {
	hidesHome: true,
	ownProcesses: true,
	endsEverything: true,
	signals: "code",
	closesPorts: "without_network",
	terminals: true,
	closesUnixSockets: true,
	hidesVariables: true,
};

/** macOS has no namespaces: processes stay visible, and what leaves its group must be looked for. */
export const SANDBOX_EXEC_PROMISES: WallPromises = {
	hidesHome: true,
	ownProcesses: false,
	endsEverything: false,
	signals: "exact",
	closesPorts: "always",
	terminals: true,
	closesUnixSockets: true,
	hidesVariables: true,
};
