// Confirmation settings from the configuration.
import type { Config } from "../config/index.ts";
import type { ConfirmationSettings } from "./types.ts";
import { weakSecret } from "./webhook.ts";

/** Skips webhooks without a secret, or with one that is too easy to guess: nobody could verify them. `problems` lists them. */
export function confirmationSettings(
	{ confirmations }: Pick<Config, "confirmations">,
	env: Readonly<Record<string, string | undefined>>,
): ConfirmationSettings & { readonly problems: readonly string[] } {
	const { notify } = confirmations;
	const problemOf = ({ secret_env }: { readonly secret_env: string }) => {
		const secret = env[secret_env];
		return secret ? weakSecret(secret_env, secret) : `${secret_env} is not set`;
	};
	const hooks = notify.flatMap((to) => ("webhook" in to ? [to] : []));
	return {
		alwaysConfirm: confirmations.always_confirm,
		rateLimit: confirmations.rate_limit,
		globalLimit: confirmations.global_limit,
		useWithinMinutes: confirmations.use_within_minutes,
		defaultTimeout: confirmations.default_timeout,
		chats: notify.flatMap((to) =>
			"webhook" in to
				? []
				: [
						{
							platform: to.platform,
							account: to.account,
							chatId: to.chat_id,
							...(to.thread_id !== undefined && { threadId: to.thread_id }),
						},
					],
		),
		webhooks: hooks.flatMap((hook) => {
			const secret = env[hook.secret_env];
			return secret && problemOf(hook) === null ? [{ url: hook.webhook, secret }] : [];
		}),
		unreachable: hooks.filter((hook) => problemOf(hook) !== null).map(({ webhook }) => webhook),
		problems: hooks.flatMap((hook) => {
			const problem = problemOf(hook);
			return problem === null ? [] : [`${hook.webhook} is not notified: ${problem}`];
		}),
	};
}
