// What the bench of the channels and its gateway agree on: an answer of 20 seconds, and what they say to each other.
import type { Access } from "./channels-platforms.ts";

export const CHUNK_MS = 100;
export const WORDS = 200;

export function wordOf(n: number): string {
	return n === 0 ? "word 1" : ` word ${n + 1}`;
}

export const ANSWER = Array.from({ length: WORDS }, (_, n) => wordOf(n)).join("");

export type Told =
	| {
			readonly say: "connect";
			readonly platform: string;
			readonly accounts: readonly Access[];
			readonly from: number;
	  }
	| { readonly say: "memory" | "watch" | "delay" | "stop" };
