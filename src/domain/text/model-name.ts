// Models as people write them: `model`, or `provider:model`.

/** The model's own name follows the first colon, colons and slashes included. */
const NAME = /^(?:([a-z0-9][\w.-]{0,63}):)?(\w(?:[\w.:/@-]{0,198}\w)?)$/i;

interface ModelName {
	readonly provider?: string;
	readonly model: string;
}

/** Null if it is not a model name. */
export function parseModelName(text: string): ModelName | null {
	const [, provider, model] = NAME.exec(text) ?? [];
	return model === undefined ? null : { model, ...(provider !== undefined && { provider }) };
}
