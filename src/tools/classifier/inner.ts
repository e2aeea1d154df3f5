// What a program runs in its turn, as data: words, the text of a script, or something that cannot be seen.
import type { EnvironmentChange, Field } from "./types.ts";

export type Inner =
	| {
			readonly kind: "command";
			readonly words: readonly Field[];
			readonly sets?: readonly EnvironmentChange[];
			readonly many?: boolean;
	  }
	| { readonly kind: "script"; readonly script: Field; readonly positional?: readonly Field[] }
	| { readonly kind: "unseen"; readonly rule: "unseen" | "download"; readonly why: string };
