// The webhooks that the configuration names, with their secrets from the environment.
import type { Config, Environment } from "../config/index.ts";
import { weakSecret } from "../confirmations/index.ts";
import { KeryxError } from "../errors.ts";
import type { WebhookRoute } from "../http/index.ts";

/** Throws for a route without a secret: it would accept messages from anyone, so Keryx does not start with it. */
export function webhookRoutes({ webhooks }: Pick<Config, "webhooks">, env: Environment): WebhookRoute[] {
	return Object.entries(webhooks).map(([name, { secret_env, profile = null, text = null }]) => {
		const secret = env[secret_env] ?? "";
		const field = `webhooks.${name}.secret_env`;
		if (secret.trim() === "")
			throw new KeryxError("config.invalid", `${field}: the variable ${secret_env} is not set, or blank`, {
				field,
				hint: `put the secret that the sender signs with into ${secret_env}, or remove the webhook ${name}`,
			});
		const weak = weakSecret(secret_env, secret);
		if (weak === null) return { name, secret, profile, text };
		throw new KeryxError("config.invalid", `${field}: ${weak}`, {
			field,
			hint: "make one with `openssl rand -hex 32`, and give it to the sender",
		});
	});
}
