import type { ChannelSettings } from "../../config/index.ts";

/** Another server that speaks the platform's protocol, if there is one. */
export function apiRootOf({ api_root: apiRoot }: Pick<ChannelSettings, "api_root">): {
	readonly apiRoot?: string;
} {
	return apiRoot === undefined ? {} : { apiRoot };
}
