// How the Web API says no: 200, and a word for the reason.

export class SlackRefusal extends Error {
	/** Further fields of the answer. */
	readonly more: Readonly<Record<string, unknown>>;

	constructor(error: string, more: Readonly<Record<string, unknown>> = {}) {
		super(error);
		this.more = more;
	}
}
