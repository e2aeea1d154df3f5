// An answer of the server that is a refusal.

export class Refusal extends Error {
	readonly status: number;
	readonly body: Readonly<Record<string, unknown>>;

	constructor(status: number, errcode: string, error: string, more: object = {}) {
		super(error);
		this.status = status;
		this.body = { errcode, error, ...more };
	}
}
