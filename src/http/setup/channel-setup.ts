// Connects a chat platform from the page: the same as `keryx channels add`, `test` and `remove`. It changes config.yaml, so it needs
// proof of a human; tokens are never returned.
import { z } from "@hono/zod-openapi";
import { KeryxError } from "../../errors.ts";
import type { ApiHost, ChannelFound, ChannelSetup, HandlersOf } from "../call.ts";
import { endpoint } from "../endpoint.ts";

const found = z
	.object({
		name: z.string().openapi({ description: "of its entry in config.yaml" }),
		who: z.string().openapi({ description: "who the platform says the token is" }),
		remarks: z.array(z.string()).openapi({ description: "what the bot cannot do yet, each with a remedy" }),
	})
	.openapi("ChannelFound");
const name = z.string().min(1).max(64);

const network = z
	.object({
		platform: z.string(),
		fields: z.array(
			z.object({
				key: z.string(),
				kind: z.enum(["text", "number", "list", "switch"]),
				label: z.string(),
				about: z.string(),
				example: z.string().nullable(),
				needed: z.boolean(),
				more: z.boolean().openapi({ description: "rarely needed" }),
			}),
		),
		secrets: z.array(
			z.object({
				name: z.enum(["token", "server_password"]),
				label: z.string(),
				about: z.string(),
				when: z.string().openapi({
					description: "always, asked (only if the server has one), or the key of the field it belongs to",
				}),
			}),
		),
		packages: z
			.array(z.string())
			.openapi({ description: "to be installed before this platform can be connected" }),
		megabytes: z.number().openapi({ description: "what they take on the disk" }),
	})
	.openapi("Network");
const networkSection = z.record(
	z.string().max(64),
	z.union([z.string().max(1000), z.number(), z.boolean(), z.array(z.string().max(1000)).max(100)]),
);

export const channelSetupEndpoints = {
	channelPlatforms: endpoint("get", "/api/channels/platforms", {
		about: "platforms that can be connected with a token",
		answer: z.object({
			platforms: z.array(z.string()),
			app_token: z.array(z.string()).openapi({
				description: "platforms that also need an app-level token, or a signing secret in its place",
			}),
			networks: z
				.array(network)
				.openapi({ description: "platforms where you name the server, and what each asks for" }),
			public_url: z.string().nullable().openapi({ description: "the setting http.public_url" }),
		}),
	}),
	addChannel: endpoint("post", "/api/channels", {
		about: "connect a platform: try the token, then write config.yaml and a key file",
		body: {
			platform: z.string().min(1).max(64),
			name: name.optional(),
			account: z.string().max(64).optional(),
			token: z.string().min(1).max(10_000).optional().openapi({
				description: "the bot's token, or the password of its account",
			}),
			app_token: z.string().min(1).max(10_000).optional(),
			signing_secret: z
				.string()
				.min(1)
				.max(10_000)
				.optional()
				.openapi({ description: "in place of app_token: Slack posts its events to Keryx" }),
			webhook_url: z
				.url({ protocol: /^https?$/ })
				.max(1000)
				.optional()
				.openapi({
					description:
						"Telegram posts its updates to this address; one without a path gets /channels/<name>/events",
				}),
			api_root: z.url({ protocol: /^https?$/ }).optional(),
			server_password: z.string().min(1).max(10_000).optional().openapi({ description: "of an IRC server" }),
			network: networkSection.optional().openapi({
				description: "for a network: the keys of its section in config.yaml, such as server",
			}),
			install: z
				.boolean()
				.optional()
				.openapi({ description: "agree to install the packages that the platform needs" }),
		},
		answer: found,
	}),
	testChannel: endpoint("post", "/api/channels/{name}/test", {
		about: "ask the platform who the bot is, with the current token",
		params: { name },
		answer: found,
	}),
	removeChannel: endpoint("post", "/api/channels/{name}/remove", {
		about: "remove a connection from config.yaml and delete its key file",
		params: { name },
		answer: z.object({ name: z.string(), removed: z.literal(true) }),
	}),
} as const;

export const channelSetupHandlers: HandlersOf<typeof channelSetupEndpoints> = {
	channelPlatforms: (_input, { host }) => ({
		platforms: [...(host.channelSetup?.platforms ?? [])],
		app_token: [...(host.channelSetup?.appTokenPlatforms ?? [])],
		networks: (host.channelSetup?.networks() ?? []).map(networkToWire),
		public_url: host.publicUrl ?? null,
	}),
	addChannel: async (
		{ platform, name: called, account, token, app_token, signing_secret, webhook_url, api_root, ...rest },
		{ host, visitor: { who, via } },
	) =>
		toWire(
			await setupOf(host).add({
				platform,
				name: called,
				account,
				token,
				appToken: app_token,
				signingSecret: signing_secret,
				webhookUrl: webhook_url,
				apiRoot: api_root,
				serverPassword: rest.server_password,
				network: rest.network,
				install: rest.install,
				by: { who, via },
			}),
		),
	testChannel: async ({ name: called }, { host }) => toWire(await setupOf(host).test(called)),
	removeChannel: async ({ name: called }, { host, visitor: { who, via } }) => {
		await setupOf(host).remove(called, { who, via });
		return { name: called, removed: true };
	},
};

function networkToWire({
	platform,
	fields,
	secrets,
	packages,
	megabytes,
}: ReturnType<ChannelSetup["networks"]>[number]): z.output<typeof network> {
	return {
		platform,
		fields: fields.flatMap(({ key, kind, label, about, example, needed, page }) =>
			kind === "file" || page === "never"
				? []
				: [
						{
							key,
							kind,
							label,
							about,
							example: example ?? null,
							needed: needed ?? false,
							more: page === "more",
						},
					],
		),
		secrets: secrets.map(({ option, label, about, when }) => ({
			name: option === "token" ? "token" : "server_password",
			label,
			about,
			when: typeof when === "string" ? when : when.given,
		})),
		packages: [...packages],
		megabytes,
	};
}

function setupOf({ channelSetup }: ApiHost): ChannelSetup {
	if (channelSetup) return channelSetup;
	throw new KeryxError("gateway.stopped", "Keryx is not running, so no channel can be connected", {
		hint: "start Keryx, then try again",
	});
}

function toWire({ remarks, ...rest }: ChannelFound) {
	return { ...rest, remarks: [...remarks] };
}
