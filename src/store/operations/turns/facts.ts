// What a turn reads when it starts: the facts about its people, and the transcript. One read, so that both are of one moment.
import type { SessionId } from "../../../domain/index.ts";
import type { Op } from "../../query.ts";
import { type SpeakersFound, speakerFacts } from "../people/speaker-facts.ts";
import { packedTranscript } from "../sessions/read-conversations.ts";
import type { PackedTranscript } from "../transcript/packed.ts";

export function* turnFacts({
	session,
	...people
}: Parameters<typeof speakerFacts>[0] & { readonly session: SessionId }): Op<
	SpeakersFound & { readonly transcript: PackedTranscript }
> {
	const found = yield* speakerFacts(people);
	return { ...found, transcript: yield* packedTranscript({ scope: people.scope, session }) };
}
