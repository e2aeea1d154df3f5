// Known secrets, and how they are kept out of everything stored or sent (I12).
// Streams, values and bytes go through the same search.
// Never here: where a secret is kept or read from.

export { HIDDEN } from "./hider.ts";
export { NameStream } from "./name-stream.ts";
export {
	type ByteStream,
	createSecrets,
	type Hider,
	NO_SECRETS,
	type Secrets,
	type TextStream,
	withoutNames,
	withoutNamesInJson,
} from "./secrets.ts";
export { SHORTEST_HIDDEN } from "./spellings.ts";
