// Converts the settings of a Matrix channel for its client, and gets a token for a user and a password.
import { join } from "node:path";
import type { MatrixOptions } from "../../channels/matrix/index.ts";
import type { ChannelSettings } from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import { packageAddress } from "../packages.ts";
import { readToken } from "../setup/channel-token.ts";
import type { NetworkSection, PlatformWays } from "./types.ts";

export const matrix: PlatformWays = {
	make: async (options, context) => {
		const { createMatrixChannel } = await import("../../channels/matrix/index.ts");
		const { name, settings } = options;
		return createMatrixChannel({
			...options,
			...matrixConnection(name, settings, context.home),
			aliveMs: settings.alive_seconds * 1000,
		});
	},
	identify: async (name, settings, context) => {
		const { identifyMatrix } = await import("../../channels/matrix/index.ts");
		const token = await readToken(name, settings, context);
		return identifyMatrix({ ...matrixConnection(name, settings, context.home), token });
	},
	exchange: matrixToken,
	// For encryption alone.
	needsPackages: (network) => network?.encryption !== false,
};

const LIBRARY = "@matrix-org/matrix-sdk-crypto-wasm";

function matrixConnection(
	name: string,
	{ matrix }: Pick<ChannelSettings, "matrix">,
	home: string,
): Pick<MatrixOptions, "homeserver" | "user" | "encryption"> {
	if (!matrix)
		throw new KeryxError("config.invalid", "a Matrix channel needs matrix.homeserver", { field: "matrix" });
	const { homeserver, user, encryption } = matrix;
	return {
		homeserver,
		...(user !== undefined && { user }),
		...(encryption && {
			encryption: {
				file: join(home, "keys", `${name}.matrix.db`),
				library: () => packageAddress("matrix", LIBRARY, home),
			},
		}),
	};
}

/** With a user, what was given is their password: logs in once, and the token takes its place. */
async function matrixToken(given: string, network: NetworkSection | undefined): Promise<string> {
	const { homeserver, user } = network ?? {};
	if (typeof homeserver !== "string" || typeof user !== "string") return given;
	const { logInToMatrix } = await import("../../channels/matrix/index.ts");
	return logInToMatrix({ homeserver, user, password: given });
}
