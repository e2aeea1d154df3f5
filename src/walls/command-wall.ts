// Where one command or program runs, decided once for the rights of the turn that starts it. This type alone carries the decision.
import type { WallRequest } from "./request.ts";

export type CommandWall =
	| {
			readonly run: "walled";
			readonly request: WallRequest;
			/** All of the program's environment, but for what its call adds. */
			readonly env: Readonly<Record<string, string>>;
	  }
	| {
			readonly run: "open";
			readonly env: Readonly<Record<string, string>>;
			/** Everything that is not plainly read-only is asked about. */
			readonly asks: boolean;
			/** Why there is no wall, and what would give one; for people. */
			readonly reason: string;
			readonly remedy: string | null;
	  }
	| {
			/** On another machine, or in a container: that is the wall. */
			readonly run: "elsewhere";
			/** Of the processes there. */
			readonly machine: string;
			/** Where commands start there. */
			readonly folder: string;
			readonly env: Readonly<Record<string, string>>;
			/** For people: `on deploy@build.example over ssh`, `in a docker container of debian:12`. */
			readonly where: string;
			/** A command by which the operator can look why it does not work. */
			readonly check: string;
			/** Whether checkpoints know the files there. */
			readonly covered: boolean;
	  }
	| { readonly run: "refused"; readonly reason: string; readonly remedy: string | null };

/** For programs that use no walls. */
export function withoutWall(env: Readonly<Record<string, string>>): CommandWall {
	return { run: "open", env, asks: false, reason: "walls are not used here", remedy: null };
}
