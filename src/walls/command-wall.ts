// Where one command or program runs, decided once from the rights of its turn.
import type { WallRequest } from "./request.ts";

export type CommandWall =
	| {
			readonly run: "walled";
			readonly request: WallRequest;
			/** The program's whole environment, except what its call adds. */
			readonly env: Readonly<Record<string, string>>;
	  }
	| {
			readonly run: "open";
			readonly env: Readonly<Record<string, string>>;
			/** Everything that is not clearly read-only needs approval. */
			readonly asks: boolean;
			/** Why there is no wall, and the remedy; for people. */
			readonly reason: string;
			readonly remedy: string | null;
	  }
	| {
			/** On another machine, or in a container, which is then the wall. */
			readonly run: "elsewhere";
			/** Of the processes there. */
			readonly machine: string;
			/** Where commands start there. */
			readonly folder: string;
			readonly env: Readonly<Record<string, string>>;
			/** For people: `on deploy@build.example over ssh`, `in a docker container of debian:12`. */
			readonly where: string;
			/** A command for the operator to find out why it does not work. */
			readonly check: string;
			/** Whether checkpoints cover the files there. */
			readonly covered: boolean;
	  }
	| { readonly run: "refused"; readonly reason: string; readonly remedy: string | null };

/** For programs that use no walls. */
export function withoutWall(env: Readonly<Record<string, string>>): CommandWall {
	return { run: "open", env, asks: false, reason: "walls are not used here", remedy: null };
}
