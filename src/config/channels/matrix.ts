// `channels.<name>.matrix`: the homeserver of a Matrix channel, and whether encrypted rooms can be read.
import { z } from "zod";
import type { Network } from "./network.ts";

export const matrixSchema = z.strictObject({
	/** The homeserver's address. */
	homeserver: z
		.url({ protocol: /^https?$/ })
		.max(1000)
		.refine((url) => {
			if (!URL.canParse(url)) return true;
			const { username, search, hash } = new URL(url);
			return username === "" && search === "" && hash === "";
		}, "must be an address such as https://matrix.example.org, without a password, ? and #"),
	/** Whose token it must be; default: whoever it belongs to. */
	user: z
		.string()
		.regex(/^@?[^\s:@]{1,200}(?::[^\s]{1,200})?$/, "must be a user such as @keryx:example.org")
		.optional(),
	encryption: z.boolean().default(true),
});

export type MatrixSettings = z.output<typeof matrixSchema>;

/** Problems of a Matrix entry as a whole. */
export function* matrixProblems(entry: {
	readonly platform: string;
	readonly matrix?: MatrixSettings | undefined;
	readonly token_env?: string | undefined;
	readonly token_file?: string | undefined;
}): Generator<{ readonly path: readonly string[]; readonly message: string }> {
	const { platform, matrix, token_env, token_file } = entry;
	if (platform === "matrix" && matrix && (token_env === undefined) === (token_file === undefined))
		yield {
			path: ["token_env"],
			message: "or token_file must say where the access token is; set one of the two",
		};
}

export const matrixNetwork: Network = {
	label: "Matrix",
	hasUnproven: false,
	fields: [
		{
			key: "homeserver",
			kind: "text",
			label: "Homeserver",
			about: "the homeserver's address",
			example: "https://matrix.example.org",
			needed: true,
		},
		{
			key: "user",
			kind: "text",
			label: "User",
			about: "the agent's account, to log in with its password",
			example: "@keryx:example.org",
		},
		{
			key: "encryption",
			kind: "switch",
			label: "Encrypted rooms",
			about: "without it, encrypted rooms are refused",
			page: "more",
		},
	],
	secrets: [
		{
			option: "token",
			label: "Password or access token",
			about: "the password of that user; without a user, an access token",
			when: "always",
		},
	],
};
