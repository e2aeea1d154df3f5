// What Discord answers where it does not do as it is asked.

export class ApiError extends Error {
	readonly status: number;
	readonly code: number;
	readonly headers: Readonly<Record<string, string>>;
	readonly more: Readonly<Record<string, unknown>>;

	constructor(
		status: number,
		code: number,
		message: string,
		{
			headers = {},
			more = {},
		}: {
			readonly headers?: Readonly<Record<string, string>>;
			readonly more?: Readonly<Record<string, unknown>>;
		} = {},
	) {
		super(message);
		this.status = status;
		this.code = code;
		this.headers = headers;
		this.more = more;
	}
}

export const unauthorized = () => new ApiError(401, 0, "401: Unauthorized");
export const unknownChannel = () => new ApiError(404, 10003, "Unknown Channel");
export const unknownMessage = () => new ApiError(404, 10008, "Unknown Message");
export const unknownWebhook = () => new ApiError(404, 10015, "Unknown Webhook");
export const unknownInteraction = () => new ApiError(404, 10062, "Unknown interaction");
export const missingAccess = () => new ApiError(403, 50001, "Missing Access");

export function invalidForm(field: string, code: string, message: string): ApiError {
	return new ApiError(400, 50035, "Invalid Form Body", {
		more: { errors: { [field]: { _errors: [{ code, message }] } } },
	});
}
