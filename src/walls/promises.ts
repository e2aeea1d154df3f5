// Which of a wall's promises each backend keeps. The conformance suite checks them.

export interface WallPromises {
	/** Keryx's home cannot be read, written or replaced. */
	readonly hidesHome: boolean;
	/** Other processes can be neither seen nor signalled. */
	readonly ownProcesses: boolean;
	/** Nothing the program started outlives its end. */
	readonly endsEverything: boolean;
	/** exact: a signal is reported as one. code: as 128 plus its number. */
	readonly signals: "exact" | "code";
	/** Keryx's ports cannot be reached: always, or if the wall has no network. */
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

/** macOS has no namespaces: processes stay visible, and those that leave the group must be searched for. */
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
