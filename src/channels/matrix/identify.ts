// Identifies an access token, for setting up a channel; and gets one for a user and a password.
import { z } from "zod";
import { KeryxError } from "../../errors.ts";
import { systemClock } from "../../time/index.ts";
import { Transport } from "../transport.ts";
import { Api, MatrixError } from "./api.ts";
import { isTokenRefused, reasonOf } from "./outcome.ts";
import { whoamiSchema } from "./wire.ts";

const ANSWER_MS = 20_000;
const loginSchema = z.looseObject({ access_token: z.string() });

export interface MatrixIdentity {
	readonly who: string;
	/** What does not work with this configuration, each with the remedy. */
	readonly remarks: readonly string[];
}

/** Throws channel.refused, which says whether the server refused the token or could not be reached. */
export function identifyMatrix(options: {
	readonly homeserver: string;
	readonly token: string;
}): Promise<MatrixIdentity> {
	return asking(options, async (api) => {
		const { user_id: who, device_id: device } = whoamiSchema.parse(
			await api.get("/_matrix/client/v3/account/whoami"),
		);
		return {
			who,
			remarks:
				device === ""
					? [
							"This token belongs to no device, so encrypted rooms cannot be read. Log in with a password instead.",
						]
					: [],
		};
	});
}

/** Makes a device named Keryx, and returns its access token. */
export function logInToMatrix(options: {
	readonly homeserver: string;
	readonly user: string;
	readonly password: string;
}): Promise<string> {
	const { homeserver, user, password } = options;
	return asking({ homeserver }, async (api) => {
		const answer = await api.post("/_matrix/client/v3/login", {
			type: "m.login.password",
			identifier: { type: "m.id.user", user },
			password,
			initial_device_display_name: "Keryx",
		});
		return loginSchema.parse(answer).access_token;
	});
}

async function asking<Value>(
	{ homeserver, token }: { readonly homeserver: string; readonly token?: string },
	ask: (api: Api) => Promise<Value>,
): Promise<Value> {
	const transport = new Transport({ clock: systemClock, deadlineOf: () => ANSWER_MS });
	const address = homeserver.replace(/\/+$/, "");
	try {
		return await ask(new Api({ homeserver: address, transport, ...(token !== undefined && { token }) }));
	} catch (error) {
		if (isTokenRefused(error))
			throw new KeryxError(
				"channel.refused",
				`the homeserver does not accept the access token: ${reasonOf(error)}`,
			);
		if (error instanceof MatrixError && error.status === 403)
			throw new KeryxError(
				"channel.refused",
				`the homeserver does not accept the user and the password: ${reasonOf(error)}`,
			);
		throw new KeryxError(
			"channel.refused",
			`could not reach the homeserver at ${address}: ${reasonOf(error)}`,
			{
				hint: "check matrix.homeserver and this machine's network, then try again",
			},
		);
	} finally {
		transport.close();
	}
}
