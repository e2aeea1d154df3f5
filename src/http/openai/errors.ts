// Failures in OpenAI's form, which its clients read: {error: {message, type, param, code}}. The code is Keryx's own.
import type { KeryxError } from "../../errors.ts";
import { statusOf } from "../errors.ts";

export function isOpenAiPath(path: string): boolean {
	return path === "/v1" || path.startsWith("/v1/");
}

export function toOpenAiError(known: KeryxError) {
	const { code, message, hint, field } = known;
	return {
		message: `${message} (${hint})`,
		type: typeOf(statusOf(known)),
		param: field ?? null,
		code: code === "model.unknown" ? "model_not_found" : code,
	};
}

function typeOf(status: number): string {
	if (status === 401) return "authentication_error";
	if (status === 403) return "permission_error";
	if (status === 429) return "rate_limit_error";
	return status >= 500 ? "server_error" : "invalid_request_error";
}
