// Finds questions to a human in chat text. The page shows a question's current state, so it leaves out this text, which never changes.
// Pure.

export interface Asked {
	/** The text around the questions. */
	readonly rest: string;
	readonly questions: readonly AskedQuestion[];
}

export interface AskedQuestion {
	/** The confirmation's id. */
	readonly id: string;
	readonly text: string;
}

/**
 * From the first line of a question to its last, in Keryx's present and earlier wording: stored chats contain both. The asker's text in
 * between cannot contain a code mark.
 */
const QUESTION =
	/(?:^|\n)[^\n]* (?:wants to run [^\n]* and needs your approval\.|asks for your confirmation: )[\s\S]*?\nAnswer with `?\/approve ([0-9a-f]{6,64})`? or `?\/deny \1`?[^\n]*(?:\nOnly the owner can answer[^\n]*)?/g;

export function questionsIn(text: string): Asked {
	if (!text.includes("/approve ")) return { rest: text, questions: NONE };
	const questions: AskedQuestion[] = [];
	const rest = text.replace(QUESTION, (question, id: string) => {
		questions.push({ id, text: question.trim() });
		return "";
	});
	return questions.length === 0 ? { rest: text, questions } : { rest: rest.trim(), questions };
}

const NONE: readonly AskedQuestion[] = [];

/** The confirmation that a call waits for, from its preliminary result. */
export function waitedFor(result: string): string | null {
	return /^waiting for confirmation ([0-9a-f]{6,64})\./.exec(result)?.[1] ?? null;
}
