// Finds questions to a human in chat text. The page shows a question's current state, so this text, which never changes, is left out
// there. Pure.

export interface Asked {
	/** The words around the questions. */
	readonly rest: string;
	readonly questions: readonly AskedQuestion[];
}

export interface AskedQuestion {
	/** Of its confirmation. */
	readonly id: string;
	readonly text: string;
}

/**
 * From the first line of a question to its last, as Keryx writes it, and as it used to: stored chats hold both. What the asker wrote in
 * between can hold no code mark.
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

/** The confirmation that a call waits for, by the result it has meanwhile. */
export function waitedFor(result: string): string | null {
	return /^waiting for confirmation ([0-9a-f]{6,64})\./.exec(result)?.[1] ?? null;
}
