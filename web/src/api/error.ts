// A failed call: the server's error, or a server that could not be reached.

import { texts } from "../texts/app.ts";

interface ErrorBody {
	readonly code: string;
	readonly message: string;
	readonly hint?: string | undefined;
	readonly field?: string | undefined;
}

export class ApiError extends Error {
	readonly code: string;
	readonly hint: string | undefined;
	readonly field: string | undefined;
	/** 0 if there was no response. */
	readonly status: number;

	constructor({ code, message, hint, field }: ErrorBody, status: number) {
		super(message);
		this.name = "ApiError";
		this.code = code;
		this.hint = hint;
		this.field = field;
		this.status = status;
	}
}

/** The page's own code, in addition to docs/errors.md: the call's outcome is unknown. */
export const UNREACHABLE = "page.unreachable";

export function unreachable(cause: unknown): ApiError {
	const error = new ApiError(
		{ code: UNREACHABLE, message: texts.error.keryxCannotBeReached, hint: texts.error.isItRunningStartIt },
		0,
	);
	error.cause = cause;
	return error;
}

/** The calls of confirmations have flat errors; a proxy in between may answer anything. */
export async function errorOf(response: Response): Promise<ApiError> {
	return errorIn(await response.json().catch(() => null), response.status);
}

export function errorIn(body: unknown, status: number): ApiError {
	const error = typeof body === "object" && body !== null && "error" in body ? body.error : null;
	if (typeof error === "string") return new ApiError({ code: `http.${status}`, message: error }, status);
	if (isErrorBody(error)) return new ApiError(error, status);
	return new ApiError(
		{ code: `http.${status}`, message: texts.error.keryxAnsweredWithStatusAnd(status) },
		status,
	);
}

function isErrorBody(value: unknown): value is ErrorBody {
	return typeof value === "object" && value !== null && "code" in value && "message" in value;
}
