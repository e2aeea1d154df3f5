// What a program runs in turn, as data: words, the text of a script or of code, or something unseen.
import type { EnvironmentChange, Field } from "../types.ts";

export type Inner =
	| {
			readonly kind: "command";
			readonly words: readonly Field[];
			readonly sets?: readonly EnvironmentChange[];
			readonly many?: boolean;
			/** The folder that it is started in, when it is another one. */
			readonly folder?: Field;
	  }
	| { readonly kind: "script"; readonly script: Field; readonly positional?: readonly Field[] }
	/** In another language than the shell's. */
	| { readonly kind: "code"; readonly text: string; readonly language?: "sql" }
	| { readonly kind: "unseen"; readonly class: "unseen" | "download"; readonly why: string };
