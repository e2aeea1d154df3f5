// How the Bot API says no.
import type { ResponseParameters } from "grammy/types";

export class ApiError extends Error {
	readonly status: number;
	readonly parameters: ResponseParameters | undefined;

	constructor(status: number, description: string, parameters?: ResponseParameters) {
		super(description);
		this.status = status;
		this.parameters = parameters;
	}
}

export function bad(description: string, parameters?: ResponseParameters): ApiError {
	return new ApiError(400, `Bad Request: ${description}`, parameters);
}
